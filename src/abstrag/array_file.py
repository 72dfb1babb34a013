"""Arrays in one file that is mapped into memory, so that opening it costs nothing.

First comes what kind of file it is, then the length of a head, the head as JSON with the name, type
and shape of each array, and the arrays, each at a multiple of 64 bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

_LINE: Final = 64  # bytes: arrays begin at a multiple of it

Arrays = Mapping[str, npt.NDArray[Any]]


def file_parts(magic: bytes, arrays: Arrays) -> Iterator[bytes]:
    """Return the bytes of a file with some arrays, in pieces."""
    listed = [(name, array.dtype.str, array.shape) for name, array in arrays.items()]
    head = json.dumps(listed).encode()
    head = magic + len(head).to_bytes(8, "little") + head
    yield head + bytes(-len(head) % _LINE)
    for array in arrays.values():
        data = np.ascontiguousarray(array).tobytes()
        yield data + bytes(-len(data) % _LINE)


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


def _up(at: int) -> int:
    return at + -at % _LINE
