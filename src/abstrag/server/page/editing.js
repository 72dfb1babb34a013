/** Editing the map: add an edge, hide one, take it back; every change asks the query again. */

import * as api from "/static/api.js";
import { again } from "/static/asking.js";
import { get, set } from "/static/state.js";

/** Fetch the edits a document has. */
export async function loadEdits(id) {
  const edits = await api.edits(id);
  if (get("document") !== id) return;
  const same = JSON.stringify(edits) === JSON.stringify(get("edits"));
  if (!same) set({ edits }); // no news draws nothing anew under someone's hands
}

async function after(change) {
  const id = get("document");
  await change(id);
  await loadEdits(id);
  await again();
}

/** Add an edge by hand; a step that is true by itself costs nothing. */
export function addEdge({
  source,
  target,
  relation,
  family,
  weight,
  distance,
  truth_preserving: free,
}) {
  const price = free ? { weight: 0, distance: 0 } : { weight, distance };
  return after((id) => api.addEdge(id, { source, target, relation, family, ...price }));
}

/** Hide an edge of the document, or drop one that was added by hand. */
export const removeEdge = (name) => after((id) => api.hideEdge(id, name));

/** Show a hidden edge again: all edits are undone, and the others made once more. */
export const restoreEdge = (edge) =>
  after(async (id) => {
    const { edges, removed } = get("edits");
    await api.undoEdits(id);
    for (const { source, target, relation, family, weight, distance } of edges) {
      await api.addEdge(id, { source, target, relation, family, weight, distance });
    }
    for (const other of removed) if (other.id !== edge.id) await api.hideEdge(id, other.id);
  });

/** Undo every edit. */
export const undoAll = () => after((id) => api.undoEdits(id));
