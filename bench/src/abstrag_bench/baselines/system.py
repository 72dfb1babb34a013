"""The protocol behind which every system is measured, what it is given, and what it may write."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.model.record import record
from abstrag.model.segment import Granularity

# What every system is given: one document as a frozen pool of candidate passages.
#
# A pool is the same for every system under test, so a difference between two of them is never a
# difference between two ways of cutting the page.


class ElementKind(StrEnum):
    """What a candidate is on the page."""

    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    TABLE_CELL = "table_cell"
    CAPTION = "caption"


TABULAR = frozenset({ElementKind.TABLE_ROW, ElementKind.TABLE_CELL})


@record
class Element:
    """One candidate: its id in the data set, its words, and where it stands.

    `headers` are the row and column headers of a table row or cell, `caption` is its table's. The
    neighbours of an element are those before and after it in its pool.
    """

    id: str
    text: str
    kind: ElementKind = ElementKind.PARAGRAPH
    section: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    caption: str | None = None

    @property
    def full_text(self) -> str:
        """The element's words after its headers: what a bag of words sees of it."""
        return " ".join((*self.headers, self.text))


@record
class Pool:
    """A document as its candidates, in reading order."""

    id: str
    title: str
    elements: tuple[Element, ...]
    genre: Genre | None = None
    granularity: Granularity = Granularity.PARAGRAPH
    date: str | None = None  # ISO date the document speaks from

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for element in self.elements:
            if element.id in seen:
                raise InputError(
                    f"document {self.id!r} has two elements called {element.id!r}",
                    hint="give every element of a document its own id",
                )
            seen.add(element.id)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the candidates, in reading order."""
        return tuple(element.id for element in self.elements)


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
class VersionedSystem(Protocol):
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


# How a system turns its ranking into an answer: by the shared generator, or with a say in it.
#
# The generator is the same for all. A method that has its own way with passages before or after
# generation says so here, and gets the generator handed in.


@dataclass(frozen=True, slots=True)
class Written:
    """A generated answer or label; `decided` is False when the passages were not enough."""

    text: str
    decided: bool
    calls: int = 1  # to a model, that it took


Write = Callable[[Sequence[Element]], Written]  # one call of the shared generator


@runtime_checkable
class WritingSystem(Protocol):
    """A system with a way of its own from a ranking to an answer."""

    @property
    def most_writes(self) -> int:
        """The most model calls one answer takes, those of the generator included."""
        ...

    def write(self, query: str, ranked: Ranked, top: int, write: Write) -> Written:
        """Return the answer from the first `top` elements of a ranking."""
        ...
