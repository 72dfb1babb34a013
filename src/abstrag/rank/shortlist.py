"""The shortlist: what the models read of a long document, found in three steps.

Words and bridges cost nothing and look at everything; the embedder reads what they rank highest;
the judge reads what then ranks highest. Until it has spoken, all weigh as in the preset `embedded`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from abstrag.rank.match import Pooling, Signal, blend
from abstrag.rank.postings import FloatArray, IntArray
from abstrag.rank.relevance import EMBEDDED, Preset, relevance

_PARAGRAPH: Final = 600  # characters: what reading one costs is the unit of a judge's effort
_LEAST_EFFORT: Final = 0.25  # of the shortest segment: the query is read again with each
_MORE: Final = 3  # times as much as the judge the embedder reads


def effort(lengths: Sequence[int] | IntArray) -> FloatArray:
    """Return what a judge's reading of texts costs, in paragraphs."""
    return np.maximum(np.asarray(lengths) / _PARAGRAPH, _LEAST_EFFORT)


def affordable(efforts: FloatArray, paragraphs: int) -> int:
    """Return how many texts, the first ones, a judge reads for the effort of some paragraphs."""
    return max(1, int(np.searchsorted(np.cumsum(efforts), paragraphs, side="right")))


@dataclass(frozen=True, slots=True)
class Candidates:
    """The segments that may be hits, with everything but the judge's word; arrays are in step."""

    positions: IntArray
    signals: Mapping[Signal, FloatArray]
    utility: FloatArray
    gap: FloatArray
    stated: FloatArray  # the least a judge may say: it has not read the Background
    dense: Callable[[IntArray], FloatArray] | None = None  # of positions, where it comes late

    def match(self, preset: Preset, judgement: FloatArray, rows: IntArray) -> FloatArray:
        """Return Match of some rows, given what the judge said about them."""
        parts = {signal: values[rows] for signal, values in self.signals.items()}
        judgement = np.maximum(judgement, self.stated[rows])
        parts[Signal.JUDGE] = judgement
        if self.dense is not None and preset.late:
            near = np.zeros(len(rows))
            (read,) = np.nonzero(judgement)  # no similarity lifts what the judge gives nothing
            near[read] = self.dense(self.positions[rows[read]])
            parts[Signal.DENSE] = near
        return blend(parts, preset.weights, preset.pooling)

    def score(self, preset: Preset, judgement: FloatArray, rows: IntArray) -> FloatArray:
        """Return Rel of some rows, given what the judge said about them."""
        match = self.match(preset, judgement, rows)
        return relevance(match, self.utility[rows], self.gap[rows], preset)

    def promise(self, preset: Preset, rows: IntArray, *, embedded: bool) -> FloatArray:
        """Return what some rows promise before a judge has spoken, as `embedded` weighs it.

        Cosines that come late are asked for these rows alone, or left out.
        """
        if preset.pooling is Pooling.PRODUCT:
            return self.score(preset, np.zeros(len(rows)), rows)
        weights, known = EMBEDDED.less(preset), self
        if embedded and self.dense is not None:
            near = np.zeros(len(self.positions))
            near[rows] = self.dense(self.positions[rows])
            known = replace(self, signals={**self.signals, Signal.DENSE: near}, dense=None)
        elif Signal.DENSE not in self.signals:
            weights = weights.without(Signal.DENSE)
        return known.score(weights, np.zeros(len(rows)), rows)


def shortlist(
    rows: IntArray,
    judged: int,
    promise: Callable[[IntArray, bool], FloatArray],
    efforts: Callable[[IntArray], FloatArray],
) -> IntArray:
    """Return the rows a judge may be asked about, the most promising first.

    Args:
        rows: All there are; of equals the earlier one comes first.
        judged: How much is read, in paragraphs.
        promise: What rows promise, without embeddings or with them.
        efforts: What reading costs, of rows in the order in which they are read.
    """
    if affordable(efforts(rows), judged) == len(rows):
        return rows
    for embedded, paragraphs in ((False, _MORE * judged), (True, judged)):
        rows = rows[np.lexsort((rows, -promise(rows, embedded)))]
        rows = rows[: affordable(efforts(rows), paragraphs)]
    return rows
