"""Opening a store by what a person calls it: a file, `:memory:`, or the address of a server."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from platformdirs import user_data_dir

from abstrag.errors import ResourceMissing, StoreError
from abstrag.stores.location import (
    STORE_VARIABLE,
    Address,
    default_store_path,
    in_memory,
    is_address,
)
from abstrag.stores.protocol import Store
from abstrag.stores.sqlite import SqliteStore

Target = str | Path


def default_store() -> Target:
    """Return what `ABSTRAG_STORE` names, or else the store in the user's data folder."""
    chosen = os.environ.get(STORE_VARIABLE, "")
    return chosen if is_address(chosen) else default_store_path()


def shown(target: Target) -> str:
    """Name a store to a person, without a password."""
    return str(Address.parse(target)) if is_address(target) else str(target)


def resolved(target: Target) -> Target:
    """Make a path independent of the folder we are in; an address and `:memory:` are already."""
    return target if is_address(target) or in_memory(target) else Path(target).resolve()


def beside(target: Target, suffix: str) -> Path:
    """Return the path for what belongs to a store and is not in it: `store.db` and a suffix.

    What belongs to a server lies in the user's data folder, called by a hash of the address.

    Raises:
        StoreError: The store is in memory, and nothing is kept beside it.
    """
    if in_memory(target):
        raise StoreError(
            f"a store in memory keeps nothing beside it, such as {suffix!r}",
            hint="name a file with --store",
        )
    if is_address(target):
        name = sha256(shown(target).encode()).hexdigest()[:16]
        return Path(user_data_dir("abstrag", appauthor=False)) / "servers" / f"{name}{suffix}"
    path = Path(target)
    return path.with_name(f"{path.name}{suffix}")


def open_store(target: Target, *, create: bool = True) -> Store:
    """Open the store that a path or an address names; `create` makes a missing one.

    Threads may share what is opened; another process opens its own. `:memory:` is a new and private
    store each time, and without `create` there is none.
    """
    if not is_address(target):
        return SqliteStore.open(target, create=create)
    try:
        from abstrag.stores.postgres.store import PostgresStore
    except ImportError as error:  # the driver, or the library it needs
        raise ResourceMissing(
            f"a store on a PostgreSQL server needs the driver psycopg: {error}",
            hint="pip install 'abstrag[postgres]'",
        ) from error
    return PostgresStore.open(target, create=create)
