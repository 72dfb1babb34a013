"""The tables of a PostgreSQL store, and how a schema of an older version becomes a current one.

A version is the number of migrations a schema has been through; they stand in `schema.sql`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from psycopg import errors

from abstrag.errors import StoreCorrupt, StoreError, StoreTooNew
from abstrag.stores.database import Migration, read_migrations
from abstrag.stores.postgres.failures import corrupt
from abstrag.stores.postgres.session import Session, TransactionCursor, VectorExtension

MIGRATIONS: Final = read_migrations("abstrag.stores.postgres")
_CHOOSES: Final = (0, 8)  # of pgvector: with `halfvec`, and scans that go on until filters are met


def migrate(
    session: Session, *, create: bool, migrations: Sequence[Migration] = MIGRATIONS
) -> None:
    """Bring a new or older schema up to date, in one transaction; `create` makes a missing one."""
    version, session.vectors = session.read(
        lambda run: (_version(run, session, len(migrations)), _extension(run))
    )
    if version == 0 and not create:
        raise StoreError(
            f"no store at {str(session.address)!r}", hint="abstrag index FILE makes one"
        )
    if version == len(migrations) and session.vectors:
        return

    def work(run: TransactionCursor) -> VectorExtension:
        session.lock(run, "schema", [session.address.schema])
        ours = session.address.schema
        if run.execute("SELECT to_regnamespace(?) IS NULL", (ours,)).fetchone() == (True,):
            run.execute(f'CREATE SCHEMA "{ours}"')
        vectors = _extension(run) or _install(run, session)
        run.execute(f'SET LOCAL search_path = "{ours}", {vectors.schema}')
        # read again: another process may have migrated while we waited for the lock
        for statements in migrations[_version(run, session, len(migrations)) :]:
            for statement in statements:
                run.execute(statement)
        run.execute(
            "INSERT INTO meta VALUES ('schema_version', ?) "
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (str(len(migrations)),),
        )
        return vectors

    session.vectors = session.write(work)


def _version(run: TransactionCursor, session: Session, newest: int) -> int:
    address = session.address
    tables = {
        name
        for (name,) in run.execute(
            "SELECT tablename::text FROM pg_catalog.pg_tables WHERE schemaname = ?",
            (address.schema,),
        )
    }
    if not tables:
        return 0
    facts = dict(run.execute("SELECT key, value FROM meta")) if "meta" in tables else {}
    if facts.get("application") != "abstrag":
        raise StoreCorrupt(
            f"the schema {address.schema!r} of {str(address)!r} belongs to another program",
            hint="name another schema with ?schema=NAME",
        )
    version = facts.get("schema_version", "")
    if not version.isdecimal():
        raise corrupt(address, "it does not say which version it is")
    if int(version) > newest:
        raise StoreTooNew(
            f"store {str(address)!r} has schema version {version}, "
            f"this program knows versions up to {newest}",
            hint="upgrade abstrag, or name another schema with ?schema=NAME",
        )
    return int(version)


def _extension(run: TransactionCursor) -> VectorExtension | None:
    """Return what the database has of pgvector, where it has it."""
    row = run.execute(
        "SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e "
        "JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
    ).fetchone()
    if row is None:
        return None
    schema, version = row
    return VectorExtension(schema, tuple(int(part) for part in version.split(".")[:2]) >= _CHOOSES)


def _install(run: TransactionCursor, session: Session) -> VectorExtension:
    """Add pgvector to the database, where the server has it and we may."""
    name = str(session.address)
    if not run.execute("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'").fetchone():
        raise StoreError(
            f"the server of store {name!r} lacks the extension 'vector'",
            hint="install pgvector on the server, as the package postgresql-NN-pgvector or from "
            "its source",
        )
    try:
        run.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
    except (errors.InsufficientPrivilege, errors.InvalidSchemaName) as error:
        raise StoreError(
            f"the database of store {name!r} lacks the extension 'vector', "
            "and its user may not add it",
            hint="have an administrator run CREATE EXTENSION vector in that database",
        ) from error
    found = _extension(run)
    assert found is not None
    return found
