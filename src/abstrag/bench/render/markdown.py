"""A report as Markdown."""

from __future__ import annotations

from abstrag.bench.render.headline import headline
from abstrag.bench.render.table import ReportTable, tables
from abstrag.bench.summary import Summary


def markdown(summary: Summary) -> str:
    """Write a report."""
    title, *lines = headline(summary)
    parts = [f"# {title}", *lines]
    parts += [_table(one) for one in tables(summary)]
    return "\n\n".join(parts) + "\n"


def _table(table: ReportTable) -> str:
    head = [_row(table.head), _row(["---"] * len(table.head))]
    body = [
        _row([f"**{text}**" if (r, c) in table.marked else text for c, text in enumerate(row)])
        for r, row in enumerate(table.rows)
    ]
    return "\n".join([f"## {table.title}", "", table.note, "", *head, *body])


def _row(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"
