"""NormTime: resolve time expressions to intervals, against the date of their document or part."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache, lru_cache
from typing import ClassVar, Final

from abstrag.documents.header import HeaderKind, header_line
from abstrag.errors import InputError
from abstrag.indexing.event_dates import counted_from_events
from abstrag.indexing.layers import Rewrite, TimeLayer, TimeMention
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.language.calendar import (
    CALENDAR_YEAR,
    Days,
    FiscalYear,
    days_of,
    iso,
    label,
    stated_fiscal_year,
)
from abstrag.language.times import TimeExpression, find_times
from abstrag.language.words import term_id
from abstrag.model.document import BlockKind, Document, Span
from abstrag.model.index import Ambiguity
from abstrag.model.record import record
from abstrag.model.segment import Segment
from abstrag.model.term import Interval, Mention, Term, TermKind

_ENDED: Final = re.compile(r"[.!?;]\s")
_LONGEST: Final = 366  # days of a time that others are counted from
_Find = Callable[[str, date | None], tuple[TimeExpression, ...]]
_Names = dict[tuple[int, int | None], list[tuple[int, int]]]  # entities by segment and header
_EVER, _NEVER = date.min.isoformat(), date.max.isoformat()


@dataclass(frozen=True, slots=True)
class NormalizeTimes:
    """Find every time expression, resolve what the document's date allows, and say what it cannot.

    A part of the document that stands under a day of its own speaks from that day.

    `anchors` are the user's own expressions with their ISO interval. Without `fiscal_year_start`
    fiscal years begin as the document says ("fiscal year ended May 31"), else in January. Canonical
    text reads every resolved expression in one ISO notation; what a segment's headers say is the
    segment's own and is not rewritten.
    """

    anchors: tuple[tuple[str, str], ...] = ()
    fiscal_year_start: int | None = None

    name: ClassVar[str] = "normalize_times"
    requires: ClassVar[Layer | None] = Layer.ENTITIES
    provides: ClassVar[Layer] = Layer.TIMES
    conservative: ClassVar[bool] = True
    version: ClassVar[int] = 7

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Read every segment and its headers."""
        anchor = _anchor(draft.document)
        found = list(_expressions(draft, self._finder(draft), anchor))
        more = counted_from_events(draft.segments, [m for m, *_ in found])
        texts = draft.segments
        found += [(m, texts[m.segment].text[m.start : m.end], "", None) for m in more]
        found.sort(
            key=lambda each: (
                each[0].segment,
                each[0].header is not None,
                each[0].header or 0,
                each[0].start,
            )
        )
        surfaces: defaultdict[Interval, set[str]] = defaultdict(set)
        mentions: list[Mention] = []
        rewrites: list[Rewrite] = []
        ambiguities: list[Ambiguity] = []
        for m, surface, reason, other in found:
            if m.interval is not None:
                surfaces[m.interval].add(surface)
                mentions.append(Mention(time_key(m.interval), m.segment, m.start, m.end, m.header))
                if other is not None:
                    surfaces[other].add(surface)
                    mentions.append(Mention(time_key(other), m.segment, m.start, m.end, m.header))
                canonical = iso(days_of(m.interval))
                if m.header is None and canonical != surface:
                    rewrites.append(Rewrite(m.segment, m.start, m.end, canonical))
            elif m.header is None:
                ambiguities.append(Ambiguity(m.segment, m.start, m.end, reason))
        times = TimeLayer(
            anchor=anchor.isoformat() if anchor else None,
            expressions=tuple(m for m, *_ in found),
            terms=tuple(sorted((time_term(i, s) for i, s in surfaces.items()), key=lambda t: t.id)),
            mentions=tuple(mentions),
            ambiguities=tuple(ambiguities),
            rewrites=tuple(rewrites),
        )
        return draft.with_(times=times)

    def _finder(self, draft: IndexDraft) -> _Find:
        """Bind the settings; header cells come once per row, so they are read once."""
        texts = (text for s in draft.segments for _, text in _texts(s))
        if self.fiscal_year_start is not None:
            fiscal = FiscalYear(self.fiscal_year_start)
        else:
            fiscal = stated_fiscal_year(texts, draft.document.title) or CALENDAR_YEAR
        anchors = dict(self.anchors)

        @cache
        def find(text: str, anchor: date | None) -> tuple[TimeExpression, ...]:
            return find_times(
                text,
                anchor=anchor,
                anchors=anchors,
                fiscal_year_start=fiscal.start,
                fiscal_named_for_start=fiscal.named_for_start,
            )

        return find


def _anchor(document: Document) -> date | None:
    """Return the day the document speaks from, if it says so."""
    stated = document.metadata.date
    if stated is None:
        return None
    try:
        return date.fromisoformat(stated[:10])  # a time of day may follow
    except ValueError:
        raise InputError(
            f"document {document.id!r} has the date {stated!r}, which is no ISO date",
            hint="write it as YYYY-MM-DD",
        ) from None


