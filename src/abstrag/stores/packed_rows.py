"""The rows of a document in an SQLite file: of each table column by column, in a few blobs.

A document is read as a whole, and the values of a column are much alike: a row for each mention and
each context took six times the room. What older releases wrote is rows of tables, and stays so
until the document is indexed again.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from abstrag.stores.rows import squeeze, unsqueeze
from abstrag.stores.tables import TABLES, Row, StoreTable

Blobs = Mapping[tuple[str, int], bytes]  # by table and part

_AT_A_TIME: Final = 20_000  # rows in a blob
_INSERT: Final = "INSERT INTO packed_rows (document, name, part, data) VALUES (?, ?, ?, ?)"
_SELECT: Final = "SELECT name, part, data FROM packed_rows WHERE document = ? ORDER BY name, part"
_ONE: Final = _SELECT.replace("document = ?", "document = ? AND name = ?")
_LARGEST: Final = 1 << 63


def packed(rows: Mapping[StoreTable, Sequence[Row]]) -> Blobs:
    """Return rows as blobs.

    Raises:
        OverflowError: A number is larger than a database keeps.
    """
    return {
        (table.name, part): _blob(rows[table][start : start + _AT_A_TIME])
        for table in TABLES
        for part, start in enumerate(range(0, max(1, len(rows[table])), _AT_A_TIME))
    }


def unpacked(blobs: Blobs) -> dict[StoreTable, list[Row]]:
    """Return the rows of blobs.

    Raises:
        ValueError: Bytes are something else.
        zlib.error: Likewise.
    """
    rows: dict[str, list[Row]] = {table.name: [] for table in TABLES}
    for (name, _), data in blobs.items():
        rows[name].extend(_rows(data))
    return {table: rows[table.name] for table in TABLES}


def named(blobs: Blobs) -> dict[str, bytes]:
    """Return blobs by names under which they are sealed."""
    return {f"{name} {part}": data for (name, part), data in blobs.items()}


def put(connection: sqlite3.Connection, document: int, blobs: Blobs) -> None:
    """Keep the blobs of a document."""
    values = ((document, *key, data) for key, data in blobs.items())
    connection.executemany(_INSERT, values)


def get(connection: sqlite3.Connection, document: int) -> Blobs:
    """Return the blobs of a document; none where an older release wrote it."""
    return {(name, part): data for name, part, data in connection.execute(_SELECT, (document,))}


def one(connection: sqlite3.Connection, document: int, table: StoreTable) -> list[Row]:
    """Return the rows of a document in one table, whoever wrote it."""
    found = connection.execute(_ONE, (document, table.name)).fetchall()
    if not found:
        return connection.execute(table.select, (document,)).fetchall()
    return [row for *_, data in found for row in _rows(data)]


def _blob(rows: Sequence[Row]) -> bytes:
    columns = list(zip(*rows, strict=True))
    for column in columns:
        numbers = [value for value in column if type(value) is int]
        if numbers and not -_LARGEST <= min(numbers) <= max(numbers) < _LARGEST:
            raise OverflowError(f"a number is too large: {max(map(abs, numbers))}")
    return squeeze(json.dumps(columns).encode())


def _rows(data: bytes) -> Iterator[Row]:
    columns: list[list[Any]] = json.loads(unsqueeze(data))
    return zip(*columns, strict=True)
