"""Shortfalls: what a model was asked for and did not give, or gave and could not be used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Final

from abstrag.model.index import Ambiguity
from abstrag.model.record import record
from abstrag.model.segment import Segment

WITHOUT: Final = "without "  # how an ambiguity begins that stands for a missed segment


class ReplyFault(StrEnum):
    """What is wrong with a reply, or with a part of one."""

    MISSED = "missed"  # no usable reply at all
    UNKNOWN_ID = "unknown_id"  # it speaks of an id that it was not given
    NOT_QUOTED = "not_quoted"  # it quotes words that are not in the text
    NOT_ALLOWED = "not_allowed"  # it claims what this stage cannot know


@record
class Shortfall:
    """So many answers of one stage had one fault; a missed segment is one shortfall each."""

    what: str  # coreference, statements, contexts, …
    fault: ReplyFault
    count: int = 1
    segment: int | None = None
    why: str = ""

    @property
    def missed(self) -> bool:
        """True when a segment went without, so that asking again may help."""
        return self.fault is ReplyFault.MISSED


def as_ambiguities(
    shortfalls: Iterable[Shortfall], segments: tuple[Segment, ...]
) -> Iterator[Ambiguity]:
    """Turn missed segments into open questions, which the index keeps and `show` lists."""
    for short in shortfalls:
        if short.missed and short.segment is not None:
            text = segments[short.segment].text
            yield Ambiguity(short.segment, 0, len(text), WITHOUT + short.what, (short.why,))


def missed_segments(ambiguities: Iterable[Ambiguity]) -> dict[str, int]:
    """Return how many segments of an index went without what."""
    found: dict[str, set[int]] = {}
    for one in ambiguities:
        if one.reason.startswith(WITHOUT):
            found.setdefault(one.reason.removeprefix(WITHOUT), set()).add(one.segment)
    return {what: len(segments) for what, segments in sorted(found.items())}
