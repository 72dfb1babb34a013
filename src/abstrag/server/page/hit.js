/** One hit: the exact quote, where it stands, how it reads, what it costs, its steps. */

import { h } from "/static/dom.js";
import { costOf, factors, told } from "/static/factors.js";
import { hitThumbs } from "/static/feedback.js";
import { marked } from "/static/quote.js";
import { get, set } from "/static/state.js";
import { smallTable } from "/static/table.js";
import { steps } from "/static/trace.js";
import { budget, place, two, under } from "/static/words.js";

/**
 * Draw a hit. `entry` has the factors at the slider's budget, `full` the last complete answer for the
 * segment or null, `segment` what the document says, `enters` the budget at which it meets the query,
 * `same` the other hits that say the very same. Among the hits of all documents `among` has its score
 * there. `choose` shows the hit in its document, and `go` scrolls there besides.
 */
export function card(given) {
  const { entry, full, segment, rank, before, same = [], among = null, document, weighing } = given;
  const id = entry.segment;
  const name = nameOf(id, among && document);
  const open = get("opened").has(name);
  const current = id === get("active") && document === get("document");
  const inside = full && full.text ? marked(full) : [segment?.text ?? ""];
  const headers = segment?.headers ?? full?.headers;
  return h(
    "li",
    {
      class: entry.reachable ? "hit" : "hit partial",
      tabindex: "-1",
      data: among ? { segment: id, document } : { segment: id },
      "aria-current": current ? "true" : null,
      on: { click: (event) => activate(event, name, given) },
    },
    h("div", { class: "rank" }, h("span", { class: "number", text: rank }), movement(rank, before)),
    h(
      "div",
      { class: "body" },
      h("blockquote", { class: "quote" }, inside),
      segment && smallTable(segment, get("content")),
      headers?.length > 0 && h("p", { class: "place", text: under(headers) }),
      h(
        "p",
        { class: "place" },
        place(segment ?? full ?? {}) || "in the text",
        entrance(given.enters ?? null),
      ),
      same.length > 0 && h("p", { class: "place same", text: repeated(same) }),
      full?.reading && h("p", { class: "reading", text: full.reading }),
      factors({ ...entry, lines: full?.lines }, weighing),
      among && amongAll(among, entry),
      Number.isFinite(full?.judgement) &&
        h(
          "p",
          { class: "judgement" },
          "The judge takes it for evidence with probability ",
          h("b", { text: two(full.judgement) }),
        ),
      h(
        "p",
        { class: "actions" },
        h("button", {
          type: "button",
          class: "link",
          data: { do: "steps" },
          "aria-expanded": String(open),
          text: open ? "Hide the steps" : "Show the steps",
        }),
        h("button", { type: "button", class: "link", data: { do: "go" }, text: "Go to it" }),
        h("button", { type: "button", class: "link", data: { do: "copy" }, text: "Copy the quote" }),
        hitThumbs(document, id),
      ),
      open && (full ? steps(full, given.tau) : h("p", { class: "hint", text: "Looking…" })),
    ),
  );
}

/** What opens and closes the steps of a hit: its segment, and its document among those of all. */
export const nameOf = (segment, document) => (document ? `${document}:${segment}` : segment);

function activate(event, name, given) {
  const button = event.target.closest("button, a");
  const action = button?.dataset.do;
  if (action === "steps") return toggle(name, given);
  if (action === "copy") return copy(button, given);
  if (action === "go") return given.go();
  if (button || !getSelection().isCollapsed) return undefined;
  return given.choose();
}

/** Show or hide the steps of a hit. */
export function toggle(name, { among = null, entry = { segment: name } } = {}) {
  const opened = new Set(get("opened"));
  if (!opened.delete(name)) opened.add(name);
  set(among ? { opened } : { opened, active: entry.segment });
}

async function copy(button, { full, segment, title }) {
  const text = full?.quote ?? segment.text;
  const where = place(full ?? segment);
  await navigator.clipboard.writeText(where ? `“${text}” (${title}, ${where})` : `“${text}”`);
  button.textContent = "Copied";
}

/** What a hit costs among those of all documents; nothing where its document is the best one. */
function amongAll({ score }, { relevance }) {
  const [all, own] = [costOf(score), costOf(relevance)];
  if (told(all) === told(own)) return null;
  const text = `Its document adds ${told(all - own)}: cost ${told(all)} among all`;
  return h("p", { class: "judgement", text });
}

function entrance(enters) {
  if (enters === null) return null; // not known yet
  if (enters === Infinity)
    return h("span", { class: "enters", text: "meets only a part of the question" });
  if (enters > get("tau"))
    return h("span", { class: "enters later", text: `meets the whole question from τ ${budget(enters)} on` });
  return h("span", { class: "enters in", text: `meets the whole question at τ ${budget(enters)}` });
}

function movement(rank, before) {
  if (before === undefined || before === rank) return null;
  if (before === null)
    return h("span", { class: "moved up", text: "new", "aria-label": "not there before" });
  const up = before > rank;
  return h("span", {
    class: up ? "moved up" : "moved down",
    text: `${up ? "▲" : "▼"}${Math.abs(before - rank)}`,
    "aria-label": `was ${before}`,
  });
}

/** Say where else the very same words stand. */
function repeated(same) {
  const where = same.map(({ rank, page }) => (page ? `p. ${page} (hit ${rank})` : `hit ${rank}`));
  return `the same words again: ${where.join(", ")}`;
}
