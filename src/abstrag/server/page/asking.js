/** Asking: the query, its ranking, the rankings at every budget, and why a passage is not there. */

import * as api from "/static/api.js";
import { everywhere, filters, hitsOf, searchAll } from "/static/collection.js";
import { get, set } from "/static/state.js";

const K = 10;
let current = new AbortController();

/** How many searches have been begun; who waits for something can tell whether one came between. */
export let searches = 0;

/** Search, and fetch what the slider needs beside it; the ranking is shown as soon as it is there. */
export async function search(query, { keep = false } = {}) {
  const id = get("document");
  const asked = query.trim();
  if (!asked) return;
  searches += 1;
  current.abort();
  current = new AbortController();
  const { signal } = current;
  set({ query: asked, busy: true, failure: null, moved: keep ? ranks() : null });
  if (!keep) set({ whyNot: null, opened: new Set() });
  try {
    if (everywhere()) {
      await searchAll(asked, { tau: get("tau"), ...ranked() }, signal);
      await onFound(get("found"));
      return;
    }
    set({ found: null });
    const ranking = await api.search(id, question(asked), signal);
    const active =
      keep && ranking.hits.some((hit) => hit.segment === get("active"))
        ? get("active")
        : (ranking.hits[0]?.segment ?? null);
    set({ ranking, sweep: null, curve: null, active, busy: false });
    const [sweep, curve] = await Promise.all([
      api.sweep(id, { query: asked, k: K, ...ranked() }, signal),
      api.budget(id, { query: asked, ...ranked() }, signal),
    ]);
    set({ sweep, curve });
  } catch (error) {
    if (error.name === "AbortError") return;
    set({ busy: false, failure: error });
  }
}

let onFound = async () => {};

/** Tell `listener` of every answer of a search over all documents. */
export function whenFound(listener) {
  onFound = listener;
}

/** How everything on the page is ranked; every request that ranks or explains says it. */
export const ranked = () => ({ judge: get("judge") });

const question = (query) => ({ query, k: K, tau: get("tau"), ...ranked() });

/** The rank each segment has now, so that the next ranking can say what moved. */
const ranks = () => new Map(order().map((entry, at) => [entry.segment, at + 1]));

/** The order at the slider's budget: from the sweep while it has it, else from the last search. */
export function order() {
  if (get("found"))
    return hitsOf(get("document")).map((hit) => ({ ...hit, reachable: hit.trace.reachable }));
  const [ranking, sweep, tau] = [get("ranking"), get("sweep"), get("tau")];
  if (!ranking) return [];
  if (ranking.tau === tau || !sweep)
    return ranking.hits.map((hit) => ({ ...hit, reachable: hit.trace.reachable }));
  return sweep.rankings[nearest(sweep.taus, tau)].slice(0, K);
}

function nearest(taus, tau) {
  let best = 0;
  taus.forEach((value, at) => {
    if (Math.abs(value - tau) < Math.abs(taus[best] - tau)) best = at;
  });
  return best;
}

let settling = null;

/** Move the budget. The order follows at once; the sentences follow when the hand rests. */
export function setTau(tau) {
  set({ tau, moved: null });
  clearTimeout(settling);
  if (get("ranking")) settling = setTimeout(settle, 250);
}

async function settle() {
  const [tau, query, id] = [get("tau"), get("query"), get("document")];
  if (get("ranking")?.tau === tau) return;
  try {
    const ranking = await api.search(id, question(query));
    if (get("tau") === tau && get("query") === query && get("document") === id) set({ ranking });
  } catch (error) {
    set({ failure: error });
  }
}

/** Switch the judge on or off and ask again. */
export function setJudge(judge) {
  set({ judge });
  return again();
}

/** Ask why a passage, or a segment, is not among the first hits. */
export async function whyNot(target) {
  const [id, query] = [get("document"), get("query")];
  set({ view: "evidence", whyNot: { target, busy: true } });
  if (!query) {
    set({ whyNot: { target, unasked: true } });
    return;
  }
  try {
    const asked = { ...question(query), ...target };
    if (get("found")) {
      const named = target.segment ? { document: id } : {};
      const answer = await api.whyNotAll({ ...asked, k: 20, ...named, ...filters() });
      set({ whyNot: { target, among: answer } });
      return;
    }
    let answer = await api.whyNot(id, asked);
    // what is among the hits is asked about all the same: why is it not higher?
    const higher = answer.cause === "found" && answer.rank > 1;
    if (higher) {
      const { rank } = answer; // as the hits have it, whatever fewer of them would make of it
      answer = { ...(await api.whyNot(id, { ...asked, k: Math.min(3, rank - 1) })), rank };
    }
    set({ whyNot: { target, answer, higher } });
  } catch (error) {
    set({ whyNot: { target, error } });
  }
}

/** Ask again whatever is on the page, after something under it has changed. */
export async function again() {
  const open = get("whyNot");
  if (get("query")) await search(get("query"), { keep: true });
  if (open?.answer || open?.among) await whyNot(open.target);
}
