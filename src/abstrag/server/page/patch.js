/** A patch as a diff: the line it adds, the line it takes away. */

import { h } from "/static/dom.js";
import { budget, termLabel, two } from "/static/words.js";

const plus = (text) => h("ins", { text: `+ ${text}` });
const minus = (text) => h("del", { text: `− ${text}` });

const SAID = {
  alias: (delta) =>
    `${termLabel(delta.source)} may stand for ${termLabel(delta.target)}, δ ${two(delta.distance)}${delta.surface ? `, wherever it reads “${delta.surface}”` : ""}`,
  hypernym_restriction: (delta) => `${termLabel(delta.source)} → ${termLabel(delta.target)}`,
  role_rule: (delta) =>
    `whoever is ${termLabel(delta.source)} may stand for ${termLabel(delta.target)}, δ ${two(delta.distance)}`,
  event_mapping: (delta) =>
    `${termLabel(delta.source)} may be read as ${termLabel(delta.target)}, δ ${two(delta.distance)}`,
  time_window: (delta) =>
    `${termLabel(delta.target)} also takes ${delta.window.start} to ${delta.window.end}`,
  clause_cost: (delta) =>
    delta.family
      ? `a step of the family ${delta.family} costs ω ${two(delta.weight)}`
      : `this query has the budget τ ${budget(delta.tau)}`,
  step_price: (delta) =>
    `taking “${delta.said}” for “${delta.asked}” costs ${delta.at_least > 0 ? `at least ${two(delta.at_least)}` : `at most ${two(delta.at_most)}`}`,
};

/** The lines of a patch; `undone` turns them round. */
export function patchWords({ delta, edit }, undone = false) {
  const lines = [];
  if (delta) {
    const takes = delta.kind === "hypernym_restriction";
    lines.push((takes !== undone ? minus : plus)(SAID[delta.kind](delta)));
  }
  if (edit)
    lines.push(
      (edit.op.startsWith("remove") !== undone ? minus : plus)(`${edit.program}: ${edit.text}`),
    );
  return lines;
}
