"""Dates that are counted from an event which has a date elsewhere: "two days after the flood".

The event goes by its noun. It must be dated in one sentence of the document, or in several that
agree, and each of them must name one day and no other time.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from abstrag.indexing.layers import TimeMention
from abstrag.language.calendar import CalendarUnit, Days, days_of
from abstrag.language.time_relative import counted_from
from abstrag.model.segment import Segment
from abstrag.model.term import Interval
from abstrag.neural.vectors import has_content

_NUMBERS: Final = {
    word: number
    for number, words in enumerate(
        "the|a|an|one two three four five six seven eight nine ten".split(), start=1
    )
    for word in words.split("|")
}
_UNITS: Final = {
    "day": (CalendarUnit.DAY, 1),
    "morning": (CalendarUnit.DAY, 1),
    "night": (CalendarUnit.DAY, 1),
    "evening": (CalendarUnit.DAY, 1),
    "week": (CalendarUnit.WEEK, 1),
    "fortnight": (CalendarUnit.WEEK, 2),
    "month": (CalendarUnit.MONTH, 1),
    "year": (CalendarUnit.YEAR, 1),
}
_COUNTED: Final = re.compile(
    r"\b(?:(?P<eve>on\s+the\s+eve\s+of)|(?P<count>[A-Za-z]+|\d{1,3})\s+"
    rf"(?P<unit>{'|'.join(_UNITS)})s?\s+(?P<way>before|after))\s+"
    r"(?:the|this|that|its|his|her|their|our|my)\s+(?P<event>[a-z][\w'’-]*(?: [a-z][\w'’-]*){0,2})",
    re.IGNORECASE,
)
_ENDED: Final = re.compile(r"[.!?;]\s")
_WORD: Final = re.compile(r"[\w'’-]+")


def counted_from_events(
    segments: Sequence[Segment], known: Sequence[TimeMention]
) -> Iterator[TimeMention]:
    """Go through the dates of some segments that are counted from events dated elsewhere."""
    waiting = [
        (number, found)
        for number, segment in enumerate(segments)
        for found in _COUNTED.finditer(segment.text)
    ]
    told: defaultdict[int, list[TimeMention]] = defaultdict(list)
    for mention in known:
        if mention.header is None:
            told[mention.segment].append(mention)
    sentences = list(_dated_sentences(segments, told)) if waiting else []
    for number, found in waiting:
        if any(m.start < found.end() and found.start() < m.end for m in told[number]):
            continue
        step = _step(found)
        event = _dated_event(found, number, sentences)
        if step and event is not None:
            (steps, unit), (name, day) = step, event
            end = found.start("event") + len(name)
            yield TimeMention(
                number, found.start(), end, counted_from(steps, unit)(day).interval, True
            )


def _step(found: re.Match[str]) -> tuple[int, CalendarUnit] | None:
    """Return how many units lie between the event and the date; before it, less than nothing."""
    if found["eve"]:
        return -1, CalendarUnit.DAY
    count = found["count"].casefold()
    number = int(count) if count.isdigit() else _NUMBERS.get(count)
    unit, times = _UNITS[found["unit"].casefold()]
    if number is None or (count == "the" and unit is not CalendarUnit.DAY):
        return None  # "the week before" is no one day
    return number * times * (-1 if found["way"].casefold() == "before" else 1), unit


_Sentence = tuple[int, int, int, str, Interval]  # segment, begin, end, folded words, day


def _dated_sentences(
    segments: Sequence[Segment], told: Mapping[int, Sequence[TimeMention]]
) -> Iterator[_Sentence]:
    """Go through the sentences that name one day and no other time."""
    for number, mentions in sorted(told.items()):
        text, at = segments[number].text, 0
        for end in (*(m.end() for m in _ENDED.finditer(text)), len(text)):
            own = [m for m in mentions if at <= m.start < end]
            day = own[0].interval if len(own) == 1 else None
            if day is not None and day.start == day.end:
                yield number, at, end, _folded(text[at:end]), day
            at = end


def _folded(text: str) -> str:
    """Return the words of a text, those that may be plurals without their ending."""
    words = _WORD.findall(text.casefold())
    return f" {' '.join(word.removesuffix('s') for word in words)} "


def _dated_event(
    found: re.Match[str], segment: int, sentences: Sequence[_Sentence]
) -> tuple[str, Days] | None:
    """Return the event that a date is counted from, with its day; None where it is not sure."""
    words = found["event"].casefold().split(" ")
    for size in range(len(words), 0, -1):
        if not has_content(words[size - 1]):
            continue
        name = " ".join(words[:size])
        days = {
            day
            for number, begin, end, folded, day in sentences
            if _folded(name) in folded and not (number == segment and begin <= found.start() < end)
        }
        if days:
            return (name, days_of(days.pop())) if len(days) == 1 else None
    return None
