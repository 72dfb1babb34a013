"""Pixels as a PNG file; the format is small enough to write that no imaging library is needed."""

from __future__ import annotations

import struct
import zlib
from typing import Final

import numpy as np
import numpy.typing as npt

_SIGNATURE: Final = b"\x89PNG\r\n\x1a\n"
_UP: Final = 2  # filter: each row as its difference from the row above
_LEVEL: Final = 4  # of compression; more takes longer than it saves on the way to a browser


def png(pixels: npt.NDArray[np.uint8]) -> bytes:
    """Return rows of red, green and blue as a PNG file."""
    height, width, _ = pixels.shape
    rows = pixels.reshape(height, width * 3)
    above = np.vstack((np.zeros((1, width * 3), np.uint8), rows[:-1]))
    filtered = np.hstack((np.full((height, 1), _UP, np.uint8), rows - above))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join(
        (
            _SIGNATURE,
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", zlib.compress(filtered.tobytes(), _LEVEL)),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
