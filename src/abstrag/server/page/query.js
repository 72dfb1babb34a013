/** The query: the field, and what was understood by it, as weighted literals. */

import { Refusal } from "/static/api.js";
import { everywhere } from "/static/collection.js";
import { search, setJudge } from "/static/asking.js";
import { byId, h, show } from "/static/dom.js";
import { refusal } from "/static/notices.js";
import { get, set, watch } from "/static/state.js";
import { percent } from "/static/words.js";

/** Start the field: Enter asks, Shift+Enter is a new line, the field grows with its words. */
export function startQuery() {
  const field = byId("query");
  const grow = () => {
    field.style.height = "auto";
    field.style.height = `${field.scrollHeight + 2}px`;
  };
  field.addEventListener("input", grow);
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    byId("query-form").requestSubmit();
  });
  let sent = null; // what was asked by key, until its hits are there
  byId("query-form").addEventListener("submit", (event) => {
    event.preventDefault();
    sent = field.value;
    ask(field.value);
  });
  watch(["ranking", "found"], () => {
    // the keys are for the hits now, unless a person writes on; they are drawn in a moment
    if ((get("ranking") || get("found")) && sent === field.value)
      setTimeout(() => document.activeElement === field && toHits());
    if (get("ranking") || get("found")) sent = null;
  });
  watch(["query"], () => {
    if (field.value.trim() !== get("query")) {
      field.value = get("query");
      grow();
    }
  });
  watch(["ranking", "found", "health", "judge"], drawLiterals);
  watch(["failure"], () =>
    show(byId("query-error"), get("failure") && refusal(get("failure"), () => ask(field.value))),
  );
  watch(["busy"], () => {
    byId("query-form").setAttribute("aria-busy", String(get("busy")));
    const words = get("judge") ? "Judging…" : "Searching…";
    byId("query-form").lastElementChild.textContent = get("busy") ? words : "Find evidence";
  });
}

/** Ask a query and show its evidence. */
export function ask(query) {
  if (!query.trim()) return byId("query").focus();
  if (!get("total")) {
    const hint = "Drop one on this page; it is asked as soon as it is there.";
    const failure = new Refusal({ error: "There is no document to ask yet", hint });
    return set({ query: query.trim(), failure });
  }
  if (["map", "refine"].includes(get("view"))) set({ view: "evidence" });
  return search(query);
}

/** Give the keyboard to the hit in focus. */
function toHits() {
  const hits = byId("results");
  (hits.querySelector(".hit[aria-current]") ?? hits.querySelector(".hit"))?.focus({
    preventScroll: true,
  });
}

function drawLiterals() {
  const query = (get("found") ?? get("ranking"))?.query;
  if (!query) return show(byId("literals"));
  const chips = query.literals.map((literal) =>
    h(
      "li",
      {
        class: literal.terms.length ? "literal" : "literal unknown",
        title: literal.terms.length
          ? null
          : `nothing in ${everywhere() ? "any document" : "the document"} is called so`,
      },
      h("span", { class: "kind", text: literal.kind }),
      literal.negated ? "not " : "",
      literal.label,
      h("span", { class: "weight", text: percent(literal.weight) }),
    ),
  );
  const scope = query.scope.map((name) =>
    h("li", { class: "literal" }, h("span", { class: "kind", text: "only in" }), name),
  );
  return show(
    byId("literals"),
    h(
      "ul",
      { "aria-label": "Understood as" },
      chips,
      scope,
      !chips.length &&
        h("li", {
          class: "hint",
          text: "No word of the query is known here; hits rest on likeness alone.",
        }),
    ),
    get("health")?.judge && judgeSwitch(),
  );
}

function judgeSwitch() {
  const box = h("input", { type: "checkbox", on: { change: () => setJudge(box.checked) } });
  box.checked = get("judge");
  return h(
    "label",
    { class: "judge", title: "A small model reads the best candidates; slower, often better" },
    box,
    "judge",
  );
}