def _texts(segment: Segment) -> Iterator[tuple[int | None, str]]:
    """Go through a segment's text and its headers, each with the number of the header."""
    yield None, segment.text
    for number, header in enumerate(segment.headers):
        yield number, header.text


_Placed = tuple[TimeMention, str, str, Interval | None]


def _expressions(draft: IndexDraft, find: _Find, anchor: date | None) -> Iterator[_Placed]:
    """Go through all expressions in order.

    Each comes with its surface, why it is unresolved, and another reading. What is counted from a
    time told before is counted from the one time of the sentence before it, in the same paragraph,
    or from the day in the heading above.
    """
    names = _names(draft)
    told, dated = _ToldBefore(), dated_parts(draft.document)
    for i, segment in enumerate(draft.segments):
        part = dated.get(segment.block)
        day = anchor if part is None else part.day or anchor
        for header, text in _texts(segment):
            for e in find(text, day):
                if e.relative and _inside(e, names.get((i, header), [])):
                    continue  # "Friday" in the name of an agreement is no day
                interval = e.interval
                if header is None:
                    interval = told.read(segment.block, text, e, None if part is None else part.day)
                mention = TimeMention(i, e.start, e.end, interval, e.relative, header)
                yield mention, text[e.start : e.end], e.reason, e.other


class _ToldBefore:
    """The time told last in a paragraph, and whether it is the only one of its sentence."""

    def __init__(self) -> None:
        self._place: tuple[int, str, int] = (-1, "", 0)
        self._days: Days | None = None

    def read(
        self, block: int, text: str, e: TimeExpression, headed: date | None
    ) -> Interval | None:
        """Return what an expression means here, and keep it for those that follow.

        Where the paragraph has told no time yet, the day that it stands under is meant.
        """
        last_block, last_text, last_end = self._place
        same = block == last_block
        interval = e.interval
        before = self._days if same else None if headed is None else Days(headed, headed)
        if e.step is not None and before is not None:
            try:
                interval = e.step(before).interval
            except (ValueError, OverflowError):  # beyond the calendar
                interval = None
        days = None if interval is None else days_of(interval)
        together = same and text == last_text and not _ENDED.search(text, last_end, e.start)
        if together and days != self._days and e.step is None:
            days = None  # two times in one sentence: either may be meant
        if days is not None and (days.last - days.first).days > _LONGEST:
            days = None
        self._place, self._days = (block, text, e.end), days
        return interval


def _names(draft: IndexDraft) -> _Names:
    assert draft.entities is not None
    names: _Names = {}
    for m in draft.entities.mentions:
        names.setdefault((m.segment, m.header), []).append((m.start, m.end))
    return names


def _inside(e: TimeExpression, names: list[tuple[int, int]]) -> bool:
    """True when an expression is a proper part of a name."""
    return any(a <= e.start and e.end <= b and b - a > e.end - e.start for a, b in names)


def time_term(interval: Interval, surfaces: set[str]) -> Term:
    """Return the term of a time, with what it is called."""
    return Term(
        id=time_key(interval),
        kind=TermKind.TIME,
        label=label(days_of(interval)),
        surfaces=tuple(sorted(surfaces)),
        interval=interval,
    )


def time_key(interval: Interval) -> str:
    """Return the id of the term of a time."""
    one_day = interval.start == interval.end
    key = interval.start if one_day else f"{interval.start}/{interval.end}"
    return term_id(TermKind.TIME, key)


@record
class _PartDate:
    """When a part of a document tells of, and where it says so."""

    interval: Interval
    span: Span

    @property
    def day(self) -> date | None:
        """The day, where it is one."""
        one = self.interval.start == self.interval.end
        return date.fromisoformat(self.interval.start) if one else None


def dated_parts(document: Document) -> Mapping[int, _PartDate]:
    """Return for each block that stands under a date what that date is, the nearest one.

    The title dates the document as a whole, and only where nothing else does.
    """
    dated = document.metadata.date is not None
    found: dict[int, _PartDate] = {}
    headed: dict[tuple[str, ...], _PartDate | None] = {(): None}
    below: tuple[tuple[str, ...], _PartDate] | None = None  # a date that stands alone, and where
    for number, block in enumerate(document.blocks):
        if block.kind is BlockKind.HEADING:
            path = (*block.section, block.text)
            whole = dated and block.text == document.title and (block.level or 1) <= 1
            when = None if whole else heading_date(block.text)
            above = headed.get(block.section)
            headed[path] = above if when is None else _PartDate(when, block.span)
            continue
        own = headed.get(block.section)
        if block.kind is BlockKind.PARAGRAPH and block.span != document.metadata.date_span:
            line = header_line(block.text)
            if line is not None and line.kind is HeaderKind.DATE:
                below = block.section, _PartDate(Interval(line.value, line.value), block.span)
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
