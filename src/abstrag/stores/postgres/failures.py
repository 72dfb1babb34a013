"""Errors of a PostgreSQL server as ours: one sentence and a hint.

Once connected the server gives a code with every error. A connection that does not come about has
none: what the server said then is told by its words, and by whether it ever asked for a password.
"""

from __future__ import annotations

from typing import Final

import psycopg
from psycopg import errors

from abstrag.errors import AbstragError, InputError, StoreCorrupt, StoreError, StoreReadOnly
from abstrag.stores.open import Address

# May go away by itself: the server stops, starts or is full, or another writer was in the way.
_PASSING: Final = frozenset(
    {
        "57P01",  # an administrator ended the connection, or stops the server
        "57P02",  # another process of the server crashed
        "57P03",  # the server is starting
        "57P05",  # the connection was idle for too long
        "53300",  # too many connections
        "40001",  # two transactions cannot be put one after the other
        "40P01",  # two transactions wait for each other
        "23505",  # two writers chose the same name; the second chooses again
        "23P01",  # two writers brought the same source
    }
)
_CONNECTION: Final = "08"  # the class of codes for a connection that broke

_FULL: Final = "raise max_connections on the server, or use fewer workers"
_BUSY: Final = (
    (("starting up", "not yet accepting connections", "in recovery mode"), "wait a moment"),
    (("shutting down",), "start the server again"),
    (("too many clients", "remaining connection slots"), _FULL),
)
_REFUSED: Final = (
    (
        ("password authentication failed", "no password supplied"),
        "check the user and the password; PGPASSWORD or ~/.pgpass can hold it",
    ),
    (("no pg_hba.conf entry",), "the server's pg_hba.conf must allow this user from this machine"),
    (('role "',), "create the user with createuser, or name another one in the address"),
    (('database "',), "create the database with createdb, or name another one in the address"),
)
_ASKED: Final = "check user, password and database of the address"
_UNREACHABLE: Final = "see that the server runs, and that host and port in the address are right"
_HINTS: Final[tuple[tuple[type[psycopg.Error], str], ...]] = (
    (errors.DiskFull, "free some disk space on the server"),
    (errors.TooManyConnections, _FULL),
    (errors.InsufficientPrivilege, "GRANT CREATE ON DATABASE … TO the user of the address"),
    (errors.ReadOnlySqlTransaction, "the server is a replica; give the address of the primary"),
)
_BROKEN: Final = (errors.UndefinedTable, errors.UndefinedColumn)


def is_busy(error: psycopg.Error) -> bool:
    """True when a server is there and will take connections in a moment."""
    return _no_code(error) and _hint(_BUSY, error) is not None


def is_passing(error: psycopg.Error) -> bool:
    """True when the same work may succeed a moment later."""
    if _no_code(error):  # the connection broke, or there was none to be had
        return is_busy(error) or _refusal(error) is None
    code = error.sqlstate or ""
    return code in _PASSING or code.startswith(_CONNECTION)


def translated(error: Exception, address: Address) -> AbstragError:
    """Return our error for one of the driver."""
    if isinstance(error, UnicodeEncodeError):  # a file name of raw bytes, as some systems allow
        return InputError(
            f"{error.object!r} is not valid Unicode and cannot be stored", hint="rename the file"
        )
    said, name = " ".join(str(error).split()), str(address)
    if isinstance(error, _BROKEN):
        return corrupt(address, said)
    if isinstance(error, psycopg.Error) and _no_code(error):
        if (hint := _hint(_BUSY, error)) is not None:
            return StoreError(f"the server of store {name!r} is busy: {said}", hint=hint)
        if (hint := _refusal(error)) is not None:
            return StoreError(f"the server of store {name!r} refuses us: {said}", hint=hint)
        return StoreError(
            f"the server of store {name!r} cannot be reached: {said}", hint=_UNREACHABLE
        )
    hint = next((text for kind, text in _HINTS if isinstance(error, kind)), None)
    read_only = isinstance(error, errors.DiskFull | errors.ReadOnlySqlTransaction)
    made = StoreReadOnly if read_only else StoreError
    return made(f"store {name!r} cannot be used: {said}", hint=hint)


def corrupt(address: Address, problem: object) -> StoreCorrupt:
    """Say that the schema at an address is no store, or a broken one."""
    return StoreCorrupt(
        f"{str(address)!r} is not a store or is broken: {problem}",
        hint="name another schema with ?schema=NAME, or drop this one and index again",
    )


def _no_code(error: psycopg.Error) -> bool:
    return isinstance(error, psycopg.OperationalError) and error.sqlstate is None


def _refusal(error: psycopg.Error) -> str | None:
    """Return the hint for a refused connection; None if waiting may help."""
    if (hint := _hint(_REFUSED, error)) is not None:
        return hint
    tried = error.pgconn  # only there when no connection came about
    asked = tried is not None and (tried.needs_password or tried.used_password)
    return _ASKED if asked else None  # in whatever language the server speaks


def _hint(cases: tuple[tuple[tuple[str, ...], str], ...], error: psycopg.Error) -> str | None:
    said = str(error)
    return next((hint for words, hint in cases if any(word in said for word in words)), None)
