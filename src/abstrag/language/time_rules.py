"""How the grammar of time works: rules that reduce runs of tokens to one token, in stages.

A rule's pattern is a regular expression over the *kinds* of tokens, written with their names:
`MONTH DAY COMMA? YEAR`. It is compiled by giving every kind a character of its own, so a stage is
one ordinary regular expression over a string as long as the list of tokens, and every stage is
linear. At one place the first rule of a stage that matches wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from abstrag.language.calendar import Days, FiscalYear, year_of
from abstrag.language.time_lexer import KINDS, TimeToken

NO_ANCHOR: Final = "no anchor"
DISCOURSE: Final = "depends on the discourse"
VAGUE: Final = "no exact length"

Step = Callable[[Days], Days]  # what is counted from another time
Spell = Callable[[int], Days]  # what a time of year is in a given year
Part = Callable[[Days], Days]  # what a part is of a longer time


class TimeContext(NamedTuple):
    """What a text is read against."""

    anchor: date | None
    fiscal: FiscalYear


class TimeReading(NamedTuple):
    """What an expression means, or why that cannot be said."""

    days: Days | None
    relative: bool = False
    reason: str = ""
    again: Spell | None = None  # the same in another year: "December 31, 2019 and 2018"
    step: Step | None = None  # how to count it from the time told before: "two days later"
    other: Days | None = None  # another reading, as good: "last Friday" on a Sunday

    def map(self, part: Part) -> TimeReading:
        """Return the reading of a part, or of what is open on one side."""
        return TimeReading(part(self.days) if self.days else None, self.relative, self.reason)


class TimeRule(NamedTuple):
    """A run of kinds, the kind it becomes, and the value that gets; None: it is no time at all."""

    pattern: str
    kind: str
    read: Callable[[Sequence[TimeToken], TimeContext], Any]


# Kinds that only rules make.
_MADE: Final = (
    "POINT",  # a Reading
    "EPITHET",  # a Reading that qualifies a noun: "the 2016 election"
    "RELYEAR",  # a Reading of a whole year: "last year"
    "DATED",  # a Spell that may stand without a year: "May 15"
    "MONTHLY",  # a Spell that may, after a preposition: "in May"
    "YEARLY",  # a Spell that may not: "summer"
    "FYEAR",  # a Spell, the fiscal year
    "CLOSED",  # a Spell that ends on a day: "the year ended May 31"
    "QPART",  # a Part whose year the text tells elsewhere: "the first quarter"
    "OFFSET",  # a length counted from something: "two years earlier"
)
_SYMBOLS: Final = {kind: chr(0xE000 + i) for i, kind in enumerate((*KINDS, *_MADE))}
_CLASSES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ANYYEAR": "YEAR OLD SHORT",
        "COUNT": "ONE DAY BIG NUMWORD",
        "DAYNUM": "DAY ORD",
        "PARTS": "PART QPART",
        "SPELL": "DATED MONTHLY YEARLY FYEAR CLOSED",
        "UNITS": "UDAY WEEK UMONTH QTR YR CENT UNIT",
        "WHEN": "POINT RELYEAR YEAR OLD",
    }
)
_NAME: Final = re.compile(r"[A-Z]+")


def _compile(pattern: str) -> str:
    """Turn names into characters; a class of kinds stands in brackets, as characters do."""
    spelled = _NAME.sub(lambda m: _CLASSES.get(m[0], m[0]), pattern)
    return _NAME.sub(lambda m: _SYMBOLS[m[0]], spelled).replace(" ", "")


@dataclass(frozen=True)
class RuleStage:
    """Rules that are tried together, left to right over the tokens."""

    rules: tuple[TimeRule, ...]

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile("|".join(f"({_compile(rule.pattern)})" for rule in self.rules))

    def __call__(self, tokens: list[TimeToken], frame: TimeContext) -> list[TimeToken]:
        """Return the tokens with every match reduced to one token.

        Where a match means nothing (February 30) its tokens are put out of use, so that no later
        stage makes half of it a time.
        """
        line = "".join([_SYMBOLS[token.kind] for token in tokens])
        reduced: list[TimeToken] = []
        done = 0
        for match in self._regex.finditer(line):
            assert match.lastindex is not None
            rule = self.rules[match.lastindex - 1]
            found = tokens[match.start() : match.end()]
            reduced += tokens[done : match.start()]
            done = match.end()
            try:
                value = rule.read(found, frame)
            except (ValueError, OverflowError):  # no such day, or none the calendar reaches
                value = None
            if value is None:
                reduced += [token._replace(kind="OTHER", value=None) for token in found]
            else:
                reduced.append(TimeToken(rule.kind, found[0].start, found[-1].end, value))
        return reduced + tokens[done:] if done else tokens


def take(tokens: Sequence[TimeToken], kinds: str) -> list[Any]:
    """Return the values of the tokens of some kinds, in order."""
    wanted = [k for name in kinds.split() for k in _CLASSES.get(name, name).split()]
    return [token.value for token in tokens if token.kind in wanted]


def from_anchor(frame: TimeContext, resolve: Callable[[date], Days]) -> TimeReading:
    """Resolve against the anchor; without one, say so."""
    if frame.anchor is None:
        return TimeReading(None, True, NO_ANCHOR)
    return TimeReading(resolve(frame.anchor), True)


def reading(token: TimeToken) -> TimeReading:
    """Return what a token of the kinds WHEN means."""
    value: Any = token.value
    return value if isinstance(value, TimeReading) else TimeReading(year_of(value), again=year_of)
