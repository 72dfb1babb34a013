"""A judge without a model: how much of the question's text stands in the segment."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from abstrag.model.query import Query
from abstrag.model.segment import Segment

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class OverlapJudge:
    """Answers the share of the question's character n-grams, within words, that recur."""

    size: int = 3

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        """Judge each segment by itself."""
        asked = self._grams(query.text)
        return [
            len(asked & self._grams(segment.text)) / len(asked) if asked else 0.0
            for segment in segments
        ]

    def _grams(self, text: str) -> set[str]:
        padded = (f"_{word}_" for word in _WORD.findall(text.casefold()))
        return {
            word[i : i + self.size]
            for word in padded
            for i in range(max(1, len(word) - self.size + 1))
        }
