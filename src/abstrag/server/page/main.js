/** Where the page starts: every part is told to watch its share of the state, then data comes in. */

import { readAddress, startAddress } from "/static/address.js";
import { startAnswer } from "/static/answer.js";
import { startCompare } from "/static/compare.js";
import { byId, show } from "/static/dom.js";
import { startDocument } from "/static/document-view.js";
import { startEdits } from "/static/edits-view.js";
import { takeKeyFromAddress } from "/static/key.js";
import { startKeyboard } from "/static/keyboard.js";
import { loadShelf, open } from "/static/library.js";
import { startMap } from "/static/map-view.js";
import { refusal, watchConnection } from "/static/notices.js";
import { startQuery } from "/static/query.js";
import { startRefine } from "/static/refine-view.js";
import { startResults } from "/static/results.js";
import { startSelection } from "/static/selection.js";
import { startShelf } from "/static/shelf-view.js";
import { get, set } from "/static/state.js";
import { startTau } from "/static/tau.js";
import { startTheme } from "/static/theme.js";
import { startViews } from "/static/views.js";
import { startWhyNot } from "/static/why-not-view.js";

takeKeyFromAddress();
const wanted = readAddress();
[
  startTheme,
  startViews,
  startKeyboard,
  startShelf,
  startDocument,
  startSelection,
  startQuery,
  startTau,
  startResults,
  startWhyNot,
  startEdits,
  startAnswer,
  startCompare,
  startMap,
  startRefine,
].forEach((start) => start());
// before anything is waited for: what a person types meanwhile is theirs
const known = document.querySelector(`#tab-${CSS.escape(wanted.view ?? "")}`);
set({ tau: wanted.tau, query: wanted.query, view: known ? wanted.view : "evidence" });
watchConnection(() => {
  if (!get("content")) begin();
});
begin();

async function begin() {
  try {
    await loadShelf();
    set({ judge: wanted.judge && get("health").judge });
    const documents = get("documents");
    const only = documents.length === 1 ? documents[0] : null;
    const first = documents.find((one) => one.id === wanted.document) ?? only;
    startAddress();
    if (first && !get("document")) await open(first.id);
  } catch (error) {
    show(byId("document"), refusal(error, begin));
  }
}
