/** A quote with the words that met a literal marked, each by the family of the step it took. */

import { h } from "/static/dom.js";

/** The dearest bridge's family says how a literal was met; none means the words say it outright. */
export function family(trace) {
  const paid = trace.bridges
    .filter((bridge) => !bridge.truth_preserving)
    .sort((a, b) => b.cost - a.cost);
  return (paid[0] ?? trace.bridges[0])?.family ?? "stated";
}

/** The text of a hit as nodes, matched words in marks; overlapping ones keep the first. */
export function marked(hit) {
  const spots = (hit.words?.length ? aligned(hit.words) : typed(hit.trace.literals)).sort((a, b) => a.start - b.start || b.end - a.end);
  const nodes = [];
  let at = 0;
  for (const spot of spots) {
    if (spot.start < at || spot.end > hit.text.length) continue;
    nodes.push(hit.text.slice(at, spot.start));
    nodes.push(
      h("mark", {
        class: `met ${spot.family}`,
        title: `${spot.label}: ${spot.family}`,
        data: { start: spot.start, end: spot.end },
        text: hit.text.slice(spot.start, spot.end),
      }),
    );
    at = spot.end;
  }
  nodes.push(hit.text.slice(at));
  return nodes.filter((node) => node !== "");
}

const typed = (literals) =>
  literals
    .filter(
      (trace) => trace.met && trace.mention && trace.mention.header === null && !trace.context,
    )
    .map((trace) => ({ ...trace.mention, family: family(trace), label: trace.literal.label }));

/** Where words are aligned, each word of the query marks the word that meets it. */
const aligned = (words) =>
  words
    .filter((one) => one.met && one.said_start !== null && one.header === null && !one.in_section)
    .map((one) => ({
      start: one.said_start,
      end: one.said_end,
      family: one.family ?? "stated",
      label: one.asked,
    }));
