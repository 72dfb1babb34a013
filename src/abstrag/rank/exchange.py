"""Exchanges: in a conversation, what a turn is worth shows in the turns around it.

"Battery then. Everyone agree?" is evidence because of what was said before it. So in a transcript
what the judge says of a turn is the mean over the exchange it stands in: the turns within `REACH`
of it under the same heading, each weighing `SHARE` of the one nearer by. Coverage and Gap stay
those of the turn alone, for no literal is met by what somebody else said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.rank.judging import Judge

REACH: Final = 2
SHARE: Final = 0.6
_STEPS: Final = np.arange(-REACH, REACH + 1)


class ExchangeJudge:
    """A judge who hears each turn in its exchange; implements `Judge`.

    It reads the turns around those it is asked about as well, each pair once.
    """

    def __init__(self, judge: Judge, turns: Sequence[Segment]) -> None:
        """Take who judges a single turn, and all turns of the document in their order."""
        self._judge = judge
        self._turns = turns
        self._place = {turn.id: i for i, turn in enumerate(turns)}
        headings: dict[tuple[str, ...], int] = {}
        numbers = [headings.setdefault(turn.section, len(headings)) for turn in turns]
        self._heading = np.array(numbers, dtype=np.int64)

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        """Return a probability for each segment."""
        if not segments:
            return []
        own = np.array([self._place[segment.id] for segment in segments])[:, None]
        around = np.clip(own + _STEPS, 0, len(self._turns) - 1)
        inside = (around == own + _STEPS) & (self._heading[around] == self._heading[own])
        heard, where = np.unique(np.where(inside, around, own), return_inverse=True)
        said = np.array(self._judge(query, [self._turns[i] for i in heard.tolist()]))
        weights = inside * SHARE ** np.abs(_STEPS)
        means = (said[where.reshape(inside.shape)] * weights).sum(axis=1) / weights.sum(axis=1)
        return [float(mean) for mean in means]
