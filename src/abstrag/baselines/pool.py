"""What every system is given: one document as a frozen pool of candidate passages.

A pool is the same for every system under test, so a difference between two of them is never a
difference between two ways of cutting the page.
"""

from __future__ import annotations

from enum import StrEnum

from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.model.record import record
from abstrag.model.segment import Granularity


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
