"""Floats to bytes and scales.

Every row of activations has a scale of its own, so no token's numbers depend on another row's, and
a product of integers is the same on any processor. That takes some care: processors without VNNI
add the products of two neighbouring weights in 16 bits, and clip what is too large. So the scale of
a column of weights is such that no two neighbours can get there.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

TOP: Final = 127  # of a signed byte
PAIR_TOP: Final = 127  # of two neighbouring weights together; rounding may make it 128
ACTIVATION_ZERO: Final = 128  # activations are unsigned: the fast kernels multiply u8 by s8

Bytes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float32]


def quantized_rows(table: Floats) -> tuple[Bytes, Floats]:
    """Return a table as bytes and a scale for each row."""
    return _rounded(table, np.abs(table).max(axis=1, keepdims=True) / np.float32(TOP))


def quantized_columns(factor: Floats) -> tuple[Bytes, Floats]:
    """Return the right side of a product as bytes, neighbours kept small, and column scales."""
    size = np.abs(factor)
    single = size.max(axis=0, keepdims=True) / np.float32(TOP)
    pair = (size[:-1] + size[1:]).max(axis=0, keepdims=True) / np.float32(PAIR_TOP)
    return _rounded(factor, np.maximum(single, pair))


def _rounded(values: Floats, scale: Floats) -> tuple[Bytes, Floats]:
    scale = np.where(scale == 0, np.float32(1), scale)  # of nothing but zeros
    return np.round(values / scale).astype(np.int8), scale
