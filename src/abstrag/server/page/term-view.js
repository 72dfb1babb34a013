/** One term of the map: its names, its neighbours, its edges with their licences, its mentions. */

import { h } from "/static/dom.js";
import { goTo } from "/static/document-view.js";
import { edgeForm } from "/static/edge-form.js";
import { removeEdge } from "/static/editing.js";
import { effect } from "/static/effect.js";
import { graph } from "/static/graph.js";
import { refusal } from "/static/notices.js";
import { set } from "/static/state.js";
import { licence } from "/static/trace.js";
import { edgeCost, learn, plural, short, termKind, termLabel, two } from "/static/words.js";

/** Put a term into the middle of the map. */
export const choose = (term) => set({ term });

/** Everything the map knows of a term. */
export function termPanel({ term, aliases, edges, mentions }) {
  learn([term]);
  const others = aliases.filter((name) => name !== term.label);
  return h(
    "section",
    { class: "term-panel", "aria-label": term.label },
    h("h2", {}, term.label, " ", h("span", { class: "kind", text: term.kind })),
    others.length > 0 &&
      h(
        "p",
        { class: "aliases" },
        "also called ",
        others.map((name, at) => [at ? ", " : "", h("i", { text: name })]),
      ),
    edges.length
      ? h("div", { class: "table" }, graph(term, edges, choose))
      : h("p", {
          class: "hint",
          text: "No edge leads to it or from it; only its own words find it.",
        }),
    edges.length > 0 && edgeTable(edges),
    edgeForm(term),
    effect(),
    mentions.length > 0 &&
      h(
        "details",
        {},
        h("summary", { text: plural(mentions.length, "mention") }),
        h(
          "ul",
          { class: "mentions" },
          mentions.slice(0, 60).map((one) =>
            h(
              "li",
              {},
              h("button", {
                type: "button",
                class: "link",
                text: short(one.text, 120),
                on: { click: () => goTo(one.segment) },
              }),
            ),
          ),
        ),
      ),
  );
}

function edgeTable(edges) {
  const head = ["Step", "Family", "Cost", "Licence", ""].map((text) =>
    h("th", { scope: "col", text }),
  );
  return h(
    "div",
    { class: "table" },
    h(
      "table",
      { class: "edges" },
      h("thead", {}, h("tr", {}, head)),
      h("tbody", {}, edges.map(edgeRow)),
    ),
  );
}

function edgeRow(edge) {
  const go = (id) =>
    h("button", {
      type: "button",
      class: "term",
      text: termLabel(id),
      title: termKind(id),
      on: { click: () => choose(id) },
    });
  const row = h(
    "tr",
    { data: { edge: edge.id } },
    h("td", {}, go(edge.source), edge.relation === "equivalent" ? " ≡ " : " → ", go(edge.target)),
    h(
      "td",
      {},
      h("span", { class: `step ${edge.family}` }, h("span", { class: "tag", text: edge.family })),
    ),
    h("td", { class: "cost", text: edge.truth_preserving ? "free" : two(edgeCost(edge)) }),
    h("td", {}, licence(edge.licence)),
    h(
      "td",
      {},
      h("button", {
        type: "button",
        class: "link",
        text: "Remove",
        "aria-label": `Remove ${termLabel(edge.source)} to ${termLabel(edge.target)}`,
        on: { click: remove },
      }),
    ),
  );
  async function remove(event) {
    event.target.disabled = true;
    await removeEdge(edge.id).catch((error) => {
      event.target.disabled = false;
      row.lastChild.append(refusal(error));
    });
  }
  return row;
}
