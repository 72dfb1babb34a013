"""What anything that scores pairs of texts must do, and how a segment is put to a model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Protocol, Self

from abstrag.model.query import Query
from abstrag.model.segment import Segment

# How a passage is put to a model: the heading above it says what the words alone do not.


def passage(
    text: str, *, section: Sequence[str] = (), headers: Sequence[str] = (), title: str = ""
) -> str:
    """Return the words of a passage after its section's name and a table cell's own headers.

    Of a section path only the innermost name is used: the outer ones are shared by too many
    passages to tell them apart. The document's title comes first for a model that wants it.
    """
    words = " ".join((*headers, text))
    names = (title, section[-1] if section else "")
    return ": ".join([*(name.strip() for name in names if name.strip()), words])


def segment_text(segment: Segment, *, title: str = "") -> str:
    """Return a segment as models read it: its section, its own headers, its words."""
    headers = [header.text for header in segment.headers]
    return passage(segment.text, section=segment.section, headers=headers, title=title)


class PairScorer(Protocol):
    """Says how probably each passage is evidence for a query.

    The shipped one is `abstrag.neural.judge.EvidenceJudge`; pass your own wherever this type
    stands. A pair must get the same score whatever else is scored with it.
    """

    @property
    def fingerprint(self) -> str:
        """Names the model to the byte: scores of one fingerprint can be kept and compared."""
        ...

    @property
    def wants_title(self) -> bool:
        """Whether the document's title should stand before a passage."""
        ...

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a probability for each passage, in their order."""
        ...


class SegmentJudge(ABC):
    """Makes a scorer of texts a judge of segments, as `abstrag.search.judging.Judge` has it."""

    title = ""
    fingerprint: str

    @property
    def wants_title(self) -> bool:
        """Whether the document's title should stand before a passage."""
        return False

    @abstractmethod
    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a probability for each passage, in their order."""

    def reading(self, title: str) -> Self:
        """Return this judge for the segments of a document with that title.

        A model that was trained without titles is not shown any.
        """
        judge = copy(self)
        judge.title = title if self.wants_title else ""
        return judge

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        """Return how probably each segment is evidence for the query."""
        passages = [segment_text(segment, title=self.title) for segment in segments]
        return self.score(query.reading, passages)
