/** The keys, and the sheet that lists them. */

import { closeWhyNot } from "/static/why-not-view.js";
import { byId, h, show } from "/static/dom.js";
import { openActive, step } from "/static/results.js";
import { goTo } from "/static/document-view.js";
import { hide } from "/static/selection.js";
import { get, set } from "/static/state.js";

const KEYS = [
  ["/", "write a query"],
  ["Enter", "in the query: ask; on a hit: show its steps"],
  ["j / k", "next and previous hit"],
  ["g", "go to the hit in the document"],
  ["[ / ]", "previous and next view"],
  ["↑ ↓", "in the document: from segment to segment"],
  ["w", "on a segment: why not this?"],
  ["Esc", "close what is open, leave the field"],
  ["?", "this list"],
];

const VIEWS = ["evidence", "answer", "compare", "map", "refine"];

/** Start listening; a key that belongs to a field stays with it. */
export function startKeyboard() {
  byId("help-button").addEventListener("click", help);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return escape();
    if (event.target.closest?.("input, textarea, select, dialog[open]")) return;
    const act = actions[event.key];
    if (
      !act ||
      (event.key === "Enter" && event.target !== document.body && !event.target.matches(".hit"))
    )
      return;
    event.preventDefault();
    act();
  });
}

const actions = {
  "/": () => {
    document.body.dataset.pane = "evidence";
    byId("query").focus();
    byId("query").select();
  },
  j: () => step(1),
  k: () => step(-1),
  g: () => {
    if (get("active")) goTo(get("active"));
  },
  Enter: openActive,
  "[": () => turn(-1),
  "]": () => turn(1),
  "?": help,
};

const turn = (by) =>
  set({ view: VIEWS[(VIEWS.indexOf(get("view")) + by + VIEWS.length) % VIEWS.length] });

function escape() {
  if (!byId("popup").hidden) return hide();
  if (document.activeElement?.matches("input, textarea")) return document.activeElement.blur();
  return closeWhyNot();
}

function help() {
  show(
    byId("help"),
    h(
      "form",
      { method: "dialog" },
      h("button", { class: "quiet close", "aria-label": "Close", text: "×" }),
    ),
    h("h2", { id: "help-head", text: "Keys" }),
    h(
      "dl",
      { class: "keys" },
      KEYS.map(([key, what]) => [h("dt", {}, h("kbd", { text: key })), h("dd", { text: what })]),
    ),
    h("h2", { text: "Colours" }),
    h(
      "ul",
      { class: "legend" },
      LEGEND.map(([name, what]) =>
        h(
          "li",
          {},
          h("span", { class: `step ${name}` }, h("span", { class: "tag", text: name })),
          ` ${what}`,
        ),
      ),
    ),
  );
  byId("help").showModal();
}

const LEGEND = [
  ["expression", "other words for the same thing"],
  ["concept", "another level of abstraction"],
  ["intent", "an instance that stands for a class"],
  ["event", "a trace that stands for an event"],
  ["context", "the document says it elsewhere"],
  ["related", "a word that was learned to be near"],
];
