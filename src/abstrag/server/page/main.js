/** Where the page starts: every part is told to watch its share of the state, then data comes in. */

import { readAddress, startAddress, whenPasted } from "/static/address.js";
import { startAnswer } from "/static/answer.js";
import { search } from "/static/asking.js";
import { startCollection } from "/static/collection-view.js";
import { startCompare } from "/static/compare.js";
import { byId, show } from "/static/dom.js";
import { startDocument } from "/static/document-view.js";
import { startEdits } from "/static/edits-view.js";
import { takeKeyFromAddress } from "/static/key.js";
import { startLines } from "/static/lines.js";
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
let wanted = readAddress();
[
  startTheme,
  startViews,
  startKeyboard,
  startShelf,
  startDocument,
  startSelection,
  startQuery,
  startCollection,
  startLines,
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
take();
watchConnection(() => {
  if (!get("content")) begin();
});
whenPasted(async () => {
  wanted = readAddress();
  take();
  await begin(true);
});
begin();

/** Put what the address says into the state, less what takes a request. */
function take() {
  const known = document.querySelector(`#tab-${CSS.escape(wanted.view ?? "")}`);
  const { tau, query, everywhere, filters } = wanted;
  set({ tau, query, everywhere, filters, view: known ? wanted.view : "evidence" });
}

async function begin(pasted = false) {
  try {
    await loadShelf();
    set({ judge: wanted.judge && get("health").judge });
    const only = get("total") === 1 ? get("documents")[0].id : null;
    const first = wanted.document ?? only;
    startAddress();
    if (first && (pasted || !get("document"))) await open(first, { among: wanted.everywhere });
    if (get("query") && (!first || wanted.everywhere)) await search(get("query"));
  } catch (error) {
    show(byId("document"), refusal(error, begin));
  }
}
