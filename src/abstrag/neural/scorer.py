"""What anything that scores pairs of texts must do, and how segments are put to it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from typing import Protocol, Self

from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.neural.passage import segment_text


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
