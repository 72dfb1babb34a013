"""A folder with what folders have: namesakes, a broken file, an empty one; and stores compared."""

import json
import sqlite3
from pathlib import Path
from typing import Any

_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday")


def write_folder(folder: Path, count: int = 8) -> list[Path]:
    """Write documents of two sentences, two of them namesakes, and files that cannot be read."""
    for number in range(count):
        day = _DAYS[number % len(_DAYS)]
        write(
            folder / f"note{number:02}.md",
            f"# Note {number}\n\nThe harbour master (HM) signed {number + 2} leases on {day}. "
            f"The HM raised the rent in 20{10 + number}.\n",
        )
    for place in ("east", "west"):
        write(folder / place / "report.md", f"# The {place} pier\n\nThe {place} pier was mended.\n")
    write(folder / "east" / "empty.md", "")
    write(folder / "east" / "picture.md", "\x89PNG\r\n")
    blocks = [{"kind": "paragraph", "text": "A crane was sold."}]
    write(folder / "own.json", json.dumps({"id": "report", "title": "Own", "blocks": blocks}))
    return sorted(path for path in folder.rglob("*") if path.is_file())


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="latin-1")


def rows(store: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return every row of every table, sorted, but the times of indexing."""
    base = sqlite3.connect(store)
    try:
        found = {}
        names = base.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        for (table,) in names.fetchall():
            info = base.execute(f"PRAGMA table_info({table})").fetchall()
            columns = [row[1] for row in info if row[1] != "indexed_at"]
            wanted = ", ".join(columns)
            statement = f"SELECT {wanted} FROM {table} ORDER BY {wanted}"
            found[table] = base.execute(statement).fetchall()
        return found
    finally:
        base.close()
