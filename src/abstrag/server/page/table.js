/** Tables as tables: which cells a segment is, which headers it stands under. */

import { h } from "/static/dom.js";

const holds = (segment, cell) =>
  segment.span.start <= cell.span.start && cell.span.end <= segment.span.end;

const isPartOfTable = (segment) => ["table_row", "table_cell"].includes(segment.kind);

/** The cells of a table that are a segment's own, and those that are its headers. */
export function cellsOf(segment, table) {
  const own = new Set(table.cells.filter((cell) => cell.text && holds(segment, cell)));
  const names = new Set(segment.headers);
  const columns = new Set([...own].flatMap(spanned));
  const rows = new Set([...own].map((cell) => cell.row));
  const first = Math.min(...rows);
  const above = (cell) => cell.row < first && spanned(cell).some((at) => columns.has(at));
  const heads = table.cells.filter(
    (cell) =>
      !own.has(cell) &&
      cell.text &&
      ((cell.header && above(cell)) ||
        (names.has(cell.text) && (rows.has(cell.row) || cell.row < first))),
  );
  return { own, heads: new Set(heads), rows };
}

const spanned = (cell) =>
  Array.from({ length: Math.max(1, cell.column_span) }, (_, more) => cell.column + more);

/** The hit's row with the rows of its headers, as a table; nothing for any other text. */
export function smallTable(segment, content) {
  const table = isPartOfTable(segment) ? content?.blocks[segment.block]?.table : null;
  if (!table) return null;
  const { own, heads, rows } = cellsOf(segment, table);
  const kept = new Set([...rows, ...[...heads].map((cell) => cell.row)]);
  const shown = [...Map.groupBy(table.cells, (cell) => cell.row)].filter(([row]) => kept.has(row));
  const draw = (cell) => {
    const isHead = heads.has(cell);
    return h(isHead || cell.header ? "th" : "td", {
      class: [own.has(cell) && "own", isHead && "its-header"].filter(Boolean).join(" ") || null,
      scope: isHead || cell.header ? (rows.has(cell.row) ? "row" : "col") : null,
      colspan: cell.column_span > 1 && cell.column_span,
      text: cell.text,
    });
  };
  return h(
    "div",
    { class: "table small", tabindex: "0", role: "group", "aria-label": "The row in its table" },
    h(
      "table",
      {},
      shown.map(([row, cells]) =>
        h("tr", { class: rows.has(row) ? "hit-row" : null }, cells.map(draw)),
      ),
    ),
  );
}
