"""A connection that is made again when it breaks: one transaction at a time, repeated if need be.

Work is a function of a cursor. It runs in one transaction, wholly or not at all, and may run again:
when the connection breaks nobody can tell whether the last commit arrived, so whatever is
handed to `write` must be such that doing it twice is doing it once.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self, TypeVar, cast

import numpy as np
import psycopg
from psycopg import Connection, Cursor
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import Format
from psycopg.types.string import StrDumper, TextBinaryLoader, TextLoader

from abstrag.errors import StoreError
from abstrag.stores.database import ConnectionLock
from abstrag.stores.open import Address
from abstrag.stores.postgres.failures import is_busy, is_passing, translated

MAX_DIMENSIONS: Final = 16_000  # what the type `vector` holds

_HEAD: Final = struct.Struct(">HH")  # how many dimensions, and nothing


class Vector(bytes):
    """A vector in the format the server receives and sends."""


def to_vector(value: bytes) -> Vector | None:
    """Read bytes as 32-bit floats; None when they are not some finite ones."""
    count, rest = divmod(len(value), 4)
    if rest or not 1 <= count <= MAX_DIMENSIONS:
        return None
    floats = np.frombuffer(value, dtype="<f4")
    if not np.isfinite(floats).all():
        return None
    return Vector(_HEAD.pack(count, 0) + floats.astype(">f4").tobytes())


def from_vector(sent: bytes) -> bytes:
    """Return the bytes that became a vector."""
    return np.frombuffer(sent, dtype=">f4", offset=_HEAD.size).astype("<f4").tobytes()


class _VectorDumper(Dumper):
    """Sends a vector as it is; the statement says that it is one."""

    format = Format.BINARY

    def dump(self, obj: Vector) -> Buffer | None:
        return bytes(obj)


def adapt_vectors(connection: Connection[Any]) -> None:
    """Have a connection send vectors."""
    connection.adapters.register_dumper(Vector, _VectorDumper)


# Text as PostgreSQL can hold it: everything but the character NUL, which is written another way.
#
# A document may hold any character, and what a store gives back is what it was given. NUL becomes
# SUB and a digit, and so does SUB itself, so that no two texts become the same one.

_NUL, _SUB = "\0", "\x1a"
_WRITTEN: Final = str.maketrans({_NUL: f"{_SUB}0", _SUB: f"{_SUB}1"})


def escaped(text: str) -> str:
    """Write a text without NUL."""
    return text.translate(_WRITTEN) if _NUL in text or _SUB in text else text


def unescaped(text: str) -> str:
    """Give back what was escaped."""
    if _SUB not in text:
        return text
    return text.replace(f"{_SUB}0", _NUL).replace(f"{_SUB}1", _SUB)


class _Dumper(StrDumper):
    def dump(self, obj: str) -> Buffer | None:
        return super().dump(escaped(obj))


class _Loader(TextLoader):
    def load(self, data: Buffer) -> str | bytes:
        read = super().load(data)
        return unescaped(read) if isinstance(read, str) else read


class _BinaryLoader(TextBinaryLoader):
    def load(self, data: Buffer) -> str | bytes:
        read = super().load(data)
        return unescaped(read) if isinstance(read, str) else read


def adapt_text(connection: Connection[Any]) -> None:
    """Have a connection write and read text this way."""
    connection.adapters.register_dumper(str, _Dumper)
    connection.adapters.register_loader("text", _Loader)
    connection.adapters.register_loader("text", _BinaryLoader)


T = TypeVar("T")


class TransactionCursor(Cursor[Any]):
    """A transaction: it takes statements whose values are marked by `?`, as SQLite has them."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Run a statement."""
        return super().execute(query.replace("?", "%s"), params, **options)


PATIENCE_S: Final = 30.0  # how long to wait for a server that went away in the middle
MIN_SERVER: Final = 14  # the oldest release that its makers still mend

_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_LOOK_S: Final = 0.1  # how often to see how long the server has been silent
_PAUSE_S: Final = (0.05, 2.0)  # between two attempts: the first, and the longest
_DEFAULTS: Final = {
    "application_name": "abstrag",
    "connect_timeout": 10,
    "tcp_user_timeout": 30_000,  # a machine that vanished is noticed, not waited for
}
_READ: Final = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"  # one state, however many reads
_WRITE: Final = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"


class _Silent(psycopg.OperationalError):
    """The server keeps the connection open and does not answer."""


class _Impatient(Connection[Any]):
    """A connection that gives up on a server that does not answer."""

    patience_s = PATIENCE_S

    def wait(
        self, gen: Generator[Any, Any, T], interval: float = _LOOK_S, timeout: float | None = None
    ) -> T:
        """Wait for the server to take or say something, as often as the work needs it."""
        return super().wait(_watched(gen, self.patience_s), interval, timeout)


def _watched(gen: Generator[Any, Any, T], patience_s: float) -> Generator[Any, Any, T]:
    """Pass on what the driver waits for, until nothing has come for too long."""
    since = time.monotonic()
    try:
        wanted = next(gen)
        while True:
            ready = yield wanted
            if ready:
                since = time.monotonic()
            elif time.monotonic() - since > patience_s:
                gen.close()
                raise _Silent(f"nothing came for {patience_s:g} s")
            wanted = gen.send(ready)
    except StopIteration as done:
        result: T = done.value
        return result


