"""The tables of a compiled Background, and how to tell such a file from any other."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from abstrag.sqlite_file import bears_mark

APPLICATION_ID: Final = 0x41627342  # "AbsB", in the header of the SQLite file
VERSION: Final = 1
STATED: Final = -1.0  # in place of a distance: the user states it, and it costs nothing

TABLES: Final = """
CREATE TABLE source (id INTEGER PRIMARY KEY, name TEXT, digest TEXT, distance REAL, facts INTEGER);
CREATE TABLE meta (digest TEXT, rest TEXT, duplicates INTEGER, conflicts INTEGER);
CREATE TABLE thing (id INTEGER PRIMARY KEY, key TEXT NOT NULL, scheme TEXT);
CREATE TABLE name (
    form TEXT, thing INTEGER, surface TEXT, preferred INTEGER, distance REAL, confidence REAL,
    source INTEGER, line INTEGER, PRIMARY KEY (form, thing)
) WITHOUT ROWID;
CREATE TABLE link (
    thing INTEGER, target INTEGER, role INTEGER, distance REAL, confidence REAL,
    source INTEGER, line INTEGER, PRIMARY KEY (thing, target, role)
) WITHOUT ROWID;
CREATE TABLE lead (word TEXT PRIMARY KEY, longest INTEGER) WITHOUT ROWID;
"""


def is_compiled(path: str | Path) -> bool:
    """True when a file says in its first bytes that it is a compiled Background."""
    return bears_mark(path, APPLICATION_ID)
