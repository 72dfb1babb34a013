"""What an older release left behind: every row of a document in a table, where SQL gets at it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from abstrag.stores.rows import from_blobs, select_blobs
from abstrag.stores.sqlite import SqliteStore


def write_as_older_release(path: Path) -> None:
    """Put the rows of all documents of a store into its tables, and seal them."""
    with closing(sqlite3.connect(path)) as connection:
        for (document,) in connection.execute("SELECT number FROM documents").fetchall():
            for table, rows in from_blobs(select_blobs(connection, document)).items():
                marks = ", ".join("?" for _ in table.columns)
                into = f"{table.name} (document, {', '.join(table.columns)})"
                connection.executemany(
                    f"INSERT INTO {into} VALUES (?, {marks})", ((document, *row) for row in rows)
                )
        connection.execute("DELETE FROM packed_rows")
        connection.execute("DELETE FROM seals")
        connection.commit()
    with SqliteStore.open(path, create=False) as store:
        store.check()
