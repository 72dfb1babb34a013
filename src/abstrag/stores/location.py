"""Where the store is when nobody says, and how to tell a store file from any other."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from platformdirs import user_data_dir

from abstrag.errors import StoreError
from abstrag.sqlite_file import bears_mark
from abstrag.stores.postgres.address import is_address

STORE_VARIABLE: Final = "ABSTRAG_STORE"
STORE_NAME: Final = "store.db"
MEMORY: Final = ":memory:"  # in place of a path: a store without a file
APPLICATION_ID: Final = 0x41627352  # "AbsR": marks an SQLite file as ours, in its header


def default_store_path() -> Path:
    """Return the path in `ABSTRAG_STORE`, or else the store in the user's data folder."""
    chosen = os.environ.get(STORE_VARIABLE)
    if is_address(chosen):
        raise StoreError(
            f"{STORE_VARIABLE} names a PostgreSQL server where a file is needed",
            hint="name the file with --store",
        )
    if chosen:
        return Path(chosen).expanduser()
    return Path(user_data_dir("abstrag", appauthor=False)) / STORE_NAME


def in_memory(target: str | Path) -> bool:
    """True for the name of a store that has no file; each that is opened is another one."""
    return str(target) == MEMORY


def is_store(path: str | Path) -> bool:
    """True when a file says in its first bytes that it is a store of ours."""
    return bears_mark(path, APPLICATION_ID)
