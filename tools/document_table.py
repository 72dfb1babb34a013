"""Print what is read off documents as a table: title, company, form, period, date, genre, sections.

    python tools/document_table.py FILE...

A file that cannot be read has the error in place of its title.
"""

from __future__ import annotations

import sys
from pathlib import Path

from abstrag.documents.cover import Cover, cover_lines, read_cover
from abstrag.errors import AbstragError
from abstrag.indexing.genre import detect_genre
from abstrag.model.document import BlockKind, Document

HEADER = ("file", "title", "company", "form", "period", "date", "genre", "headings, deepest level")


def row(path: Path) -> tuple[str, ...]:
    """Return the cells of one file."""
    try:
        document = Document.load(path)
    except AbstragError as error:
        return (path.name, f"*{error}*", *[""] * (len(HEADER) - 2))
    cover = read_cover(cover_lines(document.text, document.blocks)) or Cover("")
    headings = [b for b in document.blocks if b.kind is BlockKind.HEADING]
    depth = max((b.level or 0 for b in headings), default=0)
    return (
        path.name,
        document.title,
        cover.company,
        cover.form,
        cover.period,
        document.metadata.date or "",
        detect_genre(document).value,
        f"{len(headings)}, {depth}",
    )


def main() -> None:
    """Print the table of the files that are named."""
    rows = [HEADER, ("---",) * len(HEADER), *(row(Path(name)) for name in sys.argv[1:])]
    for cells in rows:
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")


if __name__ == "__main__":
    main()
