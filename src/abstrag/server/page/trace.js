/** The steps of a hit: each literal, the words or bridges that meet it, and what each step costs. */

import { h } from "/static/dom.js";
import { goToSpan } from "/static/document-view.js";
import { saidSteps, stepThumbs } from "/static/feedback.js";
import { set } from "/static/state.js";
import { budget, licenceKind, percent, short, termKind, termLabel, two } from "/static/words.js";

/** Draw the trace of a hit against a budget; each step that is paid for can be called right or not. */
export function steps(hit, tau) {
  const { literals, bridge_cost: cost, reachable, over_budget_by: over, share } = hit.trace;
  const doubtful = literals.map((one, at) => paid(one, at, hit));
  return h(
    "div",
    { class: "trace" },
    h(
      "ol",
      { "aria-label": "Steps" },
      literals.map((one, at) => literalRow(one, hit, doubtful[at])),
    ),
    saidSteps(hit.document, doubtful.flat()),
    h("p", { class: "sum" }, sum(cost, reachable, over, share, tau)),
  );
}

function sum(cost, reachable, over, share, tau) {
  if (reachable) return `All met for ${two(cost)} of the budget τ ${budget(tau)}.`;
  if (over !== null)
    return `Each step is affordable, together they overrun τ ${budget(tau)} by ${two(over)}.`;
  if (cost !== null)
    return `All could be met for ${two(cost)}, more than τ ${budget(tau)} allows; ${percent(share)} of the query is met.`;
  return `${percent(share)} of the query is met; the rest has no way here at any budget.`;
}

/** The steps of a literal that somebody may doubt, or grant: from which word to which, and how. */
function paid({ literal, met, mention, context, bridges }, at, hit) {
  if (hit.words?.length)
    return hit.words
      .filter((word) => word.literal === at && word.said && word.family)
      .map(({ asked, said, family }) => ({ asked, said, family }));
  const family = bridges.find((one) => !one.truth_preserving)?.family;
  if (!met || !family || context || !mention || mention.header !== null) return [];
  return [{ asked: literal.label, said: hit.text.slice(mention.start, mention.end), family }];
}

function literalRow(trace, hit, doubtful) {
  const { literal, met, distance } = trace;
  return h(
    "li",
    { class: met ? "row met" : "row unmet" },
    h(
      "span",
      { class: "asked" },
      h("span", { class: "kind", text: literal.kind }),
      literal.negated ? "not " : "",
      literal.label,
    ),
    h("span", { class: "way" }, way(trace, hit)),
    h("span", {
      class: "cost",
      text: distance === null ? "—" : two(distance),
      "aria-label": distance === null ? "no way" : `costs ${two(distance)}`,
    }),
    doubtful.map((step) => stepThumbs(hit.document, step)),
  );
}

function way(trace, hit) {
  const { mention, context, bridges, met, via } = trace;
  const words = context
    ? context.value
    : mention && mention.header === null
      ? hit.text.slice(mention.start, mention.end)
      : via && termLabel(via);
  const start =
    words &&
    h("span", {
      class: context ? "words lifted" : "words",
      text: context ? `${context.name}: ${short(words, 40)}` : `“${short(words, 60)}”`,
    });
  if (!met && !bridges.length)
    return [start, h("span", { class: "missing", text: "nothing in it meets this" })];
  return [
    start,
    outwards(bridges).map(bridge),
    !bridges.length && h("span", { class: "tag stated", text: "says it" }),
    !met && h("span", { class: "missing", text: "over the budget" }),
  ];
}

/** From the words to the literal; what is wrong with an event's slots is paid last. */
const outwards = (bridges) =>
  [...bridges].reverse().sort((a, b) => a.details.length - b.details.length);

/** One bridge as a step: family, from, to, price; where its right comes from on the second line. */
export function bridge(step) {
  const free = step.truth_preserving;
  return h(
    "span",
    { class: `step ${step.family}` },
    h("span", { class: "tag", text: step.family }),
    h(
      "span",
      { class: "ends" },
      end(step.source),
      step.relation === "equivalent" ? " ≡ " : " → ",
      end(step.target),
    ),
    h("span", {
      class: "price",
      text: free ? "free" : two(step.cost),
      title: free
        ? "stated, so it costs nothing"
        : `ω ${two(step.weight)} + δ ${two(step.distance)}`,
    }),
    step.details?.length > 0 && h("span", { class: "licence", text: step.details.join(", ") }),
    step.licence && licence(step.licence),
  );
}

/** A term that opens the map at itself; what is no term stays words. */
function end(name) {
  if (!name.includes(":")) return name;
  return h("button", {
    type: "button",
    class: "term",
    text: termLabel(name),
    title: `${termKind(name)}: show it on the map`,
    on: { click: () => set({ term: name, view: "map" }) },
  });
}

/** What licenses a step: its kind, its words, and for the document's own words the way there. */
export function licence(one) {
  const words = one.reference ? `“${short(one.reference, 90)}”` : "";
  if (!one.span) return h("span", { class: "licence" }, `${licenceKind(one)} ${words}`);
  return h(
    "span",
    { class: "licence" },
    `${licenceKind(one)} `,
    h("button", {
      type: "button",
      class: "link",
      text: words || "there",
      on: { click: () => goToSpan(one.span) },
    }),
  );
}
