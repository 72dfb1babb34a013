"""How our files are written, read, locked and mapped into memory.

What is written is there as a whole or not at all, and no power failure takes it back.
"""

from __future__ import annotations

import errno
import importlib
import json
import os
import sqlite3
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryFile
from types import ModuleType
from typing import IO, Any, Final
from weakref import finalize

import numpy as np
import numpy.typing as npt

_CANNOT: Final = frozenset({errno.EINVAL, errno.ENOTSUP, errno.EACCES, errno.EBADF})


def write_whole(path: Path, text: str) -> None:
    """Put a file in place, over another one if need be; nobody ever sees half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = NamedTemporaryFile(  # noqa: SIM115
        "w", dir=path.parent, delete=False, encoding="utf-8", newline="\n"
    )
    draft = Path(file.name)
    try:
        with file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)  # closed by now: Windows removes no open file
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """See that names in a folder outlive a power failure; a rename is only safe when they do.

    Some file systems cannot do that for a folder, and then nobody can.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        if error.errno in _CANNOT:
            return
        raise
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _CANNOT:
            raise
    finally:
        os.close(handle)


def read_data_file(package: str, name: str) -> dict[str, Any]:
    """Read a TOML file of one of our packages; its tables keep the order of the file."""
    return tomllib.loads(resources.files(package).joinpath(name).read_text("utf-8"))


# A lock of the system falls open when its process dies.

_PAUSE_S: Final = 0.05  # Windows tells nobody when a lock is free


@contextmanager
def file_locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Hold a lock that only those respect who ask for it; the file is made where there is none.

    Raises:
        BlockingIOError: Somebody else holds it, and `wait` is False.
        OSError: The file cannot be written.
    """
    take = _taker()
    with path.open("w") as handle:
        while not take(handle.fileno(), wait):
            if not wait:
                raise BlockingIOError(f"{str(path)!r} is locked")
            time.sleep(_PAUSE_S)
        yield


def _taker() -> Callable[[int, bool], bool]:
    """Return how this system locks a file: by `flock`, or by the first byte on Windows."""
    try:
        return _by_flock(importlib.import_module("fcntl"))
    except ImportError:
        return _by_first_byte(importlib.import_module("msvcrt"))


def _by_flock(fcntl: ModuleType) -> Callable[[int, bool], bool]:
    def take(descriptor: int, wait: bool) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return False
        return True

    return take


def _by_first_byte(msvcrt: ModuleType) -> Callable[[int, bool], bool]:
    def take(descriptor: int, _wait: bool) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    return take


# Arrays in one file that is mapped into memory, so that opening it costs nothing.
#
# First comes what kind of file it is, then the length of a head, the head as JSON with the name,
# type and shape of each array, and the arrays, each at a multiple of 64 bytes.

_LINE: Final = 64  # bytes: arrays begin at a multiple of it
_AT_A_TIME: Final = 1 << 20  # bytes that are written at once
_HELD: Final = 8 << 20  # bytes of an array that grows before it goes to a file

Arrays = Mapping[str, npt.NDArray[Any]]


def file_parts(magic: bytes, arrays: Arrays) -> Iterator[bytes]:
    """Return the bytes of a file with some arrays, in pieces."""
    listed = [(name, array.dtype.str, array.shape) for name, array in arrays.items()]
    head = json.dumps(listed).encode()
    head = magic + len(head).to_bytes(8, "little") + head
    yield head + bytes(-len(head) % _LINE)
    for array in arrays.values():
        flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        for start in range(0, len(flat), _AT_A_TIME):  # a long array is not copied as a whole
            yield flat[start : start + _AT_A_TIME].tobytes()
        yield bytes(-len(flat) % _LINE)


def mapped_arrays(magic: bytes, data: memoryview) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays that lie in a file, by name; nothing of them is copied.

    Raises:
        ValueError: The file is something else, or a part of one.
    """
    at = len(magic) + 8
    if bytes(data[: len(magic)]) != magic:
        raise ValueError(f"the file does not begin with {magic!r}")
    size = int.from_bytes(data[len(magic) : at], "little")
    listed = json.loads(bytes(data[at : at + size]))
    at = _up(at + size)
    found: dict[str, npt.NDArray[Any]] = {}
    for name, kind, shape in listed:
        count = int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data, np.dtype(kind), count=count, offset=at)
        found[name] = array.reshape(shape)
        at = _up(at + array.nbytes)
    if at != len(data):
        raise ValueError(f"{len(data)} bytes, not {at}")
    return found


