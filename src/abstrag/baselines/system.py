"""The one protocol behind which every system is measured, ours and everybody else's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from abstrag.baselines.pool import Pool

Ranked = list[tuple[str, float]]


class System(Protocol):
    """Indexes one document at a time and ranks its elements for a query, best first.

    `name` is what records call it; `fidelity` says in one sentence how faithful it is to the
    publication whose name it bears. Indexing a document forgets the one before.
    """

    @property
    def name(self) -> str:
        """What records call it."""
        ...

    @property
    def fidelity(self) -> str:
        """How faithful it is to what its name promises."""
        ...

    def index(self, document: Pool) -> None:
        """Take a document in."""
        ...

    def search(self, query: str, k: int) -> Ranked:
        """Return at most k element ids of the document with their scores, best first."""
        ...


@runtime_checkable
class Explained(Protocol):
    """A system that can also say what its ranking rests on, for the record of the case."""

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Return the ranking, and fields to add to the record."""
        ...


@runtime_checkable
class Versioned(Protocol):
    """A system whose results may change while its name does not."""

    @property
    def state(self) -> str:
        """A hash of everything the results depend on; a run is not continued under another."""
        ...


def best_first(
    ids: Sequence[str], scores: Sequence[float] | npt.NDArray[np.floating[Any]], k: int
) -> Ranked:
    """Order ids by score; equal scores keep the order of the document."""
    values = np.asarray(scores, dtype=np.float64)
    return [(ids[i], float(values[i])) for i in np.argsort(-values, kind="stable")[:k]]
