"""Postings: which segments hold a term; and event postings: how well they tell the event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import copy
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.model.distances import event_distance
from abstrag.model.term import Frame
from abstrag.search.bridges.cost import to_units

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

NO_SEGMENTS: Final[IntArray] = np.empty(0, dtype=np.int64)
_SLOT: Final = to_units(event_distance(unfilled=1, coerced=0, artifact=False))


class Postings:
    """An inverted index: for each term the segments that hold it, ascending, each once."""

    def __init__(self, terms: Iterable[str], segments: Iterable[int]) -> None:
        self._mentions: dict[str, list[int]] = {}
        for term, segment in zip(terms, segments, strict=True):
            self._mentions.setdefault(term, []).append(segment)
        self._sorted: dict[str, IntArray] = {}  # of the terms that were asked for
        self._changed: Mapping[str, IntArray] = {}  # terms whose segments are kept apart

    def __contains__(self, term: str) -> bool:
        return term in self._mentions or term in self._changed

    def updated(self, added: Mapping[str, Iterable[int]]) -> Postings:
        """Return postings in which terms stand in further segments; all others are shared."""
        made = copy(self)
        changed = {
            term: np.union1d(self.segments(term), np.fromiter(where, np.int64))
            for term, where in added.items()
        }
        made._changed = {**self._changed, **changed}
        return made

    def segments(self, term: str) -> IntArray:
        """Return the segments that hold a term."""
        if (apart := self._changed.get(term)) is not None:
            return apart
        if (known := self._sorted.get(term)) is not None:
            return known
        if (mentions := self._mentions.get(term)) is None:
            return NO_SEGMENTS
        found: IntArray = np.unique(np.array(mentions, dtype=np.int64))
        self._sorted[term] = found
        return found


class EventPostings:
    """What each segment's best telling of an event leaves to be assumed, by event and slots.

    Slots only: that an artifact merely implies an event is paid for on the edge from the one to the
    other, so that whoever asks for the artifact itself finds it for nothing.
    """

    def __init__(self, frames: Iterable[Frame], postings: Postings) -> None:
        self._postings = postings
        self._bits: dict[str, int] = {}
        grouped: dict[str, list[tuple[int, int]]] = {}
        for frame in frames:
            clean = 0
            for slot in frame.slots:
                bit = self._bits.setdefault(slot.name, 1 << len(self._bits))
                clean |= 0 if slot.coerced else bit
            grouped.setdefault(frame.event, []).append((frame.segment, clean))
        self._frames = grouped
        self._known: dict[tuple[str, tuple[str, ...]], tuple[IntArray, IntArray]] = {}

    def penalties(self, event: str, slots: tuple[str, ...]) -> tuple[IntArray, IntArray]:
        """Return the segments that tell an event and the units the slots' state adds in each.

        A segment that names the event without telling it, as a bare noun may, fills no slot.
        """
        if (event, slots) not in self._known:
            self._known[event, slots] = self._count(event, slots)
        return self._known[event, slots]

    def updated(self, postings: Postings) -> EventPostings:
        """Return event postings over updated postings; what frames tell stays as it is."""
        made = copy(self)
        made._postings, made._known = postings, {}
        return made

    def _count(self, event: str, slots: tuple[str, ...]) -> tuple[IntArray, IntArray]:
        named = self._postings.segments(event)
        if event not in self._frames:
            return named, np.full(len(named), unfilled_units(slots), dtype=np.int64)
        segment, clean = np.array(sorted(self._frames[event]), dtype=np.int64).T
        units = np.zeros(len(segment), dtype=np.int64)
        for slot in slots:
            units = units + _SLOT * ((clean & self._bits.get(slot, 0)) == 0)
        first = np.flatnonzero(np.r_[True, segment[1:] != segment[:-1]])
        told, best = segment[first], np.minimum.reduceat(units, first)
        bare = np.setdiff1d(named, told, assume_unique=True)
        segments = np.concatenate((told, bare))
        units = np.concatenate((best, np.full(len(bare), unfilled_units(slots), dtype=np.int64)))
        order = np.argsort(segments, kind="stable")
        return segments[order], units[order]


def unfilled_units(slots: tuple[str, ...]) -> int:
    """Return what these slots add when nothing fills them."""
    return _SLOT * len(slots)


def frame_units(frame: Frame, slots: tuple[str, ...]) -> int:
    """Return what one frame adds for these slots."""
    return _SLOT * sum(1 for name in slots if slot_state(frame, name) is not None)


def slot_state(frame: Frame, name: str) -> str | None:
    """Say what is wrong with a slot of a frame: unfilled, coerced, or nothing."""
    filled = [slot for slot in frame.slots if slot.name == name]
    if not filled:
        return "unfilled"
    return "coerced" if all(slot.coerced for slot in filled) else None
