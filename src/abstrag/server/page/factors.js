/** What a score is made of: the factors as they were used, so that what is shown makes the score. */

import { h } from "/static/dom.js";
import { brief, two } from "/static/words.js";

const NAMES = {
  match: ["match", "how well it fits the question, the judge's word included where it was asked"],
  utility: ["weight", "how much a passage like this says: its role, what it adds, how firmly"],
  gap: ["directness", "how little has to be assumed between the question and the passage"],
};

/** Match, utility and gap under the powers of the preset: their product is the relevance. */
export function used({ match, utility, gap }, weighing) {
  const { match_power: a = 1, utility_power: b = 1, gap_rate: c = 1 } = weighing ?? {};
  return [
    ["match", match ** a],
    ["utility", utility ** b],
    ["gap", Math.exp(-c * gap)],
  ].filter(([name]) => name !== "gap" || c > 0);
}

/** Draw them as small bars with the score they make, or as lines that add up where there are such. */
export function factors(hit, weighing) {
  if (hit.lines?.length) return lines(hit);
  const parts = used(hit, weighing);
  const said = parts.map(([name, value]) => `${NAMES[name][0]} ${brief(value)}`).join(" times ");
  return h(
    "div",
    { class: "factors", role: "img", "aria-label": `score ${brief(hit.relevance)}: ${said}` },
    parts.map(([name, value], at) => [
      at > 0 && h("span", { class: "times", text: "×" }),
      h(
        "span",
        { class: "factor", title: NAMES[name][1] },
        h("span", { class: "name", text: NAMES[name][0] }),
        h(
          "span",
          { class: "track" },
          h("span", { class: "fill", style: { width: `${100 * Math.min(1, value)}%` } }),
        ),
        h("span", { class: "value", text: brief(value) }),
      ),
    ]),
    h("span", { class: "relevance", text: `= ${brief(hit.relevance)}` }),
  );
}

const UNIT = 10000; // a line is told in so many parts of 1

/** What each word and factor takes away; the sum is minus the logarithm of the score. */
function lines(hit) {
  const sum = hit.lines.reduce((all, line) => all + line.units, 0);
  const parts = hit.lines.filter((line) => line.units > 0);
  return h(
    "div",
    { class: "factors lines" },
    h("span", { text: "taken away:" }),
    parts.map((line, at) =>
      h("span", {
        class: "factor",
        text: `${at ? "+ " : ""}${line.name} ${(line.units / UNIT).toFixed(2)}`,
      }),
    ),
    h("span", { class: "factor", text: `= ${(sum / UNIT).toFixed(2)}` }),
    h("span", {
      class: "relevance",
      text: two(Math.exp(-sum / UNIT)),
      title: "the score: e to the power of minus the sum",
    }),
  );
}
