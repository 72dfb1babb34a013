"""What names a store: the path of a file or the address of a server, and the default of both.

The address of a PostgreSQL server is a URL as PostgreSQL's own tools take it, plus `schema=NAME`:
which of the database's schemas holds the library. Only the server sees a password in it.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeGuard
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from platformdirs import user_data_dir

from abstrag.errors import InputError, StoreError
from abstrag.sqlite_file import bears_mark

SCHEMES: Final = ("postgresql", "postgres")
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
