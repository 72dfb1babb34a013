/** The ranked evidence: a list that moves when the budget does, and says aloud what it holds. */

import * as api from "/static/api.js";
import { order, ranked } from "/static/asking.js";
import { byId, h, say, show, still } from "/static/dom.js";
import { goToHit, grouped } from "/static/collection-view.js";
import { goTo } from "/static/document-view.js";
import { card, toggle } from "/static/hit.js";
import { teach } from "/static/notices.js";
import { ask } from "/static/query.js";
import { get, set, watch } from "/static/state.js";
import { budget, plural, short } from "/static/words.js";

/** Start drawing the hits whenever something they depend on changes. */
export function startResults() {
  const shown = ["ranking", "found", "sweep", "curve", "tau", "opened", "content", "busy", "total"];
  watch([...shown, "said"], draw);
  watch(["active"], focusActive);
  watch(["ranking"], () => {
    const ranking = get("ranking");
    if (ranking) say(spoken(ranking));
  });
  watch(["found"], () => {
    const found = get("found");
    if (found) say(spokenOfAll(found));
  });
  draw();
}

function spoken({ hits, tau }) {
  if (!hits.length) return "No evidence found";
  return `${plural(hits.length, "hit")} at budget ${budget(tau)}. First: ${short(hits[0].text, 160)}`;
}

function spokenOfAll({ hits, groups }) {
  if (!hits.length) return "No evidence found in any document";
  const where = `${plural(hits.length, "hit")} in ${plural(groups.length, "document")}`;
  return `${where}. First, in ${groups[0].title}: ${short(hits[0].hit.text, 160)}`;
}

function draw() {
  const ranking = get("ranking");
  const place = byId("results");
  place.classList.toggle("busy", get("busy"));
  if (get("found")) return drawAll(place, get("found"));
  if (!ranking) return show(place, get("content") ? suggestions() : invitation());
  const entries = order();
  if (!entries.length)
    return show(
      place,
      teach(
        "No evidence found",
        "No passage holds anything of this question. Try other words, or look at the map for what the document calls things.",
      ),
    );
  const before = places();
  const held = heldFocus();
  const full = new Map([
    ...(details.get(key()) ?? []),
    ...ranking.hits.map((hit) => [hit.segment, hit]),
  ]);
  const enters = new Map((get("curve")?.entries ?? []).map((entry) => [entry.segment, entry.tau]));
  const moved = get("moved");
  const cards = once(entries).map(({ entry, at, same }) =>
    card({
      entry,
      same,
      full: full.get(entry.segment) ?? null,
      segment: get("content")?.byId.get(entry.segment),
      rank: at + 1,
      enters: get("curve") ? (enters.get(entry.segment) ?? Infinity) : null,
      before: moved ? (moved.get(entry.segment) ?? null) : undefined,
      document: get("document"),
      title: get("content")?.title,
      weighing: ranking.weighing,
      tau: get("tau"),
      choose: () => set({ active: entry.segment }),
      go: () => goTo(entry.segment),
    }),
  );
  show(
    place,
    summary(ranking),
    h("ol", { class: "hits", "aria-label": "Evidence, best first" }, cards),
  );
  giveFocus(held);
  slide(before);
  entries
    .filter((entry) => get("opened").has(entry.segment) && !full.has(entry.segment))
    .forEach((entry) => fetchSteps(entry.segment));
  return undefined;
}

function summary(ranking) {
  const judged = ranking.judgements
    ? ` · ${plural(ranking.judgements, "judgement")}, ${ranking.judgements_avoided} avoided`
    : "";
  return h(
    "p",
    { class: "summary" },
    `${ranking.touched} of ${ranking.segments} passages hold something of the question · ${Math.round(ranking.ms)} ms${judged}`,
  );
}

/** Hits that say the very same under the same headers are one card; the best rank is its own. */
function once(entries) {
  const cards = new Map();
  entries.forEach((entry, at) => {
    const segment = get("content")?.byId.get(entry.segment);
    const words = [...(segment?.headers ?? []), segment?.text ?? entry.segment].join("\n");
    const key = words.toLowerCase().replace(/\s+/g, " ");
    const first = cards.get(key);
    if (first) first.same.push({ rank: at + 1, page: segment?.page });
    else cards.set(key, { entry, at, same: [] });
  });
  return [...cards.values()];
}

/** The hits of all documents, by document. */
function drawAll(place, found) {
  if (!found.hits.length) {
    const none = found.passed
      ? "No document holds anything of this question. Try other words."
      : `None of the ${found.collection} documents passes the filters.`;
    return show(place, teach("No evidence found", none));
  }
  const held = heldFocus();
  show(place, ...grouped(found));
  giveFocus(held);
  return undefined;
}

