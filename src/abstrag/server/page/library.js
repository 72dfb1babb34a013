/** The shelf: which documents there are, opening one, adding files and following their jobs. */

import * as api from "/static/api.js";
import { search, searches } from "/static/asking.js";
import { loadEdits } from "/static/editing.js";
import { get, set } from "/static/state.js";
import { learn } from "/static/words.js";

/** Fetch the list of documents. */
export async function loadShelf() {
  const [health, { list, total }] = await Promise.all([api.health(), api.documents()]);
  set({ health, documents: list, total });
}

/**
 * Open a document and put the query to it that the one before was asked; `among` opens it beside
 * the hits of all documents, which stay.
 */
export async function open(id, { among = false } = {}) {
  const empty = {
    ranking: null,
    sweep: null,
    curve: null,
    moved: null,
    active: null,
    whyNot: null,
    term: null,
    failure: null,
    edits: { edges: [], removed: [] },
    opened: new Set(),
  };
  set({ document: id, content: null, contentFailure: null, ...empty });
  const before = searches;
  try {
    const content = await api.content(id);
    if (get("document") !== id) return;
    const segments = new Map(content.segments.map((segment) => [segment.id, segment]));
    set({ content: { ...content, byId: segments } });
    learn((await api.terms(id, "", 1000)).terms);
    await loadEdits(id);
    const asked = searches !== before; // by somebody who did not wait until all of it was there
    if (get("query") && !among && !asked) await search(get("query"));
  } catch (error) {
    if (get("document") === id) set({ contentFailure: error });
  }
}

/** Take a document off the shelf. */
export async function forget(id) {
  await api.forget(id);
  await loadShelf();
  if (get("document") === id)
    set({ document: null, content: null, ranking: null, sweep: null, curve: null, whyNot: null });
  set({ found: null });
}

let count = 0;

/** Add files one after the other; each has a line of progress until it is open. */
export async function add(files) {
  for (const file of files) {
    const line = { key: ++count, name: file.name, step: "sending", done: 0, total: 0, error: null };
    put(line);
    try {
      const { job } = await api.upload(file);
      await follow(job, line);
    } catch (error) {
      put({ ...line, error });
    }
  }
}

async function follow(job, line) {
  let last = null;
  for await (const state of api.progress(job)) {
    last = state;
    put({
      ...line,
      step: state.step ?? state.state,
      done: state.steps_done,
      total: state.steps_total,
    });
  }
  if (last?.state !== "done")
    throw new api.Refusal(last?.error ?? { error: `${line.name} was not finished` });
  drop(line.key);
  await loadShelf();
  await open(last.document);
}

function put(line) {
  set({
    jobs: [...get("jobs").filter((other) => other.key !== line.key), line].sort(
      (a, b) => a.key - b.key,
    ),
  });
}

/** Put away a line of progress. */
export const drop = (key) => set({ jobs: get("jobs").filter((line) => line.key !== key) });