class VectorExtension(NamedTuple):
    """What a database has of pgvector."""

    schema: str  # that it lives in, quoted
    chooses: bool  # whether it has all that choosing among documents takes


class Session:
    """Runs transactions on the server at an address, one at a time; threads may share it."""

    def __init__(self, address: Address, *, patience_s: float = PATIENCE_S) -> None:
        self.address = address
        self.vectors: VectorExtension | None = None  # None until the schema was looked at
        self._patience_s = patience_s
        self._connection: Connection[Any] | None = None
        self._lock = ConnectionLock(str(address))

    def connect(self) -> None:
        """Connect for the first time; only a server that is there is worth waiting for."""
        try:
            self._connection = self._connected()
        except psycopg.Error as error:
            if not is_busy(error):
                raise translated(error, self.address) from error
            self.read(lambda run: run.execute("SELECT 1"))

    def read(self, work: Callable[[TransactionCursor], T]) -> T:
        """Do work that sees one state of the store, whatever others write meanwhile."""
        return self._again_and_again(lambda: self._once(_READ, work))

    def write(self, work: Callable[[TransactionCursor], T]) -> T:
        """Do work that changes the store; it may run more than once."""
        return self._again_and_again(lambda: self._once(_WRITE, work))

    def ask(
        self, *statements: tuple[str, Any], settings: Mapping[str, str] = _NONE
    ) -> list[list[Any]]:
        """Return the rows of statements that only read and see one state, in one round trip.

        Args:
            statements: Each with its values.
            settings: Of the server, for these statements.
        """

        def once() -> list[list[Any]]:
            connection = self._there()
            with self._undone(connection):
                with connection.pipeline():  # which waits once, at its end
                    connection.execute(_READ)
                    connection.execute(f"SET LOCAL search_path = {self._search_path()}")
                    for name, value in settings.items():
                        connection.execute(f"SET LOCAL {name} = {value}")
                    asked = [connection.cursor(binary=True).execute(*each) for each in statements]
                    connection.execute("COMMIT")
                return [run.fetchall() for run in asked]

        return self._again_and_again(once)

    def lock(self, run: TransactionCursor, kind: str, names: Iterable[str]) -> None:
        """Lock some names against other writers until this transaction ends."""
        for number in sorted({self._lock_number(kind, name) for name in names}):
            run.execute("SELECT pg_advisory_xact_lock(?)", (number,))

    def close(self) -> None:
        """Close the connection; closing twice is fine."""
        self._lock.end(self._drop)

    def _again_and_again(self, once: Callable[[], T]) -> T:
        deadline: float | None = None
        pause_s, longest_s = _PAUSE_S
        while True:
            try:
                with self._lock.taken():  # anew for each attempt: others need not wait with us
                    return once()
            except UnicodeEncodeError as error:
                raise translated(error, self.address) from error
            except _Silent as error:  # waiting again would take as long again
                raise StoreError(
                    f"the server of store {str(self.address)!r} has not answered for "
                    f"{self._patience_s:g} s",
                    hint="see whether the server is overloaded, frozen or waits for a lock",
                ) from error
            except psycopg.Error as error:
                deadline = deadline or time.monotonic() + self._patience_s
                if not is_passing(error) or time.monotonic() + pause_s > deadline:
                    raise translated(error, self.address) from error
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, longest_s)

    def _once(self, begin: str, work: Callable[[TransactionCursor], T]) -> T:
        """Run one transaction; a connection that is left in doubt is dropped."""
        connection = self._there()
        with self._undone(connection):
            # set anew each time: a pooler may hand every transaction to another connection
            connection.execute(f"{begin}; SET LOCAL search_path = {self._search_path()}")
            with cast("TransactionCursor", connection.cursor(binary=True)) as run:
                result = work(run)
            connection.execute("COMMIT")
        return result

    def _there(self) -> Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = self._connected()
        return self._connection

    @contextmanager
    def _undone(self, connection: Connection[Any]) -> Iterator[None]:
        """Undo the transaction of a block that fails."""
        try:
            yield
        except _Silent:
            self._drop()
            raise
        except BaseException:
            try:
                connection.execute("ROLLBACK")
            except psycopg.Error:
                self._drop()
            raise

    def _connected(self) -> Connection[Any]:
        options: dict[str, Any] = {**_DEFAULTS, **conninfo_to_dict(self.address.conninfo)}
        connection = _Impatient.connect(
            make_conninfo(**options),
            autocommit=True,
            prepare_threshold=None,
            cursor_factory=TransactionCursor,
        )
        connection.patience_s = self._patience_s
        try:
            self._see_that_it_fits(connection)
            adapt_text(connection)
            adapt_vectors(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _see_that_it_fits(self, connection: Connection[Any]) -> None:
        version = connection.info.server_version
        if version < MIN_SERVER * 10_000:
            raise StoreError(
                f"the server of store {str(self.address)!r} is PostgreSQL {version // 10_000}",
                hint=f"PostgreSQL {MIN_SERVER} or newer is needed",
            )
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise StoreError(
                f"the database of store {str(self.address)!r} is encoded in {encoding}, not UTF8",
                hint="make one with createdb --encoding=UTF8 --template=template0",
            )

    def _search_path(self) -> str:
        ours = f'"{self.address.schema}"'
        return f"{ours}, {self.vectors.schema}" if self.vectors else ours

    def _lock_number(self, kind: str, name: str) -> int:
        text = "\0".join((self.address.schema, kind, name))
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        return int.from_bytes(digest, "big", signed=True)

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
