/** The document as structured text: headings, lists, tables; every segment can be pointed at. */

import { h, reveal } from "/static/dom.js";
import { wanted, wantedHeaders } from "/static/lines.js";
import { marked } from "/static/quote.js";
import { cellsOf } from "/static/table.js";

export class TextView {
  constructor(content) {
    this.spans = new Map();
    this.texts = new Map(content.segments.map((segment) => [segment.id, segment.text]));
    this.content = content;
    this.cells = new Map(); // cell of a table → its element
    this.element = h("article", {
      class: "text",
      tabindex: "0",
      "aria-label": "Text; arrow keys go from segment to segment",
      on: { keydown: (event) => this.walk(event) },
    });
    this.element.append(...this.blocks(content));
    this.active = null;
  }

  blocks({ title, blocks, segments }) {
    const made = [];
    let list = null;
    const segmentsOf = Map.groupBy(segments, (segment) => segment.block);
    blocks.forEach((block, at) => {
      if (block.kind === "heading" && block.text === title && !made.length) return; // it stands above
      const element = this.block(block, segmentsOf.get(at) ?? []);
      element.dataset.block = at;
      if (block.kind !== "list_item") list = null;
      else if (!list) made.push((list = h("ul")));
      (list ?? { append: (one) => made.push(one) }).append(element);
    });
    return made;
  }

  block(block, segments) {
    switch (block.kind) {
      case "heading":
        return h(
          `h${Math.min(6, Math.max(3, (block.level ?? 1) + 2))}`,
          {},
          this.runs(block.text, segments),
        );
      case "table":
        return this.table(block, segments);
      case "code":
        return h("pre", {}, this.runs(block.text, segments));
      case "list_item":
        return h("li", {}, this.runs(block.text, segments));
      default:
        return h("p", { class: block.kind }, this.runs(block.text, segments));
    }
  }

  /** Cut a block's text at its segments; what lies between them stays as it is. */
  runs(text, segments) {
    const made = [];
    let at = 0;
    for (const segment of segments) {
      const from = text.indexOf(segment.text, at);
      if (from < 0) continue;
      if (from > at) made.push(text.slice(at, from));
      made.push(this.span("span", segment, {}, segment.text));
      at = from + segment.text.length;
    }
    if (at < text.length) made.push(text.slice(at));
    return made;
  }

  /** A table row by row; a segment is a whole row or one cell, as its span says. */
  table(block, segments) {
    const rows = [...Map.groupBy(block.table.cells, (cell) => cell.row).values()];
    const holds = (segment, cell) =>
      segment.span.start <= cell.span.start && cell.span.end <= segment.span.end;
    return h(
      "div",
      { class: "table" },
      h(
        "table",
        {},
        rows.map((cells) => {
          const row = segments.find(
            (one) =>
              one.kind !== "table_cell" && cells.every((cell) => !cell.text || holds(one, cell)),
          );
          const made = cells.map((cell) => {
            const own = segments.find((one) => one.kind === "table_cell" && holds(one, cell));
            const size = {
              colspan: cell.column_span > 1 && cell.column_span,
              rowspan: cell.row_span > 1 && cell.row_span,
            };
            const element = own
              ? this.span("td", own, size, cell.text)
              : h(cell.header ? "th" : "td", size, cell.text);
            this.cells.set(cell, element);
            return element;
          });
          return row ? this.span("tr", row, {}, made) : h("tr", {}, made);
        }),
      ),
    );
  }

  span(tag, segment, more, ...children) {
    const element = h(
      tag,
      { ...more, class: "segment", data: { segment: segment.id } },
      ...children,
    );
    this.spans.set(segment.id, element);
    return element;
  }

  /** Mark the found segments with their ranks, and the words that count in the one in focus. */
  mark(found, active, hit) {
    const ranks = new Map(found.map((entry, at) => [entry.segment, at + 1]));
    const whole = new Set(found.filter((entry) => entry.reachable).map((entry) => entry.segment));
    for (const [id, element] of this.spans) {
      const rank = ranks.get(id);
      element.classList.toggle("found", rank !== undefined);
      element.classList.toggle("whole", whole.has(id));
      if (rank) element.dataset.rank = rank;
      else delete element.dataset.rank;
      element.classList.toggle("active", id === active);
    }
    if (this.active && this.active.tagName === "SPAN")
      this.active.textContent = this.texts.get(this.active.dataset.segment);
    this.markHeaders(active);
    const element = this.spans.get(active);
    if (element?.tagName === "SPAN" && hit) element.replaceChildren(...marked(hit));
    if (element && element !== this.active) reveal(element);
    this.active = element ?? null;
  }

  /** Mark the headers that the row or cell in focus stands under. */
  markHeaders(active) {
    for (const cell of this.element.querySelectorAll(".its-header"))
      cell.classList.remove("its-header");
    const segment = this.content.byId.get(active);
    const table = segment && this.content.blocks[segment.block]?.table;
    if (!table) return;
    for (const cell of cellsOf(segment, table).heads)
      this.cells.get(cell)?.classList.add("its-header");
  }

  /** The elements that hold the words of the hit in focus, by the number of what they meet. */
  words() {
    const found = new Map();
    const heads = [...this.element.querySelectorAll(".its-header")];
    for (const { key, text } of wantedHeaders()) {
      const head = heads.find((one) => one.textContent === text);
      if (head) found.set(key, head);
    }
    if (this.active?.tagName !== "SPAN") return found;
    const marks = [...this.active.querySelectorAll("mark")];
    for (const { key, span } of wanted()) {
      const mark = marks.find((one) => one.dataset.start <= span[0] && span[0] < one.dataset.end);
      if (mark) found.set(key, mark);
    }
    return found;
  }

  goTo(segment) {
    reveal(this.spans.get(segment));
  }

  /**
   * Arrow keys go from segment to segment, and the page scrolls along. A segment can be focused only
   * while it is: one that always can swallows a selection that begins at its first letter.
   */
  walk(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    const all = [...this.spans.values()];
    const from = event.target.closest(".segment") ?? this.active;
    const to = all[from ? all.indexOf(from) + step : 0];
    if (!to) return;
    event.preventDefault();
    to.tabIndex = -1;
    to.addEventListener("blur", () => to.removeAttribute("tabindex"), { once: true });
    to.focus();
  }
}
