/** What the page knows. Views watch keys and draw; actions write. Nothing else is kept anywhere. */

const values = {
  health: null, // version, documents, judge, model
  documents: [], // the shelf, or the first of them
  total: 0, // documents of the store
  everywhere: false, // ask all documents, not only the open one
  filters: {}, // which of them: title, source, folder, since, until, genre
  found: null, // the last answer of a search over all
  jobs: [], // files on their way into it
  document: null, // id of the open one
  content: null, // its blocks and segments
  contentFailure: null, // why it could not be opened
  layout: "pages", // or "text", for a PDF
  query: "",
  tau: 1.5,
  judge: false, // ask the judge as well; on from the start where there is one
  busy: false, // a search is on its way
  failure: null, // why the last one failed
  ranking: null, // the last full answer of /search
  sweep: null, // rankings for every τ of the slider
  curve: null, // at which τ each segment enters
  moved: null, // segment → rank before the last change
  active: null, // segment id of the hit in focus
  opened: new Set(), // segments whose steps are shown
  said: new Map(), // what was said of hits and steps since the page was opened
  lines: true, // draw lines from the words of the question to the words that meet them
  whyNot: null,
  edits: { edges: [], removed: [] },
  term: null, // the map's centre
  refinement: null, // the last one, or that it is on its way
  log: null, // everything that was ever tried
  logFailure: null,
  view: "evidence",
};

const watchers = new Map();

/** Read one value. */
export const get = (key) => values[key];

/** Write values, then tell whoever watches one that changed, once each. */
export function set(changes) {
  const told = new Set();
  for (const [key, value] of Object.entries(changes)) {
    if (values[key] === value) continue;
    values[key] = value;
    for (const watcher of watchers.get(key) ?? []) told.add(watcher);
  }
  for (const watcher of told) watcher();
}

/** Call `watcher` whenever one of these keys changes. */
export function watch(keys, watcher) {
  for (const key of keys) {
    if (!watchers.has(key)) watchers.set(key, new Set());
    watchers.get(key).add(watcher);
  }
}
