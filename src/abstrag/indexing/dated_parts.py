"""Parts of a document that have a date of their own: a dated section, or what a date stands over.

Release notes, diaries and minutes of several meetings tell in each part what happened at its date,
not at that of the document.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import lru_cache

from abstrag.documents.header import HeaderKind, header_line
from abstrag.language.times import find_times
from abstrag.model.document import BlockKind, Document
from abstrag.model.record import record
from abstrag.model.span import Span
from abstrag.model.term import Interval

_EVER, _NEVER = date.min.isoformat(), date.max.isoformat()


@record
class PartDate:
    """When a part of a document tells of, and where it says so."""

    interval: Interval
    span: Span

    @property
    def day(self) -> date | None:
        """The day, where it is one."""
        one = self.interval.start == self.interval.end
        return date.fromisoformat(self.interval.start) if one else None


def dated_parts(document: Document) -> Mapping[int, PartDate]:
    """Return for each block that stands under a date what that date is, the nearest one.

    The title dates the document as a whole, and only where nothing else does.
    """
    dated = document.metadata.date is not None
    found: dict[int, PartDate] = {}
    headed: dict[tuple[str, ...], PartDate | None] = {(): None}
    below: tuple[tuple[str, ...], PartDate] | None = None  # a date that stands alone, and where
    for number, block in enumerate(document.blocks):
        if block.kind is BlockKind.HEADING:
            path = (*block.section, block.text)
            whole = dated and block.text == document.title and (block.level or 1) <= 1
            when = None if whole else heading_date(block.text)
            above = headed.get(block.section)
            headed[path] = above if when is None else PartDate(when, block.span)
            continue
        own = headed.get(block.section)
        if block.kind is BlockKind.PARAGRAPH and block.span != document.metadata.date_span:
            line = header_line(block.text)
            if line is not None and line.kind is HeaderKind.DATE:
                below = block.section, PartDate(Interval(line.value, line.value), block.span)
        if below is not None and below[0] == block.section:
            own = below[1]
        if own is not None:
            found[number] = own
    return found


@lru_cache(maxsize=1 << 12)
def heading_date(heading: str) -> Interval | None:
    """Return the one time that a heading names; None where it names none, or several."""
    found = [e.interval for e in find_times(heading) if e.interval is not None]
    closed = [i for i in found if i.start > _EVER and i.end < _NEVER]
    return closed[0] if len(closed) == len(found) == 1 else None
