"""Print what is read off documents as a table: title, company, form, period, date, genre.

    python tools/document_table.py FILE...

A file that cannot be read has the error in place of its title. What `docs/documents.toml` says
otherwise about a file, by its name, stands behind the cell: "plain (is scientific)". At last the
cells that were held against it are counted. Sections are in `section_table.py`.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Final

from abstrag.documents.header import Cover, cover_of
from abstrag.errors import AbstragError
from abstrag.indexing.genre import detect_genre
from abstrag.model.document import Document

TRUTH: Final = Path(__file__).parent.parent / "docs" / "documents.toml"
HEADER = ("file", "title", "company", "form", "period", "date", "genre")


def row(path: Path) -> tuple[str, ...]:
    """Return the cells of one file."""
    try:
        document = Document.load(path)
    except AbstragError as error:
        return (path.name, f"*{error}*", *[""] * (len(HEADER) - 2))
    cover = cover_of(document.text, document.blocks) or Cover("")
    return (
        path.name,
        document.title,
        cover.company,
        cover.form,
        cover.period,
        document.metadata.date or "",
        detect_genre(document).value,
    )


def compared(cells: tuple[str, ...], truth: dict[str, str]) -> tuple[tuple[str, ...], int, int]:
    """Return the cells, each wrong one with what is true, how many were compared and are right."""
    shown, asked, right = [], 0, 0
    for name, cell in zip(HEADER, cells, strict=True):
        is_right = truth.get(name, cell) == cell
        asked, right = asked + (name in truth), right + (name in truth and is_right)
        shown.append(cell if is_right else f"{cell} (is {truth[name] or 'none'})")
    return tuple(shown), asked, right


def main() -> None:
    """Print the table of the files that are named."""
    known = tomllib.loads(TRUTH.read_text("utf-8"))
    truths = {Path(name).name: truth for name, truth in known.items()}
    rows: list[tuple[str, ...]] = [HEADER, ("---",) * len(HEADER)]
    asked = right = 0
    for name in sys.argv[1:]:
        shown, some, fine = compared(row(Path(name)), truths.get(Path(name).name, {}))
        rows.append(shown)
        asked, right = asked + some, right + fine
    for cells in rows:
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    print(f"\n{right} of {asked} cells are as {TRUTH.name} says")


if __name__ == "__main__":
    main()
