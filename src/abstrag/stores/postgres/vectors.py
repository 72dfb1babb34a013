"""Embeddings on their way to pgvector and back: little-endian floats here, its own format there."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Dumper
from psycopg.pq import Format

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


class _Dumper(Dumper):
    """Sends a vector as it is; the statement says that it is one."""

    format = Format.BINARY

    def dump(self, obj: Vector) -> Buffer | None:
        return bytes(obj)


def adapt_vectors(connection: Connection[Any]) -> None:
    """Have a connection send vectors."""
    connection.adapters.register_dumper(Vector, _Dumper)
