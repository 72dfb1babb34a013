"""Where FEVEROUS pages come from: the official SQLite file, or a folder of page files."""

from __future__ import annotations

import json
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from abstrag.bench.datasets.files import Place, read_json, read_lines
from abstrag.errors import InputError

Page = Mapping[str, Any]


def title_key(title: str) -> str:
    """Return the form in which two spellings of a title are compared."""
    return unicodedata.normalize("NFD", title).strip()


def find_pages(folder: Path, titles: Iterable[str]) -> dict[str, Page]:
    """Return the pages of these titles by their keys; what is not there is left out."""
    wanted = {title_key(title) for title in titles}
    databases = sorted(folder.glob("*.db"))
    if databases:
        return _from_database(databases[0], wanted)
    files = sorted(
        path
        for child in sorted(folder.iterdir() if folder.is_dir() else ())
        if child.is_dir()
        for path in child.rglob("*")
        if path.suffix in (".json", ".jsonl")
    )
    if not files:
        raise InputError(
            f"there are no FEVEROUS pages under {str(folder)!r}",
            hint="put the official *.db file or a folder of page files beside the claims",
        )
    return {key: page for path in files for key, page in _from_file(path) if key in wanted}


def _from_database(path: Path, wanted: set[str]) -> dict[str, Page]:
    pages: dict[str, Page] = {}
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        try:
            for key in sorted(wanted):
                row = connection.execute("SELECT data FROM wiki WHERE id = ?", (key,)).fetchone()
                if row is not None:
                    pages[key] = json.loads(row[0])
        finally:
            connection.close()
    except sqlite3.Error as error:
        raise InputError(
            f"{str(path)!r} cannot be read as a FEVEROUS database: {error}",
            hint="it needs the table wiki(id, data)",
        ) from None
    except json.JSONDecodeError as error:
        raise InputError(f"{str(path)!r}, page {key!r}: not JSON: {error.msg}") from None
    return pages


def _from_file(path: Path) -> Iterator[tuple[str, Page]]:
    if path.suffix == ".jsonl":
        for number, page in read_lines(path):
            yield title_key(Place(path, number).field(page, "title", str)), page
    else:
        page = read_json(path)
        yield title_key(Place(path).field(page, "title", str)), page
