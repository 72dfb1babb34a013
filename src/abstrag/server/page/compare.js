/** Side by side with BM25 and dense retrieval: the same segment is joined by a line. */

import * as api from "/static/api.js";
import { order, ranked } from "/static/asking.js";
import { byId, h, show, svg } from "/static/dom.js";
import { goTo } from "/static/document-view.js";
import { costOf, told } from "/static/factors.js";
import { refusal, teach } from "/static/notices.js";
import { get, watch } from "/static/state.js";
import { short, two } from "/static/words.js";

const NAMES = { abstrag: "AbstRAG", bm25: "BM25", dense: "Dense" };
const place = () => byId("view-compare");
let others = { key: null, systems: null }; // what the rivals said, asked once a query

/** Start comparing when the view is looked at; our own column follows the budget and the edits. */
export function startCompare() {
  watch(["view", "ranking", "sweep", "tau", "content"], draw);
  new ResizeObserver(() => join(place().querySelector(".systems"))).observe(place());
}

function draw() {
  if (get("view") !== "compare") return;
  if (!get("ranking"))
    return show(
      place(),
      teach(
        "Compare",
        "Ask something, and see what word matching (BM25) and embeddings (dense) would have brought up.",
      ),
    );
  const key = `${get("document")}\n${get("query")}`;
  if (others.key !== key) return fetchOthers(key);
  if (!others.systems) return undefined;
  const systems = {
    ...others.systems,
    abstrag: order().map(({ segment, relevance }) => ({ segment, score: relevance })),
  };
  const grid = h(
    "div",
    { class: "systems" },
    Object.entries(systems).map(([name, list], at) =>
      column(name, list, at ? systems.abstrag : null),
    ),
  );
  show(place(), h("p", { class: "summary", text: words(systems) }), grid);
  return join(grid);
}

async function fetchOthers(key) {
  others = { key, systems: null };
  show(
    place(),
    h("p", {
      class: "loading",
      role: "status",
      text: "Ranking three times. The first time, every segment is embedded, which can take a while.",
    }),
  );
  try {
    const asked = { query: get("query"), k: 10, ...ranked() };
    const { systems } = await api.compare(get("document"), asked);
    if (others.key !== key) return;
    others.systems = systems;
    draw();
  } catch (error) {
    if (others.key !== key) return;
    others.key = null;
    show(place(), refusal(error, draw));
  }
}

/** What only we found, in words. */
function words({ abstrag, ...rivals }) {
  const said = Object.entries(rivals).map(([name, list]) => {
    const there = new Set(list.map((one) => one.segment));
    return `${abstrag.filter((one) => !there.has(one.segment)).length} not among the first ${list.length} of ${NAMES[name] ?? name}`;
  });
  return `Of the ${abstrag.length} hits here, ${said.join(", ")}.`;
}

function column(name, list, ours) {
  const ranks = ours && new Map(ours.map((one, at) => [one.segment, at + 1]));
  return h(
    "section",
    { class: "system", data: { system: name } },
    h("h3", { text: NAMES[name] ?? name }),
    h(
      "ol",
      {},
      list.map(({ segment, score }, at) => {
        const text = get("content")?.byId.get(segment)?.text ?? segment;
        return h(
          "li",
          {
            data: { segment },
            class: ranks && !ranks.has(segment) ? "alone" : null,
            on: {
              pointerenter: () => light(segment, true),
              pointerleave: () => light(segment, false),
            },
          },
          h(
            "button",
            {
              type: "button",
              on: {
                click: () => goTo(segment),
                focus: () => light(segment, true),
                blur: () => light(segment, false),
              },
            },
            h("span", { class: "number", text: at + 1 }),
            ranks && moved(ranks.get(segment), at + 1),
            h("span", { class: "value", text: ours ? two(score) : `cost ${told(costOf(score))}` }),
            h("span", { class: "words", text: short(text, 110) }),
          ),
        );
      }),
    ),
  );
}

/** Where AbstRAG has the segment, seen from another system's rank. */
function moved(ours, theirs) {
  if (!ours) return h("span", { class: "moved", text: "only here" });
  if (ours === theirs) return h("span", { class: "moved same", text: "=" });
  return h("span", { class: ours < theirs ? "moved up" : "moved down", text: `AbstRAG ${ours}` });
}

function light(segment, on) {
  for (const element of place().querySelectorAll(`[data-segment="${CSS.escape(segment)}"]`))
    element.classList.toggle("lit", on);
}

/** Draw a line between neighbours that hold the same segment; on a narrow page there are none. */
function join(grid) {
  if (!grid) return;
  grid.querySelector("svg")?.remove();
  const frame = grid.getBoundingClientRect();
  const columns = [...grid.querySelectorAll(".system")];
  if (
    columns.length < 2 ||
    columns[0].getBoundingClientRect().top !== columns[1].getBoundingClientRect().top
  )
    return;
  const lines = columns.slice(1).flatMap((right, at) =>
    [...columns[at].querySelectorAll("li")].flatMap((from) => {
      const to = right.querySelector(`li[data-segment="${CSS.escape(from.dataset.segment)}"]`);
      if (!to) return [];
      const [a, b] = [from.getBoundingClientRect(), to.getBoundingClientRect()];
      const [x1, y1, x2, y2] = [
        a.right - frame.left,
        a.top + 14 - frame.top,
        b.left - frame.left,
        b.top + 14 - frame.top,
      ];
      return [
        svg("path", {
          data: { segment: from.dataset.segment },
          d: `M ${x1} ${y1} C ${(x1 + x2) / 2} ${y1}, ${(x1 + x2) / 2} ${y2}, ${x2} ${y2}`,
        }),
      ];
    }),
  );
  grid.prepend(
    svg(
      "svg",
      { class: "joins", width: frame.width, height: frame.height, "aria-hidden": "true" },
      lines,
    ),
  );
}
