"""Where several words of a query stand in a segment: nearest to one another, or apart."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from abstrag.search.costed_index import BoolArray, IntArray
from abstrag.search.document_words import DocumentWords
from abstrag.search.told_events import ENDED


@dataclass(frozen=True)
class NearbyWords:
    """The words of a query laid over those of a document, wherever the very words stand."""

    words: DocumentWords
    asked: Sequence[str]
    _same: dict[int, BoolArray] = field(default_factory=dict)

    def nearest(self, rows: Sequence[int], segment: int) -> IntArray | None:
        """Return the words of a segment that are these and stand nearest to one another."""
        found = self._occurrences(rows, segment)
        if len(rows) < 2 or not all(map(len, found)):
            return None
        near = [[int(own[np.abs(own - at).argmin()]) for own in found] for at in found[0].tolist()]
        best = min(near, key=lambda some: max(some) - min(some))
        return np.array(best, np.int64) + int(self.words.starts[segment])

    def apart(self, rows: Sequence[int], segment: int) -> bool:
        """Tell whether some words of a query stand in a segment, and never in one sentence.

        "These data were new. Nothing was set aside." has no data set. What a header or the section
        says is said of every sentence.
        """
        first, last = self.words.starts[segment : segment + 2].tolist()
        text, own = self.words.texts[segment], self.words.segments[segment].text
        ends = [m.start() for m in ENDED.finditer(text, len(text) - len(own))]
        if len(rows) < 2 or not ends:
            return False
        sentences = []
        for said in self._occurrences(rows, segment):
            if not len(said) or self.words.aside[first:last][said].any():
                return False
            starts = self.words.table.spans[first:last][said, 0].tolist()
            sentences.append({bisect_left(ends, start) for start in starts})
        return not set.intersection(*sentences)

    def _occurrences(self, rows: Sequence[int], segment: int) -> list[IntArray]:
        """Return where words of the query stand among the words of a segment."""
        first, last = self.words.starts[segment : segment + 2].tolist()
        for i in rows:
            if i not in self._same:
                self._same[i] = self.words.same(self.asked[i])
        return [np.flatnonzero(self._same[i][first:last]) for i in rows]