class GrowingArray:
    """An array that is put together row by row; a long one lies in a temporary file."""

    def __init__(self, kind: npt.DTypeLike, *, folder: Path | None = None) -> None:
        """Begin; `folder` is where the file goes, None for where temporary files usually do."""
        self._kind, self._folder = np.dtype(kind), folder
        self._parts: list[npt.NDArray[Any]] = []
        self._held = 0  # bytes of the parts
        self._width: tuple[int, ...] = ()  # of a row that is an array
        self._file: IO[bytes] | None = None
        self._rows = 0

    def add(self, rows: npt.NDArray[Any]) -> None:
        """Put some rows at the end."""
        part = np.ascontiguousarray(rows, self._kind)
        self._width = part.shape[1:]
        self._parts.append(part)
        self._rows += len(part)
        self._held += part.nbytes
        if self._held > _HELD:
            self._spill()

    def array(self) -> npt.NDArray[Any]:
        """Return all rows; more may be added later, and are not in it."""
        if self._file is None:
            parts = self._parts or [np.empty(0, self._kind)]
            return np.concatenate(parts)
        self._spill()
        self._file.flush()
        shape = (self._rows, *self._width)
        return np.memmap(self._file, self._kind, mode="r", shape=shape)

    def __len__(self) -> int:
        return self._rows

    def _spill(self) -> None:
        if self._file is None:
            self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 - closed by the next line
            finalize(self, self._file.close)  # an array that is mapped from it stays
        for part in self._parts:
            self._file.write(part.tobytes())
        self._parts, self._held = [], 0


def _up(at: int) -> int:
    return at + -at % _LINE


# SQLite files: readers go on beside a writer, and there is one transaction at a time.

BUSY_S: Final = 30.0  # how long to wait for another process to finish its write

_BUSY: Final = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_MAGIC: Final = b"SQLite format 3\0"
_APPLICATION_ID_AT: Final = 68


def bears_mark(path: str | Path, application_id: int) -> bool:
    """True when a file says in its first bytes that it is SQLite's, and of this application."""
    try:
        if not Path(path).is_file():  # a pipe would have to be waited for
            return False
        with Path(path).open("rb") as file:
            head = file.read(_APPLICATION_ID_AT + 4)
    except (OSError, ValueError):  # a name that no file can have
        return False
    mark = head[_APPLICATION_ID_AT:]
    return head.startswith(_MAGIC) and mark == application_id.to_bytes(4, "big")


def use_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Let readers go on while one process writes."""
    deadline = time.monotonic() + BUSY_S
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            # SQLite does not wait here by itself when two processes make the same new file
            if result_code(error) not in _BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


@contextmanager
def transaction(connection: sqlite3.Connection, *, write: bool) -> Iterator[None]:
    """Run a block as one transaction; an error in it leaves everything as it was."""
    connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


@contextmanager
def part(connection: sqlite3.Connection, *, write: bool) -> Iterator[None]:
    """Run a block as a part of the transaction that is open; an error undoes that part."""
    if not connection.in_transaction:  # an error of the disk undid all of it
        raise sqlite3.OperationalError("the transaction was rolled back")
    if not write:
        yield
        return
    connection.execute("SAVEPOINT part")
    try:
        yield
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK TO part")
            connection.execute("RELEASE part")
        raise
    connection.execute("RELEASE part")


def result_code(error: sqlite3.Error) -> int | None:
    """Return the primary result code of an error."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


def is_folder(path: Path) -> bool:
    """True for a folder; a name that no file can have is none."""
    try:
        return path.is_dir()
    except OSError:
        return False


def is_regular(path: Path) -> bool:
    """True for a file that can be read from beginning to end."""
    try:
        return path.is_file()
    except OSError:
        return False
