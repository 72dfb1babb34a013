"""On how many cores this process multiplies matrices."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_CORES: Final = "OPENBLAS_NUM_THREADS"  # numpy reads it when it is loaded


def on_one_core() -> bool:
    """Tell whether numpy was told to use one core, as workers are."""
    return os.environ.get(_CORES) == "1"


@contextmanager
def children_on_one_core() -> Iterator[None]:
    """Let processes that are started meanwhile use one core each, unless the user said otherwise.

    Workers share the cores between them, and threads of their own would wait for one another.
    """
    if _CORES in os.environ:
        yield
        return
    os.environ[_CORES] = "1"
    try:
        yield
    finally:
        del os.environ[_CORES]
