/**
 * The trace as a picture: lines from the words of the question, on top of the document, to the words
 * of the passage that meet them, each with its price.
 */

import { byId, h, show, svg } from "/static/dom.js";
import { hitOf, wordsShown } from "/static/document-view.js";
import { family } from "/static/quote.js";
import { get, set, watch } from "/static/state.js";
import { two } from "/static/words.js";

/** Start drawing; lines follow when the document is scrolled or resized. */
export function startLines() {
  watch(
    ["active", "ranking", "found", "lines", "content", "layout", "document"],
    () => setTimeout(drawWords), // after the document has marked its words
  );
  byId("document").addEventListener("scroll", later, { passive: true });
  byId("document").addEventListener("words", drawWords);
  addEventListener("resize", later);
  new ResizeObserver(later).observe(byId("document"));
}

/** The words of a question and where in a hit each is met: by words where these are aligned. */
export function pairs(hit) {
  if (!hit) return [];
  const made = hit.words?.length ? hit.words.map(fromWord) : hit.trace.literals.map(fromLiteral);
  return made.map((pair, at) => ({ ...pair, key: at }));
}

function fromWord(word) {
  const here = word.said_start !== null && word.header === null && !word.in_section;
  return {
    asked: word.asked,
    price: word.met ? word.price : null,
    family: word.family ?? "stated",
    span: word.met && here ? [word.said_start, word.said_end] : null,
    header: word.met ? word.header : null,
    where: word.header !== null ? "in a header" : word.in_section ? "in the heading" : "",
  };
}

function fromLiteral(trace) {
  const { literal, met, mention, context, distance } = trace;
  const here = met && mention && mention.header === null && !context;
  return {
    asked: `${literal.negated ? "not " : ""}${literal.label}`,
    price: met ? distance : null,
    family: family(trace),
    span: here ? [mention.start, mention.end] : null,
    header: met && !context ? (mention?.header ?? null) : null,
    where: context ? "from its context" : mention?.header !== null && mention ? "in a header" : "",
  };
}

let pending = 0;
const later = () => {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(drawLines);
};

/** The strip with the words of the question, above the document. */
function drawWords() {
  byId("document").querySelector(".question")?.remove();
  const hit = get("content") && hitOf(get("active"));
  const all = pairs(hit);
  if (!all.length) return;
  const chips = all.map((pair) =>
    h(
      "li",
      { class: `word ${pair.family}${pair.price === null ? " unmet" : ""}`, data: { key: pair.key } },
      h("span", { text: pair.asked }),
      h("span", { class: "price", text: told(pair) }),
    ),
  );
  const toggle = h("button", {
    type: "button",
    class: "quiet",
    "aria-pressed": String(get("lines")),
    text: get("lines") ? "Hide the lines" : "Show the lines",
    on: { click: () => set({ lines: !get("lines") }) },
  });
  const strip = h(
    "div",
    { class: "question" },
    h("ul", { "aria-label": "Words of the question, and what each costs here" }, chips),
    toggle,
    svg("svg", { class: "wires", "aria-hidden": "true" }),
  );
  byId("document").querySelector(".document-head")?.after(strip);
  later();
}

const told = ({ price, where }) =>
  price === null ? "not met" : `${price > 0 ? two(price) : "free"}${where ? `, ${where}` : ""}`;

/** One curve for each word that is met by words on the page. */
function drawLines() {
  const strip = byId("document").querySelector(".question");
  const wires = strip?.querySelector(".wires");
  if (!wires) return;
  const drawn = [];
  const frame = byId("document").getBoundingClientRect();
  const base = strip.getBoundingClientRect();
  wires.classList.toggle("on-paper", byId("document").querySelector(".pages") !== null);
  wires.style.height = `${Math.max(0, frame.bottom - base.top)}px`;
  const targets = get("lines") ? wordsShown() : new Map();
  for (const { key, price, family: of } of pairs(hitOf(get("active")))) {
    const from = strip.querySelector(`[data-key="${key}"]`)?.getBoundingClientRect();
    const to = targets.get(key)?.getClientRects()[0]; // words may run over a line's end
    if (!from || !to || to.top < base.bottom || to.top > frame.bottom) continue;
    drawn.push(curve(from, to, base, of, price));
  }
  show(wires, drawn.flat());
}

function curve(from, to, base, of, price) {
  const [x0, y0] = [from.left + from.width / 2 - base.left, from.bottom - base.top];
  const [x1, y1] = [to.left + to.width / 2 - base.left, to.top - base.top];
  const bend = Math.max(24, (y1 - y0) / 2);
  const label = price > 0 ? two(price) : "free";
  return [
    svg("path", {
      class: of,
      d: `M ${x0} ${y0} C ${x0} ${y0 + bend}, ${x1} ${y1 - bend}, ${x1} ${y1 - 2}`,
    }),
    svg("circle", { class: of, cx: x1, cy: y1 - 2, r: 3 }),
    svg("text", { class: of, x: (x0 + x1) / 2 + 5, y: (y0 + y1) / 2 + 4 }, label),
  ];
}

/** For whoever asks where the words of the active hit are to be drawn. */
export const wanted = () => pairs(hitOf(get("active"))).filter((pair) => pair.span);

/** Those that are met by a header of the row or cell, with its words. */
export function wantedHeaders() {
  const hit = hitOf(get("active"));
  return pairs(hit)
    .filter((pair) => pair.header !== null)
    .map(({ key, header }) => ({ key, text: hit.headers[header] }));
}

