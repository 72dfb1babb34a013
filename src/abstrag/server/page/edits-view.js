/** What was changed by hand, in one line above the hits, with the way back. */

import { byId, h, show } from "/static/dom.js";
import { removeEdge, restoreEdge, undoAll } from "/static/editing.js";
import { refusal } from "/static/notices.js";
import { get, watch } from "/static/state.js";
import { termLabel } from "/static/words.js";

/** Start drawing the edits whenever there are some. */
export function startEdits() {
  watch(["edits"], () => show(byId("edits"), bar()));
}

/** The edits of the document, or nothing when there are none. */
export function bar() {
  const { edges, removed } = get("edits");
  if (!edges.length && !removed.length) return null;
  const box = h("section", { class: "edit-bar", "aria-label": "Edits by hand" });
  const act = (change) => async (event) => {
    event.target.disabled = true;
    await change().catch((error) => {
      event.target.disabled = false;
      box.append(refusal(error));
    });
  };
  box.append(
    h("b", { text: "Edited by hand: " }),
    ...edges.map((edge) =>
      line(
        edge,
        "added",
        "Take back",
        act(() => removeEdge(edge.id)),
      ),
    ),
    ...removed.map((edge) =>
      line(
        edge,
        "removed",
        "Put back",
        act(() => restoreEdge(edge)),
      ),
    ),
    h("button", { type: "button", class: "link", text: "Undo all", on: { click: act(undoAll) } }),
  );
  return box;
}

function line(edge, state, way, click) {
  return h(
    "span",
    { class: `edit ${edge.family}` },
    `${state}: ${termLabel(edge.source)} ${edge.relation === "equivalent" ? "≡" : "→"} ${termLabel(edge.target)} `,
    h("button", { type: "button", class: "link", text: way, on: { click } }),
  );
}
