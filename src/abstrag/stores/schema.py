"""The tables of the embedded store, and how a file of an older version becomes a current one.

A version is the number of migrations a file has been through; they stand in `schema.sql`.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from importlib import resources
from pathlib import Path
from typing import Final

from abstrag.errors import StoreCorrupt, StoreTooNew
from abstrag.sqlite_file import transaction
from abstrag.stores.location import APPLICATION_ID

Migration = tuple[str, ...]

VERSION_KEY: Final = "documents_version"  # in `meta`: how often documents came, changed or went


def read_migrations(package: str) -> tuple[Migration, ...]:
    """Return the statements of each version in the file `schema.sql` of a package."""
    text = resources.files(package).joinpath("schema.sql").read_text("utf-8")
    _, *versions = re.split(r"^-- version \d+$", text, flags=re.MULTILINE)
    parts = ([part.strip() for part in version.split("\n\n")] for version in versions)
    return tuple(tuple(p for p in some if p and not p.startswith("-- ")) for some in parts)


_PARTS: Final = (  # older releases left white space at the end of a statement
    "SELECT name, type, tbl_name, rtrim(sql, ' ' || char(10)) FROM sqlite_master "
    "WHERE name NOT LIKE 'sqlite_%'"
)
MIGRATIONS: Final = read_migrations("abstrag.stores")


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
