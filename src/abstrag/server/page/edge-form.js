/** The form that adds an edge: from this term to another, or from another to it. */

import * as api from "/static/api.js";
import { h, show } from "/static/dom.js";
import { addEdge } from "/static/editing.js";
import { refusal } from "/static/notices.js";
import { get } from "/static/state.js";
import { learn } from "/static/words.js";

const FAMILIES = ["concept", "expression", "event", "intent"];
const WAYS = [
  ["out", "is a kind of →"],
  ["in", "← is the class of"],
  ["same", "is another name for ≡"],
];

/** A form for edges of one term. */
export function edgeForm(term) {
  const names = h("datalist", { id: "edge-terms" });
  const other = h("input", {
    name: "other",
    list: "edge-terms",
    required: true,
    autocomplete: "off",
    placeholder: "another term",
  });
  const way = h(
    "select",
    { name: "way" },
    WAYS.map(([value, text]) => h("option", { value, text })),
  );
  const family = h(
    "select",
    { name: "family" },
    FAMILIES.map((value) => h("option", { value, text: value })),
  );
  const free = h("input", { type: "checkbox", name: "free" });
  const failed = h("div");
  other.addEventListener("input", async () => {
    const { terms } = await api
      .terms(get("document"), other.value, 12)
      .catch(() => ({ terms: [] }));
    learn(terms);
    show(
      names,
      terms.map((one) => h("option", { value: one.id, text: one.label })),
    );
  });
  way.addEventListener("change", () => {
    if (way.value === "same") family.value = "expression";
  });
  return h(
    "form",
    { class: "edge-form", on: { submit } },
    h("span", { class: "self", text: term.label }),
    labelled("Relation", way),
    labelled("Other term", other),
    labelled("Family", family),
    h("label", { class: "free", title: "Stated as true: the step costs nothing" }, free, "free"),
    h("button", { type: "submit", text: "Add the edge" }),
    names,
    failed,
  );

  async function submit(event) {
    event.preventDefault();
    const ends = way.value === "in" ? [other.value.trim(), term.id] : [term.id, other.value.trim()];
    const relation = way.value === "same" ? "equivalent" : "implies";
    show(failed);
    try {
      await addEdge({
        source: ends[0],
        target: ends[1],
        relation,
        family: family.value,
        truth_preserving: free.checked,
      });
    } catch (error) {
      show(failed, refusal(error));
    }
  }
}

const labelled = (name, field) => h("label", {}, h("span", { class: "unseen", text: name }), field);
