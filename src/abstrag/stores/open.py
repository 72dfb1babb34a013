"""Opening a store by what a person calls it: a file, `:memory:`, or the address of a server.

The address of a PostgreSQL server is a URL as PostgreSQL's own tools take it, plus `schema=NAME`:
which of the database's schemas holds the library. Only the server sees a password in it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeGuard
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from platformdirs import user_data_dir

from abstrag.errors import InputError, ResourceMissing, StoreError
from abstrag.stores.database import SCHEMES
from abstrag.stores.protocol import Store
from abstrag.stores.sqlite import SqliteStore, in_memory

DEFAULT_SCHEMA: Final = "abstrag"

_SECRET: Final = frozenset({"password", "sslpassword"})
_SCHEMA_NAME: Final = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,62}")
_FORM: Final = (
    "write postgresql://USER@HOST:PORT/DATABASE, with % codes for special characters in a "
    "password, or leave the password to PGPASSWORD or ~/.pgpass"
)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a store is: `shown` for people, `conninfo` for the driver only."""

    shown: str
    schema: str
    conninfo: str = field(repr=False)

    def __str__(self) -> str:
        return self.shown

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read an address; one that cannot be read is not shown, for it may hold a password."""
        try:
            parts = urlsplit(text)
            _ = parts.port if "," not in parts.netloc else None  # several hosts have several ports
            pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        except ValueError:
            raise _unreadable() from None
        if parts.scheme not in SCHEMES or "@" in parts.path or parts.fragment:
            raise _unreadable()
        options = dict(pairs)
        schema = options.pop("schema", DEFAULT_SCHEMA)
        if not _SCHEMA_NAME.fullmatch(schema):
            raise InputError(
                f"{schema!r} is no name for a schema of ours",
                hint="use small letters, digits and _, not starting with a digit or pg_",
            )
        userinfo, at, hosts = parts.netloc.rpartition("@")
        public = f"{userinfo.partition(':')[0]}{at}{hosts}"
        visible = {name: value for name, value in options.items() if name not in _SECRET}
        if schema != DEFAULT_SCHEMA:
            visible["schema"] = schema
        return cls(
            shown=_url(public, parts.path, visible),
            schema=schema,
            conninfo=_url(parts.netloc, parts.path, options),
        )


def is_address(target: object) -> TypeGuard[str]:
    """True for text that names a PostgreSQL server and not a file; a `Path` never does."""
    return isinstance(target, str) and target.startswith(tuple(f"{s}://" for s in SCHEMES))


def _url(netloc: str, path: str, options: dict[str, str]) -> str:
    query = urlencode(options, quote_via=quote, safe="/")
    written = urlunsplit(("postgresql", netloc, path, query, ""))
    # with nobody between the slashes the host is this machine's socket
    return written if netloc else written.replace("postgresql:/", "postgresql:///", 1)


def _unreadable() -> InputError:
    return InputError("the address of the PostgreSQL store cannot be read", hint=_FORM)


STORE_VARIABLE: Final = "ABSTRAG_STORE"
STORE_NAME: Final = "store.db"


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
