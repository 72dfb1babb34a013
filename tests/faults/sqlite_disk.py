"""A disk under SQLite that fails when it is told to, and forgets what was not synced.

SQLite reaches the disk through a table of functions, its VFS. Here that table is replaced by one
that counts every write, sync, truncation and deletion, fails the n-th of them, or ends there as a
power cut does: nothing can be written any more, and whatever was not synced may be gone.
"""

import _sqlite3
import ctypes
import random
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

_OK, _FULL = 0, 13
_IOERR_WRITE, _IOERR_FSYNC, _IOERR_DELETE, _IOERR_READ = 778, 1034, 2570, 266
_IOERR_TRUNCATE = 1546
_READ_AT, _WRITE_AT, _TRUNCATE_AT, _SYNC_AT, _SIZE_AT, _METHODS = 2, 3, 4, 5, 6, 19
_OPEN_AT, _DELETE_AT, _VFS_WORDS = 5, 6, 22  # in words of eight bytes; the first two ints share one

_Word = ctypes.c_void_p
_OPEN = ctypes.CFUNCTYPE(
    ctypes.c_int, _Word, _Word, _Word, ctypes.c_int, ctypes.POINTER(ctypes.c_int)
)
_DELETE = ctypes.CFUNCTYPE(ctypes.c_int, _Word, _Word, ctypes.c_int)
_TRANSFER = ctypes.CFUNCTYPE(ctypes.c_int, _Word, _Word, ctypes.c_int, ctypes.c_int64)
_TRUNCATE = ctypes.CFUNCTYPE(ctypes.c_int, _Word, ctypes.c_int64)
_SYNC = ctypes.CFUNCTYPE(ctypes.c_int, _Word, ctypes.c_int)
_SIZE = ctypes.CFUNCTYPE(ctypes.c_int, _Word, ctypes.POINTER(ctypes.c_int64))


class Fault(StrEnum):
    """What goes wrong at the n-th call, and after it."""

    ONCE = "it fails, and the next ones work"
    FULL = "from then on the disk is full"
    BROKEN = "from then on every call fails"
    CUT = "the power is cut: all that was not synced is gone"
    TORN = "the power is cut: some of what was not synced is gone"
    READ = "the n-th read fails"


@dataclass
class _File:
    """What a file was like when it was last synced, as the writes to take back."""

    path: Path
    undo: list[tuple[int, bytes, int]] = field(default_factory=list)  # offset, bytes, size before


@dataclass
class Disk:
    """Counts calls and decides which of them fails."""

    fault: Fault = Fault.ONCE
    at: int | None = None  # None: nothing fails, calls are only counted
    calls: int = 0
    down: bool = False
    files: dict[Path, _File] = field(default_factory=dict)

    @property
    def struck(self) -> bool:
        """True when the fault has happened."""
        return self.at is not None and self.calls >= self.at

    def goes_wrong(self, *, reading: bool = False) -> bool:
        """Count a call and tell whether it fails."""
        if reading is not (self.fault is Fault.READ):
            return self.down
        self.calls += 1
        if self.calls == self.at and self.fault in (Fault.BROKEN, Fault.CUT, Fault.TORN):
            self.down = True
        if self.fault is Fault.FULL:
            return self.struck
        return self.down or self.calls == self.at

    def forget_unsynced(self) -> None:
        """Leave on the disk what a power cut leaves; nobody may have a file open any more."""
        if self.fault not in (Fault.CUT, Fault.TORN) or not self.struck:
            return
        rng = random.Random(self.at)
        for file in self.files.values():
            if not file.path.exists():
                continue
            data = bytearray(file.path.read_bytes())
            for offset, before, size in reversed(file.undo):
                if self.fault is Fault.TORN and rng.random() < 0.5:
                    continue
                data[offset : offset + len(before)] = before
                if self.fault is Fault.CUT:
                    del data[size:]
            file.path.write_bytes(data)
        for index in {
            file.path.with_name(f"{_main(file.path)}-shm") for file in self.files.values()
        }:
            index.unlink(missing_ok=True)  # it lies in memory, and memory is gone


def _path(name: int) -> Path:
    return Path(ctypes.string_at(name).decode())


def _main(path: Path) -> str:
    return path.name.removesuffix("-wal").removesuffix("-journal")


