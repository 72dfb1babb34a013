"""ExpTime: a time that only overlaps the one asked for (temporal underspecification)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import ClassVar, Final

from abstrag.config import OMEGA
from abstrag.language.keys import term_id
from abstrag.model.term import Edge, Family, Interval, Licence, LicenceKind, Relation, TermKind

_EVER, _NEVER = date.min.isoformat(), date.max.isoformat()
_LEAP: Final = 2  # days by which two periods of so many years may differ
_WIDEST: Final = 1 - 1 / 12.5  # the share outside: a year may speak of a month, a life of no year
_MOSTLY: Final = 0.49  # the share of a period that makes it another one of the same length
_PREFIX: Final = f"{TermKind.TIME.value}:"


def time_id(interval: Interval) -> str:
    """Return the id of the term for an interval: a day, or its first and last day."""
    day = interval.start == interval.end
    return term_id(TermKind.TIME, interval.start if day else f"{interval.start}/{interval.end}")


def interval_of(term: str) -> Interval | None:
    """Return the interval a time term's id stands for; None for any other term."""
    if not term.startswith(_PREFIX):
        return None
    start, _, end = term.removeprefix(_PREFIX).partition("/")
    return Interval(start, end or start)


@dataclass(frozen=True, slots=True)
class ExpandTime:
    """Offers times of the document that overlap the one asked for without lying inside it.

    "2023 to 2025" may speak of 2024. What is asked for bounds the window: a time that shares no day
    with it is never offered. The distance is the share of the document's time that lies outside;
    one many times as long, such as somebody's whole life, speaks of no year in it. A
    time without an end ("from July 2019") is about where it begins and not about all that follows.
    """

    times: Mapping[str, Interval]
    name: ClassVar[str] = "time"

    def admits(self, edge: Edge) -> bool:
        """Time edges of the map, such as a patch may add."""
        return edge.family is Family.EXPRESSION and edge.target.startswith(_PREFIX)

    def edges_into(self, term: str) -> Iterator[Edge]:
        """Offer overlapping times."""
        asked = interval_of(term)
        if asked is None:
            return
        for source, own in sorted(self.times.items()):
            if source != term and _speaks_of(own, asked) and not asked.contains(own):
                yield Edge(
                    source=source,
                    target=term,
                    relation=Relation.IMPLIES,
                    family=Family.EXPRESSION,
                    operator=self.name,
                    weight=OMEGA[Family.EXPRESSION],
                    distance=round(_outside(own, asked), 4),
                    truth_preserving=False,
                    confidence=0.5,
                    licence=Licence(LicenceKind.LEXICON, f"{source} overlaps {term}"),
                )


def _speaks_of(own: Interval, asked: Interval) -> bool:
    if own.end >= _NEVER:
        return asked.start <= own.start <= asked.end
    if own.start <= _EVER:
        return asked.start <= own.end <= asked.end
    if not asked.overlaps(own) or _outside(own, asked) > _WIDEST:
        return False
    alike = abs(_days(own.start, own.end) - _days(asked.start, asked.end)) <= _LEAP
    return not (alike and _outside(own, asked) >= _MOSTLY)  # 2015–16 is not 2016–17


def _outside(own: Interval, asked: Interval) -> float:
    shared = _days(max(own.start, asked.start), min(own.end, asked.end))
    return 1.0 - shared / _days(own.start, own.end)


def _days(start: str, end: str) -> int:
    return date.fromisoformat(end).toordinal() - date.fromisoformat(start).toordinal() + 1
