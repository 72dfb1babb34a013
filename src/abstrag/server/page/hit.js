/** One hit: the exact quote, where it stands, how it reads, what its score is made of, its steps. */

import { h } from "/static/dom.js";
import { goTo } from "/static/document-view.js";
import { factors } from "/static/factors.js";
import { marked } from "/static/quote.js";
import { get, set } from "/static/state.js";
import { steps } from "/static/trace.js";
import { smallTable } from "/static/table.js";
import { budget, place, two, under } from "/static/words.js";

/**
 * Draw a hit. `entry` has the factors at the slider's budget, `full` the last complete answer for the
 * segment or null, `segment` what the document says, `enters` the budget at which it meets the query,
 * `same` the other hits that say the very same.
 */
export function card({ entry, full, segment, rank, enters, before, same = [] }) {
  const id = entry.segment;
  const open = get("opened").has(id);
  const inside = full && full.text ? marked(full) : [segment?.text ?? ""];
  return h(
    "li",
    {
      class: entry.reachable ? "hit" : "hit partial",
      tabindex: "-1",
      data: { segment: id },
      "aria-current": id === get("active") ? "true" : null,
      on: { click: (event) => activate(event, id) },
    },
    h("div", { class: "rank" }, h("span", { class: "number", text: rank }), movement(rank, before)),
    h(
      "div",
      { class: "body" },
      h("blockquote", { class: "quote" }, inside),
      segment && smallTable(segment, get("content")),
      segment?.headers?.length > 0 && h("p", { class: "place", text: under(segment.headers) }),
      h("p", { class: "place" }, place(segment ?? full ?? {}) || "in the text", entrance(enters)),
      same.length > 0 && h("p", { class: "place same", text: repeated(same) }),
      full?.reading && full.reading !== "" && h("p", { class: "reading", text: full.reading }),
      factors({ ...entry, lines: full?.lines }, get("ranking")?.weighing),
      full?.judgement !== null &&
        full?.judgement !== undefined &&
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
        h("button", {
          type: "button",
          class: "link",
          data: { do: "copy" },
          text: "Copy the quote",
        }),
      ),
      open && (full ? steps(full, get("tau")) : h("p", { class: "hint", text: "Looking…" })),
    ),
  );
}

function activate(event, id) {
  const action = event.target.closest("button")?.dataset.do;
  if (action === "steps") return toggle(id);
  if (action === "copy") return copy(event.target, id);
  if (action === "go") return goTo(id);
  if (!getSelection().isCollapsed || event.target.closest("button, a")) return undefined;
  return set({ active: id });
}

/** Show or hide the steps of a hit. */
export function toggle(id) {
  const opened = new Set(get("opened"));
  if (!opened.delete(id)) opened.add(id);
  set({ opened, active: id });
}

async function copy(button, id) {
  const hit = get("ranking").hits.find((one) => one.segment === id);
  const text = hit?.quote ?? get("content").byId.get(id).text;
  const where = place(hit ?? get("content").byId.get(id));
  await navigator.clipboard.writeText(
    where ? `“${text}” (${get("content").title}, ${where})` : `“${text}”`,
  );
  button.textContent = "Copied";
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
