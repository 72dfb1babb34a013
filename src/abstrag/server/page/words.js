/** How numbers, terms and places are put into words. */

/** A cost, share or score with two digits. */
export const two = (number) => Number(number).toFixed(2);

/** A budget: one digit unless it needs two. */
export const budget = (tau) => String(Number(Number(tau).toFixed(2)));

/** How large a file is; nothing where that is not known. */
export function size(bytes) {
  if (bytes === null || bytes === undefined) return "";
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

/** A share as a percentage. */
export const percent = (share) => `${Math.round(100 * share)}%`;

export const plural = (count, one, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** "p. 3 · Methods › Data", or what of it is known. */
export function place({ page, section }) {
  const path = (section ?? []).join(" › ");
  return [page ? `p. ${page}` : "", path].filter(Boolean).join(" · ");
}

/** What a row or cell of a table stands under; empty for any other text. */
export const under = (headers) => (headers?.length ? `under ${headers.join(" · ")}` : "");

const labels = new Map();

/** Remember what terms are called, for edges name them by id only. */
export function learn(terms) {
  for (const { id, label } of terms) labels.set(id, label);
}

/** What a term is called: its label, or its id without its kind; a WordNet sense has its number. */
export function termLabel(id) {
  const sense = /\.[anrvs]\.(\d+)$/.exec(id);
  const name =
    labels.get(id) ??
    id
      .replace(/^[a-z]+:/, "")
      .replace(/\.[anrvs]\.\d+$/, "")
      .replaceAll("_", " ");
  return sense
    ? name + String(Number(sense[1])).replace(/\d/g, (digit) => "₀₁₂₃₄₅₆₇₈₉"[digit])
    : name;
}

/** The kind of a term, as the first part of its id says it. */
export const termKind = (id) => (id.includes(":") ? id.slice(0, id.indexOf(":")) : "concept");

/** What an edge costs: nothing when it preserves truth. */
export const edgeCost = (edge) =>
  edge.cost ?? (edge.truth_preserving ? 0 : edge.weight + edge.distance);

const LICENCES = {
  text: "the document says so",
  background: "background",
  lexicon: "lexicon",
  model: "a model said so",
  patch: "an accepted patch",
  collection: "another document says so",
};

/** Where the right to use an edge comes from. */
export const licenceKind = (licence) => LICENCES[licence.kind] ?? licence.kind;

/** Shorten words for a narrow place. */
export const short = (text, most) =>
  text.length <= most ? text : `${text.slice(0, most - 1).trimEnd()}…`;