class _Shim:
    """The replaced table of functions; one for the process, over whichever disk is in place."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(_sqlite3.__file__)
        self.library.sqlite3_vfs_find.restype = ctypes.c_void_p
        self.library.sqlite3_vfs_register.argtypes = [ctypes.c_void_p, ctypes.c_int]
        self.library.sqlite3_vfs_unregister.argtypes = [ctypes.c_void_p]
        self.disk: Disk | None = None
        self.usual = self.library.sqlite3_vfs_find(None)
        self._alive: list[Any] = []  # what SQLite holds pointers to
        self._tables: dict[int, Any] = {}
        self._open: dict[int, tuple[_File | None, Any]] = {}
        words = (ctypes.c_uint64 * _VFS_WORDS).from_address(self.usual)
        self.table = (ctypes.c_uint64 * _VFS_WORDS)(*words)
        self.table[3] = ctypes.cast(self._kept(ctypes.c_char_p(b"faulty")), _Word).value or 0
        self._usual_open = ctypes.cast(words[_OPEN_AT], _OPEN)
        self._usual_delete = ctypes.cast(words[_DELETE_AT], _DELETE)
        self.table[_OPEN_AT] = self._pointer(_OPEN(self._opened))
        self.table[_DELETE_AT] = self._pointer(_DELETE(self._deleted))

    def _kept(self, value: Any) -> Any:
        self._alive.append(value)
        return value

    def _pointer(self, function: Any) -> int:
        return ctypes.cast(self._kept(function), _Word).value or 0

    def _opened(self, _vfs: int, name: int | None, file: int, flags: int, out: Any) -> int:
        # the name is handed on where it lies: settings stand behind its end
        found: int = self._usual_open(self.usual, name, file, flags, out)
        slot = ctypes.c_uint64.from_address(file)
        if found == _OK and slot.value:
            path = _path(name) if name else None
            known = None
            if path is not None and self.disk is not None:
                known = self.disk.files.setdefault(path, _File(path))
            usual = (ctypes.c_uint64 * _METHODS).from_address(slot.value)
            self._open[file] = (known, usual)
            slot.value = ctypes.addressof(self._methods(slot.value, usual))
        return found

    def _methods(self, address: int, usual: Any) -> Any:
        if address not in self._tables:
            made = (ctypes.c_uint64 * _METHODS)(*usual)
            made[_READ_AT] = self._pointer(_TRANSFER(self._read))
            made[_WRITE_AT] = self._pointer(_TRANSFER(self._written))
            made[_TRUNCATE_AT] = self._pointer(_TRUNCATE(self._truncated))
            made[_SYNC_AT] = self._pointer(_SYNC(self._synced))
            self._tables[address] = made
        return self._tables[address]

    def _deleted(self, _vfs: int, name: int, sync: int) -> int:
        if self.disk is not None and self.disk.goes_wrong():
            return _IOERR_DELETE
        done: int = self._usual_delete(self.usual, name, sync)
        if self.disk is not None:
            self.disk.files.pop(_path(name), None)
        return done

    def _read(self, file: int, into: int, length: int, offset: int) -> int:
        if self.disk is not None and self.disk.goes_wrong(reading=True):
            return _IOERR_READ
        return int(
            ctypes.cast(self._open[file][1][_READ_AT], _TRANSFER)(file, into, length, offset)
        )

    def _written(self, file: int, data: int, length: int, offset: int) -> int:
        known, usual = self._open[file]
        if self.disk is not None:
            if self.disk.goes_wrong():
                return _FULL if self.disk.fault is Fault.FULL else _IOERR_WRITE
            if known is not None:
                known.undo.append(self._before(file, usual, length, offset))
        return int(ctypes.cast(usual[_WRITE_AT], _TRANSFER)(file, data, length, offset))

    def _before(self, file: int, usual: Any, length: int, offset: int) -> tuple[int, bytes, int]:
        size = ctypes.c_int64()
        ctypes.cast(usual[_SIZE_AT], _SIZE)(file, ctypes.byref(size))
        held = ctypes.create_string_buffer(length)
        ctypes.cast(usual[_READ_AT], _TRANSFER)(file, ctypes.addressof(held), length, offset)
        return offset, held.raw[: max(0, min(length, size.value - offset))], size.value

    def _truncated(self, file: int, size: int) -> int:
        known, usual = self._open[file]
        if self.disk is not None:
            if self.disk.goes_wrong():
                return _IOERR_TRUNCATE
            if known is not None:
                held = ctypes.c_int64()
                ctypes.cast(usual[_SIZE_AT], _SIZE)(file, ctypes.byref(held))
                lost = max(0, held.value - size)
                known.undo.append(self._before(file, usual, lost, size))
        return int(ctypes.cast(usual[_TRUNCATE_AT], _TRUNCATE)(file, size))

    def _synced(self, file: int, flags: int) -> int:
        known, usual = self._open[file]
        if self.disk is not None and self.disk.goes_wrong():
            return _IOERR_FSYNC
        done = int(ctypes.cast(usual[_SYNC_AT], _SYNC)(file, flags))
        if known is not None and done == _OK:
            known.undo.clear()
        return done


_shim: _Shim | None = None


@contextmanager
def sqlite_on(disk: Disk) -> Iterator[Disk]:
    """Let every SQLite file that is opened in a block lie on a disk."""
    global _shim
    if _shim is None:
        _shim = _Shim()
    _shim.disk = disk
    _shim.library.sqlite3_vfs_register(ctypes.addressof(_shim.table), 1)
    try:
        yield disk
    finally:
        _shim.library.sqlite3_vfs_register(_shim.usual, 1)
        _shim.library.sqlite3_vfs_unregister(ctypes.addressof(_shim.table))
        _shim.disk = None
