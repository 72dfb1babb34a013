/** Refining: let the server look for a patch, read what it tried, take a patch back. */

import * as api from "/static/api.js";
import { again, ranked } from "/static/asking.js";
import { get, set } from "/static/state.js";

/** Refine on the query at hand; what is kept changes the next search. */
export async function refine() {
  const [id, query] = [get("document"), get("query")];
  set({ refinement: { query, busy: true } });
  try {
    set({ refinement: { query, made: await api.refine(id, { query, ...ranked() }) } });
    await again();
    await loadLog();
  } catch (error) {
    set({ refinement: { query, error } });
  }
}

/** Fetch the log of everything that was tried. */
export async function loadLog() {
  try {
    const log = await api.policyLog();
    set({ log: Array.isArray(log) ? log : log.entries });
  } catch (error) {
    set({ log: [], logFailure: error });
  }
}

/** Take a patch back, and ask again without it. */
export async function revert(patch) {
  await api.revert(patch);
  set({ refinement: null });
  await loadLog();
  await again();
}

/** The patches of a document that are in force: accepted, and not taken back since. */
export function inForce(log, name) {
  const kept = new Map();
  for (const entry of log) {
    const { action, id, name: document } = entry.payload;
    if (action === "revert") kept.delete(id);
    else if (
      action === "apply" &&
      entry.validation_status === "accepted" &&
      (document ?? name) === name
    )
      kept.set(id, entry);
  }
  return kept;
}
