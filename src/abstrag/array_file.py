"""Arrays in one file that is mapped into memory, so that opening it costs nothing.

First comes what kind of file it is, then the length of a head, the head as JSON with the name, type
and shape of each array, and the arrays, each at a multiple of 64 bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any, Final
from weakref import finalize

import numpy as np
import numpy.typing as npt

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
