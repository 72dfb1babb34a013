"""The shortlist: what the judge reads of a long document, the best of it without its word."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np

from abstrag.search.match import Signal, blend
from abstrag.search.postings import FloatArray, IntArray
from abstrag.search.relevance import Preset, relevance

_PARAGRAPH: Final = 600  # characters: what reading one costs is the unit of a judge's effort
_LEAST_EFFORT: Final = 0.25  # of the shortest segment: the query is read again with each


def effort(lengths: Sequence[int] | IntArray) -> FloatArray:
    """Return what a judge's reading of texts costs, in paragraphs."""
    return np.maximum(np.asarray(lengths) / _PARAGRAPH, _LEAST_EFFORT)


def affordable(efforts: FloatArray, paragraphs: int) -> int:
    """Return how many texts, the first ones, a judge reads for the effort of some paragraphs."""
    return max(1, int(np.searchsorted(np.cumsum(efforts), paragraphs, side="right")))


def most_texts(paragraphs: int) -> int:
    """Return how many texts a judge reads at most for the effort of some paragraphs."""
    return ceil(paragraphs / _LEAST_EFFORT)


@dataclass(frozen=True, slots=True)
class Candidates:
    """The segments that may be hits, with everything but the judge's word; arrays are in step."""

    positions: IntArray
    signals: Mapping[Signal, FloatArray]
    utility: FloatArray
    gap: FloatArray
    stated: FloatArray  # the least a judge may say: it has not read the Background

    def match(self, preset: Preset, judgement: FloatArray, rows: IntArray) -> FloatArray:
        """Return Match of some rows, given what the judge said about them."""
        parts = {signal: values[rows] for signal, values in self.signals.items()}
        parts[Signal.JUDGE] = np.maximum(judgement, self.stated[rows])
        return blend(parts, preset.weights, preset.pooling)

    def score(self, preset: Preset, judgement: FloatArray, rows: IntArray) -> FloatArray:
        """Return Rel of some rows, given what the judge said about them."""
        match = self.match(preset, judgement, rows)
        return relevance(match, self.utility[rows], self.gap[rows], preset)

    def promise(self, preset: Preset, rows: IntArray) -> FloatArray:
        """Return what some rows promise before a judge has spoken."""
        return self.score(preset.unjudged, np.zeros(len(rows)), rows)


def shortlist(
    rows: IntArray,
    judged: int,
    promise: Callable[[IntArray], FloatArray],
    efforts: Callable[[IntArray], FloatArray],
) -> IntArray:
    """Return the rows a judge may be asked about, the most promising first.

    Args:
        rows: All there are; of equals the earlier one comes first.
        judged: How much is read, in paragraphs.
        promise: What rows promise.
        efforts: What reading costs, of rows in the order in which they are read.
    """
    if affordable(efforts(rows), judged) == len(rows):
        return rows
    rows = rows[np.lexsort((rows, -promise(rows)))]
    return rows[: affordable(efforts(rows), judged)]