/** Before a document is open: all of them can be asked. */
function invitation() {
  if (get("total") < 1) return null;
  return teach(
    get("total") === 1 ? "Ask your document" : `Ask all ${get("total")} documents`,
    "Write a question or a claim above. You get exact quotes, grouped by document, each with the steps that make it evidence.",
  );
}

/** Hits the slider brought up have no trace yet; they get one when it is asked for. */
const details = new Map();
const key = () => `${get("document")} ${get("tau")} ${get("judge")} ${get("query")}`;

async function fetchSteps(segment) {
  const [at, asked] = [key(), { query: get("query"), segment, tau: get("tau"), ...ranked() }];
  const hit = await api.explain(get("document"), asked).catch((error) => {
    set({ failure: error });
    return null;
  });
  if (!hit) return;
  details.clear();
  details.set(at, [[segment, hit]]);
  if (at === key()) draw();
}

const items = () => [...byId("results").querySelectorAll(".hit")];
const places = () =>
  new Map(items().map((item) => [item.dataset.segment, item.getBoundingClientRect().top]));

/** What of a card has the keyboard: the cards are drawn anew, and a reader must not lose the place. */
function heldFocus() {
  const item = document.activeElement?.closest("#results .hit");
  if (!item) return null;
  const { segment, document: owner } = item.dataset;
  return { segment, owner, at: controls(item).indexOf(document.activeElement) };
}

function giveFocus(held) {
  const item =
    held &&
    items().find(
      ({ dataset }) => dataset.segment === held.segment && dataset.document === held.owner,
    );
  if (item) (controls(item)[held.at] ?? item).focus({ preventScroll: true });
}

const controls = (item) => [...item.querySelectorAll("a, button, summary, input")];

/** Let each card glide from where it was to where it is now. */
function slide(before) {
  if (still()) return;
  for (const item of items()) {
    const was = before.get(item.dataset.segment);
    const now = item.getBoundingClientRect().top;
    if (was === undefined && before.size) item.animate([{ opacity: 0 }, { opacity: 1 }], 260);
    else if (was !== undefined && Math.abs(was - now) > 1)
      item.animate([{ transform: `translateY(${was - now}px)` }, { transform: "none" }], {
        duration: 260,
        easing: "cubic-bezier(.2,.7,.2,1)",
      });
  }
}

function focusActive() {
  const owner = get("found") ? get("document") : undefined;
  for (const item of items()) {
    const { segment, document: held } = item.dataset;
    if (segment === get("active") && held === owner) item.setAttribute("aria-current", "true");
    else item.removeAttribute("aria-current");
  }
}

/** Go to the next or the previous hit, as j and k do. */
export function step(by) {
  if (get("found")) return stepAmongAll(by);
  const ids = order().map((entry) => entry.segment);
  if (!ids.length) return;
  const shown = items().map((item) => item.dataset.segment); // equal hits are one
  const at = shown.indexOf(get("active"));
  const to = shown[Math.max(0, Math.min(shown.length - 1, at + by))];
  set({ active: to });
  take(items().find((one) => one.dataset.segment === to));
  return undefined;
}

/** The same over all documents: the hit in focus is the one that has the keyboard. */
function stepAmongAll(by) {
  const all = items();
  const held = all.indexOf(document.activeElement?.closest(".hit"));
  const at = held < 0 ? all.findIndex((item) => item.hasAttribute("aria-current")) : held;
  const item = all[Math.max(0, Math.min(all.length - 1, at + by))];
  const { segment, document: owner } = item.dataset;
  take(item);
  const one = get("found").hits.find(
    ({ hit }) => hit.segment === segment && hit.document === owner,
  );
  goToHit(one.hit);
}

function take(item) {
  item?.focus({ preventScroll: true });
  item?.scrollIntoView({ block: "nearest" });
}

/** Show the steps of the hit in focus, as Enter does. */
export const openActive = () => {
  if (get("found")) document.activeElement?.closest(".hit")?.querySelector("[data-do=steps]")?.click();
  else if (get("active")) toggle(get("active"));
};

/** Before the first query: the document's own headings, as things to ask about. */
function suggestions() {
  const heads = get("content").blocks.filter(
    (block) => block.kind === "heading" && block.level !== 0 && /\p{L}{4}/u.test(block.text),
  );
  const texts = [...new Set(heads.map((block) => block.text))];
  const telling = texts.filter((text) => /\p{L}\P{L}+\p{L}/u.test(text)); // one word asks little
  const some = (telling.length ? telling : texts).slice(0, 6);
  return teach(
    "Ask this document something",
    "Write a question or a claim above. You get exact quotes, each with the steps that make it evidence.",
    some.length > 0 && h("p", { text: "Or start from one of its own headings:" }),
    h(
      "ul",
      { class: "suggestions" },
      some.map((text) =>
        h(
          "li",
          {},
          h("button", { type: "button", text: short(text, 70), on: { click: () => ask(text) } }),
        ),
      ),
    ),
  );
}
