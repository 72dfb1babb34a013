"""Dates and periods that differ: "2019, not 2018"; "the third quarter, not the second quarter"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from abstrag.engine.contradictions.figures import SHARED, SURE
from abstrag.engine.contradictions.statement import Found, Statement, coverage
from abstrag.model.answer import DifferenceKind

_NAMED: Final = {
    "quarter": re.compile(
        r"\b(?:the )?(?P<name>first|second|third|fourth) (?:fiscal )?quarter\b|"
        r"\b(?P<short>Q[1-4])\b",
        re.I,
    ),
    "half": re.compile(
        r"\b(?:the )?(?P<name>first|second) half\b(?= of the|of the year)|\b(?P<short>H[12])\b"
    ),
    "month": re.compile(
        r"\b(?P<name>January|February|March|April|May|June|July|August|September|October|November|"
        r"December)\b(?P<short>)"
    ),
    "weekday": re.compile(
        r"\b(?P<name>Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)s?\b(?P<short>)"
    ),
}
_NUMBERS: Final = {"first": "1", "second": "2", "third": "3", "fourth": "4"}


def find_dates(claim: Statement, sentences: Sequence[Statement]) -> list[Found]:
    """Return the times of a claim that sentences about the same thing give otherwise."""
    ranked = sorted(((coverage(claim, one), one) for one in sentences), key=lambda one: -one[0])
    near = [(shared, one) for shared, one in ranked if shared >= SHARED]
    return [*_intervals(claim, near, sentences), *_names(claim, sentences)]


def _intervals(
    claim: Statement, near: Sequence[tuple[float, Statement]], sentences: Sequence[Statement]
) -> list[Found]:
    """Compare times that stand for days of the calendar."""
    found = []
    stated = [t.interval for one in sentences for t in one.times if t.interval]
    for asked in claim.times:
        if asked.interval is None:
            continue
        first, last = asked.interval.start, asked.interval.end
        if any(own.start <= last and first <= own.end for own in stated):
            continue
        for shared, sentence in near:
            limit = sentence.compared_from
            own_times = [t for t in sentence.times if t.interval and t.start < limit]
            if not own_times:
                continue
            alone = len(own_times) == 1 and sum(t.interval is not None for t in claim.times) == 1
            best = own_times[0]
            found.append(
                Found(
                    DifferenceKind.DATE,
                    claim.text[asked.start : asked.end],
                    sentence.text[best.start : best.end],
                    alone and shared >= SURE,
                )
            )
            break
    return found


def _names(claim: Statement, sentences: Sequence[Statement]) -> list[Found]:
    """Compare names of parts of a year or a week that no calendar date is known of."""
    found = []
    for pattern in _NAMED.values():
        asked = {_name(one): one for one in pattern.finditer(claim.text)}
        stated = {_name(one) for s in sentences for one in pattern.finditer(s.text)}
        if len(asked) != 1 or not stated or set(asked) & stated:
            continue
        (words,) = asked.values()
        inside = [i for i in claim.content if words.start() <= claim.words.start[i] < words.end()]
        ranked = [(coverage(claim, one, inside), one) for one in sentences]
        for shared, sentence in sorted(ranked, key=lambda one: -one[0]):
            own = list(pattern.finditer(sentence.text, 0, sentence.compared_from))
            if own and shared >= SHARED:
                certain = len(own) == 1 and shared >= SURE
                found.append(Found(DifferenceKind.DATE, words[0], own[0][0], certain))
                break
    return found


def _name(one: re.Match[str]) -> str:
    if one["short"]:
        return one["short"][-1]
    return _NUMBERS.get(one["name"].lower(), one["name"].lower())
