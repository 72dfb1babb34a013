"""The tables of the embedded store, and how a file of an older version becomes a current one.

A version is the number of migrations a file has been through. To change the schema, append a
migration; never edit one that has been released.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Final

from abstrag.errors import StoreCorrupt, StoreTooNew
from abstrag.sqlite_file import transaction
from abstrag.stores.location import APPLICATION_ID

Migration = tuple[str, ...]

VERSION_KEY: Final = "documents_version"  # in `meta`: how often documents came, changed or went

# Narrow tables are clustered by document, so that one document is one stretch of the file. A term
# is known by its number within the document; `kind` is NULL for an id that edges, postings or
# contexts name although the map has no such term.
_V1: Final[Migration] = (
    """
    CREATE TABLE meta (
        key TEXT PRIMARY KEY,
        value TEXT NOT NULL
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE documents (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL,
        date TEXT,
        source_path TEXT UNIQUE,
        source_hash TEXT NOT NULL,
        content_hash TEXT NOT NULL,
        genre TEXT NOT NULL,
        granularity TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        segments INTEGER NOT NULL,
        terms INTEGER NOT NULL,
        edges INTEGER NOT NULL,
        indexed_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now')),
        background BLOB NOT NULL,
        document BLOB NOT NULL,
        frames BLOB NOT NULL,
        ambiguities BLOB NOT NULL
    )
    """,
    "CREATE INDEX documents_content ON documents (content_hash)",
    """
    CREATE TABLE segments (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        position INTEGER NOT NULL,
        id TEXT NOT NULL,
        kind TEXT NOT NULL,
        role TEXT NOT NULL,
        text TEXT NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        alignment TEXT NOT NULL,
        block INTEGER NOT NULL,
        section TEXT NOT NULL,
        page INTEGER,
        headers TEXT NOT NULL,
        table_row INTEGER,
        table_column INTEGER,
        canonical TEXT NOT NULL,
        statements TEXT NOT NULL,
        utility REAL NOT NULL,
        layout REAL NOT NULL,
        novelty REAL NOT NULL,
        assertedness REAL NOT NULL
    )
    """,
    "CREATE UNIQUE INDEX segments_position ON segments (document, position)",
    """
    CREATE TABLE contexts (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        segment INTEGER NOT NULL,
        field TEXT NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL,
        confidence REAL NOT NULL,
        start INTEGER,
        stop INTEGER,
        term INTEGER,
        PRIMARY KEY (document, segment, field, position)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE terms (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        number INTEGER NOT NULL,
        id TEXT NOT NULL,
        kind TEXT,
        label TEXT,
        surfaces TEXT,
        first_day TEXT,
        last_day TEXT,
        quantity REAL,
        unit TEXT,
        PRIMARY KEY (document, number)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX terms_id ON terms (document, id)",
    """
    CREATE TABLE edges (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        position INTEGER NOT NULL,
        source INTEGER NOT NULL,
        target INTEGER NOT NULL,
        relation TEXT NOT NULL,
        family TEXT NOT NULL,
        operator TEXT NOT NULL,
        weight REAL NOT NULL,
        distance REAL NOT NULL,
        truth_preserving INTEGER NOT NULL,
        confidence REAL NOT NULL,
        licence TEXT NOT NULL,
        reference TEXT NOT NULL,
        start INTEGER,
        stop INTEGER,
        PRIMARY KEY (document, position)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE postings (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        position INTEGER NOT NULL,
        term INTEGER NOT NULL,
        segment INTEGER NOT NULL,
        start INTEGER NOT NULL,
        stop INTEGER NOT NULL,
        header INTEGER,
        PRIMARY KEY (document, position)
    ) WITHOUT ROWID
    """,
    "CREATE INDEX postings_term ON postings (document, term)",
    """
    CREATE TABLE layers (
        content_hash TEXT NOT NULL,
        layer TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        data BLOB NOT NULL,
        UNIQUE (content_hash, layer, fingerprint)
    )
    """,
    f"PRAGMA application_id = {APPLICATION_ID}",
)

# What models said about texts of a document: one owner for each content and model, so that a row
# itself is small. Numbers only grow, for the oldest rows go first; see `memory.py`.
_V2: Final[Migration] = (
    """
    CREATE TABLE owners (
        number INTEGER PRIMARY KEY,
        content_hash TEXT NOT NULL,
        model TEXT NOT NULL,
        UNIQUE (content_hash, model)
    )
    """,
    *(
        f"""
        CREATE TABLE {name} (
            number INTEGER PRIMARY KEY,
            owner INTEGER NOT NULL REFERENCES owners ON DELETE CASCADE,
            key BLOB NOT NULL,
            value BLOB NOT NULL,
            UNIQUE (owner, key)
        )
        """
        for name in ("embeddings", "judgements")
    ),
)

# A number that changes with every document that comes or goes. Triggers count, so that nobody who
# writes can forget to: a program of version 2 may have the file open while it becomes this version.
_V3: Final[Migration] = (
    f"INSERT INTO meta VALUES ('{VERSION_KEY}', '0')",
    *(
        f"""
        CREATE TRIGGER documents_{what.lower()} AFTER {what} ON documents BEGIN
            UPDATE meta SET value = CAST(value AS INTEGER) + 1 WHERE key = '{VERSION_KEY}';
        END
        """
        for what in ("INSERT", "UPDATE", "DELETE")
    ),
)

# A digest over all rows of a document; see `seal.py`. A document that an older release wrote has
# none until the store is checked.
_V4: Final[Migration] = (
    """
    CREATE TABLE seals (
        document INTEGER PRIMARY KEY REFERENCES documents ON DELETE CASCADE,
        digest TEXT NOT NULL
    )
    """,
)

# Other paths at which the same bytes lie, and how a document is found by the hash of its bytes.
_V5: Final[Migration] = (
    """
    CREATE TABLE places (
        path TEXT PRIMARY KEY,
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE
    ) WITHOUT ROWID
    """,
    "CREATE INDEX places_document ON places (document)",
    "CREATE INDEX documents_source_hash ON documents (source_hash)",
)

# The rows of a document column by column; see `packed_rows.py`. The tables have those that older
# releases wrote, and no index of theirs is asked any more.
_V6: Final[Migration] = (
    """
    CREATE TABLE packed_rows (
        document INTEGER NOT NULL REFERENCES documents ON DELETE CASCADE,
        name TEXT NOT NULL,
        part INTEGER NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (document, name, part)
    )
    """,
    "DROP INDEX IF EXISTS postings_term",
    "DROP INDEX IF EXISTS terms_id",
)

# A checksum for each entry that a model made; see `memory.py`. What older releases wrote has none.
_V7: Final[Migration] = tuple(
    f"ALTER TABLE {name} ADD COLUMN checksum INTEGER" for name in ("embeddings", "judgements")
)

_PARTS: Final = "SELECT name, type, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"

MIGRATIONS: Final[tuple[Migration, ...]] = (_V1, _V2, _V3, _V4, _V5, _V6, _V7)


def migrate(
    connection: sqlite3.Connection, path: Path, *, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Bring a new or older file up to date, in one transaction."""
    with transaction(connection, write=False):  # one view: another process may be making the file
        version = _version(connection, path, migrations)
    if version == len(migrations):
        return
    with transaction(connection, write=True):
        # read again: another process may have migrated while we waited for the lock
        for statements in migrations[_version(connection, path, migrations) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(
            "INSERT OR REPLACE INTO meta VALUES ('schema_version', ?)", (str(len(migrations)),)
        )


def odd_parts(connection: sqlite3.Connection) -> list[str]:
    """Return the tables, indexes and triggers that are not as the migrations make them."""
    with closing(sqlite3.connect(":memory:")) as fresh:
        fresh.isolation_level = None
        migrate(fresh, Path(":memory:"))
        made, found = (set(each.execute(_PARTS)) for each in (fresh, connection))
    return sorted(str(name) for name, *_ in made ^ found)


def _version(connection: sqlite3.Connection, path: Path, migrations: Sequence[Migration]) -> int:
    (mark,) = connection.execute("PRAGMA application_id").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if mark == 0 and tables == 0:
        return 0  # a file that SQLite has just made
    if mark != APPLICATION_ID:
        raise StoreCorrupt(
            f"{str(path)!r} is a database of another program",
            hint="choose another file with --store",
        )
    row = connection.execute("SELECT value FROM meta WHERE key = 'schema_version'").fetchone()
    if row is None or not row[0].isdecimal():
        raise StoreCorrupt(
            f"store {str(path)!r} does not say which version it is",
            hint="move the file away and index again",
        )
    version = int(row[0])
    if version > len(migrations):
        raise StoreTooNew(
            f"store {str(path)!r} has schema version {version}, "
            f"this program knows versions up to {len(migrations)}",
            hint="upgrade abstrag, or choose another file with --store",
        )
    return version
