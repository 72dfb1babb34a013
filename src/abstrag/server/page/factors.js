/** What a hit costs: minus the logarithm of its score, as a sum of what each factor adds. */

import { h } from "/static/dom.js";

const UNIT = 10000; // a line is told in so many parts of 1
const MEANS = {
  words: "what it takes to meet the words of the question",
  "about the same thing": "how far the passage as a whole is from the question as a whole",
  "evidence elsewhere": "how unlike it is to what other documents have as evidence for such a question; less where evidence stands together and the passage beside it fits",
  judge: "how little the judge takes it for evidence",
  match: "how far it is from fitting the question, the judge's word included where it was asked",
  utility: "how little a passage like this says: its role, what it adds, how firmly",
  gap: "how much has to be assumed between the question and the passage",
};

/** What a score costs; nothing that scores 0 can be had at any price. */
export const costOf = (score) => (score > 0 ? -Math.log(score) + 0 : Infinity);

/** A cost for a person. */
export function told(cost) {
  if (cost === Infinity) return "∞";
  const rounded = cent(cost);
  return rounded < 0 ? `−${(-rounded).toFixed(2)}` : rounded.toFixed(2);
}

const cent = (cost) => Math.round(100 * cost) / 100;

/** What each factor adds: the lines of a hit where it has such, else the factors under their powers. */
function parts({ lines, match, utility, gap }, weighing) {
  if (lines?.length) return lines.map(({ name, units }) => [name, units / UNIT]);
  const { match_power: a = 1, utility_power: b = 1, gap_rate: c = 1 } = weighing ?? {};
  return [
    ["match", a && a * costOf(match)],
    ["utility", b && b * costOf(utility)],
    ["gap", c * gap],
  ];
}

/** The sum, and what it is made of; parts are rounded so that they add up to the rounded sum. */
export function factors(hit, weighing) {
  let [sum, shown] = [0, 0];
  const said = [];
  for (const [name, cost] of parts(hit, weighing)) {
    sum += cost;
    if (cost === Infinity) break;
    const step = cent(sum) - shown;
    shown = cent(sum);
    if (Math.abs(step) < 0.005) continue; // what is free is left out
    const sign = step < 0 ? "− " : said.length ? "+ " : "= ";
    said.push(
      h("span", {
        class: "factor",
        text: `${sign}${name} ${Math.abs(step).toFixed(2)}`,
        title: MEANS[name] ?? name,
      }),
    );
  }
  return h(
    "p",
    { class: "factors" },
    h(
      "span",
      { class: "cost-of", title: "lower is better; minus the logarithm of the score" },
      "cost ",
      h("b", { text: told(sum) }),
    ),
    said.map((one) => [" ", one]),
  );
}
