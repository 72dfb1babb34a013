/** All documents at once: which of them are asked, and the hits of all, grouped by document. */

import * as api from "/static/api.js";
import { get, set } from "/static/state.js";

const K = 20;

/** Whether a query goes to all documents: it is said so, or none is open. */
export const everywhere = () => get("everywhere") || !get("document");

/** The filters that say something, as the server wants them. */
export const filters = () =>
  Object.fromEntries(Object.entries(get("filters")).filter(([, value]) => value));

/** Search all documents that pass the filters. */
export async function searchAll(query, ranked, signal) {
  const found = await api.searchAll({ query, k: K, ...ranked, ...filters() }, signal);
  const rest = { ranking: null, sweep: null, curve: null, active: null, busy: false };
  set({ found, everywhere: true, ...rest });
}

/** The hits of one document among those of all, best first. */
export const hitsOf = (document) =>
  (get("found")?.hits ?? []).map((one) => one.hit).filter((hit) => hit.document === document);

/** Ask all documents, or the open one alone. */
export function setEverywhere(on, again) {
  set({ everywhere: on, found: null, whyNot: null });
  return again();
}
