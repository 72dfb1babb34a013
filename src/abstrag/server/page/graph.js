/** A term among its neighbours, in three columns: what serves as evidence for it, it, what it serves. */

import { svg } from "/static/dom.js";
import { edgeCost, short, termKind, termLabel, two } from "/static/words.js";

const WIDE = 640;
const NODE = { width: 178, height: 30, gap: 12 };
const MOST = 9; // a side; the table under the picture has all

/** Draw a term and its edges; `pick` is called with the id of a neighbour that is clicked. */
export function graph(term, edges, pick) {
  const sides = { in: [], out: [] };
  for (const edge of [...edges].sort((a, b) => edgeCost(a) - edgeCost(b))) {
    const out = edge.source === term.id;
    const side =
      edge.relation === "equivalent" && sides.in.length < sides.out.length
        ? "in"
        : out
          ? "out"
          : "in";
    sides[side].push({ edge, other: out ? edge.target : edge.source });
  }
  const rows = Math.max(1, Math.min(MOST, Math.max(sides.in.length, sides.out.length)));
  const high = rows * (NODE.height + NODE.gap) + NODE.gap;
  const centre = { x: WIDE / 2, y: high / 2 };
  const parts = ["in", "out"].flatMap((side) => column(sides[side], side, centre, high, pick));
  return svg(
    "svg",
    {
      class: "graph",
      viewBox: `0 0 ${WIDE} ${high}`,
      role: "group",
      "aria-label": `${term.label} and its neighbours`,
    },
    parts.filter((part) => part.classed === "link").map((part) => part.element),
    node(term.id, term.label, centre, "centre", null),
    parts.filter((part) => part.classed === "node").map((part) => part.element),
  );
}

function column(list, side, centre, high, pick) {
  const shown = list.slice(0, list.length > MOST ? MOST - 1 : MOST);
  const x = side === "in" ? NODE.width / 2 + 2 : WIDE - NODE.width / 2 - 2;
  const count = shown.length + (list.length > shown.length ? 1 : 0);
  const y = (at) => high / 2 + (at - (count - 1) / 2) * (NODE.height + NODE.gap);
  const parts = shown.flatMap(({ edge, other }, at) => [
    { classed: "link", element: link(edge, { x, y: y(at) }, centre, side) },
    { classed: "node", element: node(other, termLabel(other), { x, y: y(at) }, "neighbour", pick) },
  ]);
  if (list.length > shown.length) {
    parts.push({
      classed: "node",
      element: svg(
        "text",
        { x, y: y(count - 1) + 4, class: "more", "text-anchor": "middle" },
        `and ${list.length - shown.length} more below`,
      ),
    });
  }
  return parts;
}

function link(edge, from, centre, side) {
  const sign = side === "in" ? 1 : -1;
  const [x1, x2] = [from.x + (sign * NODE.width) / 2, centre.x - (sign * NODE.width) / 2];
  const middle = (x1 + x2) / 2;
  const arrow = { x: side === "in" ? x2 : x1, y: side === "in" ? centre.y : from.y };
  const price = edge.truth_preserving ? "free" : two(edgeCost(edge));
  return svg(
    "g",
    { class: `link ${edge.family}` },
    svg("path", {
      d: `M ${x1} ${from.y} C ${middle} ${from.y}, ${middle} ${centre.y}, ${x2} ${centre.y}`,
    }),
    edge.relation === "implies" &&
      svg("path", {
        class: "tip",
        d: `M ${arrow.x - 6} ${arrow.y - 4} L ${arrow.x} ${arrow.y} L ${arrow.x - 6} ${arrow.y + 4}`,
      }),
    svg(
      "text",
      { x: x1 + sign * 8, y: from.y - 4, "text-anchor": side === "in" ? "start" : "end" },
      price,
    ),
    svg(
      "title",
      {},
      `${edge.family}: ${termLabel(edge.source)} ${edge.relation === "implies" ? "→" : "≡"} ${termLabel(edge.target)}, ${price}`,
    ),
  );
}

function node(id, label, at, classed, pick) {
  const press =
    pick &&
    ((event) => {
      if (event.type === "click" || event.key === "Enter") pick(id);
    });
  return svg(
    "g",
    {
      class: `node ${classed}`,
      transform: `translate(${at.x - NODE.width / 2} ${at.y - NODE.height / 2})`,
      role: pick && "button",
      tabindex: pick && "0",
      "aria-label": `${label}, ${termKind(id)}`,
      on: pick ? { click: press, keydown: press } : {},
    },
    svg("rect", { width: NODE.width, height: NODE.height, rx: 6 }),
    svg("text", { x: 10, y: 19.5 }, short(label, 21)),
    svg(
      "text",
      { x: NODE.width - 8, y: 19, class: "kind", "text-anchor": "end" },
      label.length > 18 ? "" : termKind(id),
    ),
    svg("title", {}, `${label} (${id})`),
  );
}
