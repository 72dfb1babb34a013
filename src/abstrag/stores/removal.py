"""Which documents of an SQLite file hold an id, and how documents go with all that is theirs."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from abstrag.stores import memory
from abstrag.stores.mapped import MappedFiles
from abstrag.stores.tables import Row


def holders(connection: sqlite3.Connection, ids: Sequence[str]) -> dict[str, str | None]:
    """Return where the documents come from that have one of these ids."""
    marks = ", ".join("?" for _ in ids)
    statement = f"SELECT id, source_path FROM documents WHERE id IN ({marks})"
    return dict(connection.execute(statement, tuple(ids)))


def delete(connection: sqlite3.Connection, where: str, values: Row) -> list[Row]:
    """Delete documents with all their rows and return their content hashes."""
    contents = connection.execute(
        f"SELECT content_hash FROM documents WHERE {where}", values
    ).fetchall()
    connection.execute(f"DELETE FROM documents WHERE {where}", values)
    return contents


def forget_layers(
    connection: sqlite3.Connection, contents: list[Row], mapped: MappedFiles | None
) -> None:
    """Drop what was kept along the way for contents that no document has any more."""
    for (content_hash,) in contents:
        gone = connection.execute(
            "SELECT 1 WHERE ? NOT IN (SELECT content_hash FROM documents)", (content_hash,)
        ).fetchone()
        if gone:
            connection.execute("DELETE FROM layers WHERE content_hash = ?", (content_hash,))
            memory.forget(connection, content_hash)
            if mapped is not None:
                mapped.forget(content_hash)
