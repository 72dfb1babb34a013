/** The address says what is on the page, so that a reload or a bookmark brings it back. */

import { get, watch } from "/static/state.js";

const FILTERS = ["title", "source", "folder", "since", "until", "genre"];

/** Read document, query, budget, judge, view and filters from the address. */
export function readAddress() {
  const said = new URLSearchParams(location.hash.slice(1));
  const tau = Number(said.get("tau") ?? 1.5);
  return {
    document: said.get("doc"),
    query: said.get("q") ?? "",
    tau: tau >= 0 && tau <= 4 ? tau : 1.5,
    judge: said.get("judge") !== "0",
    view: said.get("view"),
    everywhere: said.get("all") === "1",
    filters: Object.fromEntries(
      FILTERS.filter((name) => said.get(name)).map((name) => [name, said.get(name)]),
    ),
  };
}

/** Keep the address up to date from now on; starting twice is fine. */
export const startAddress = () =>
  watch(["document", "query", "tau", "judge", "view", "everywhere", "filters"], write);

/** Tell `listener` when a person puts another address in place of this one. */
export function whenPasted(listener) {
  addEventListener("hashchange", listener); // what we write ourselves raises none
}

function write() {
  const said = new URLSearchParams();
  if (get("document")) said.set("doc", get("document"));
  if (get("query")) said.set("q", get("query"));
  if (get("tau") !== 1.5) said.set("tau", String(get("tau")));
  if (!get("judge") && get("health")?.judge) said.set("judge", "0");
  if (get("everywhere")) {
    said.set("all", "1");
    for (const name of FILTERS) if (get("filters")[name]) said.set(name, get("filters")[name]);
  }
  if (get("view") !== "evidence") said.set("view", get("view"));
  history.replaceState(null, "", `#${said}`);
}
