"""The address of a PostgreSQL store, and what of it may be shown.

An address is a URL as PostgreSQL's own tools take it, plus `schema=NAME`: which of the database's
schemas holds the library. A password in it is for the server alone; nothing here shows it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, TypeGuard
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from abstrag.errors import InputError

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
