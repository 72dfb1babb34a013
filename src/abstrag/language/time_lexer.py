"""The tokens that the grammar of time reads, and how its rules reduce runs of them, in stages.

Every word and mark of a text becomes a token of some kind; a word the grammar has no use for is a
`NAME`, a `PLURAL` or a plain `WORD`, so that rules can look at what surrounds a number. A numeral
inside something larger (a price, a version, a telephone number, `COVID-19`) is of no kind at all.

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
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from abstrag.files import read_data_file
from abstrag.language.calendar import (
    MONTH_NAMES,
    CalendarUnit,
    Days,
    FiscalYear,
    months,
    one_day,
    portion,
    year_of,
)

NO_ANCHOR: Final = "no anchor"
DISCOURSE: Final = "depends on the discourse"
VAGUE: Final = "no exact length"
Step = Callable[[Days], Days]  # what is counted from another time
Spell = Callable[[int], Days]  # what a time of year is in a given year
Part = Callable[[Days], Days]  # what a part is of a longer time


class TimeToken(NamedTuple):
    """A piece of text, its kind, and what it means; the value's type depends on the kind."""

    kind: str
    start: int
    end: int
    value: Any = None


_WEEKDAYS: Final = "monday tuesday wednesday thursday friday saturday sunday"

# Kinds whose words mean nothing beyond their kind.
_WORDS: Final[dict[str, str]] = read_data_file("abstrag.language", "time_words.toml")
_UNITS: Final = {
    **{u.value: (u, False) for u in CalendarUnit},
    **{f"{u.value}s": (u, True) for u in CalendarUnit if u is not CalendarUnit.CENTURY},
    "centuries": (CalendarUnit.CENTURY, True),
    "yr": (CalendarUnit.YEAR, False),
    "yrs": (CalendarUnit.YEAR, True),
}
_UNIT_KINDS: Final = {
    CalendarUnit.DAY: "UDAY",
    CalendarUnit.WEEK: "WEEK",
    CalendarUnit.MONTH: "UMONTH",
    CalendarUnit.QUARTER: "QTR",
    CalendarUnit.YEAR: "YR",
    CalendarUnit.CENTURY: "CENT",
}
_ORDINALS: Final = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_CARDINALS: Final = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen twenty"
)


def _vocabulary() -> dict[str, tuple[str, Any]]:
    table: dict[str, tuple[str, Any]] = {}
    for kind, words in _WORDS.items():
        table.update(dict.fromkeys(words.split(), (kind, None)))
    table.update({w: (_UNIT_KINDS.get(u[0], "UNIT"), u) for w, u in _UNITS.items()})
    table.update({word: ("NTH", i + 1) for i, word in enumerate(_ORDINALS.split())})
    table.update({word: ("NUMWORD", i + 1) for i, word in enumerate(_CARDINALS.split())})
    table.update({w: ("NUMWORD", n) for w, n in (("thirty", 30), ("sixty", 60), ("ninety", 90))})
    table.update(dict.fromkeys(("a", "an"), ("ONE", 1)))
    table.update({word: ("WEEKDAY", i) for i, word in enumerate(_WEEKDAYS.split())})
    table.update({f"{word}s": ("WEEKDAYS", i) for i, word in enumerate(_WEEKDAYS.split())})
    table.update({"early": ("THIRD", 0), "mid": ("THIRD", 1), "late": ("THIRD", 2)})
    table.update(dict.fromkeys(("beginning", "start", "outset"), ("EDGE", 0)))
    table.update({"middle": ("EDGE", 1), "end": ("EDGE", 2), "close": ("EDGE", 2)})
    table.update(dict.fromkeys(("previous", "prior", "preceding"), ("PRIOR", -1)))
    table.update(dict.fromkeys(("following", "subsequent", "ensuing"), ("PRIOR", 1)))
    table.update({"same": ("PRIOR", 0), "fortnight": ("FORTNIGHT", 2)})
    table.update(dict.fromkeys(("earlier", "previously"), ("EARLIER", -1)))
    table.update(dict.fromkeys(("later", "afterwards", "afterward", "thereafter"), ("EARLIER", 1)))
    table.update({"today": ("TODAY", 0), "tonight": ("TODAY", 0)})
    table.update({"yesterday": ("TODAY", -1), "tomorrow": ("TODAY", 1)})
    table.update({w: ("HOURS", w) for w in ("morning", "afternoon", "evening", "night")})
    table.update({"spring": ("SEASON", 3), "summer": ("SEASON", 6), "autumn": ("SEASON", 9)})
    table.update({"fall": ("SEASON", 9), "winter": ("WINTER", 12)})
    table.update({name.lower(): ("MONTH", i + 1) for i, name in enumerate(MONTH_NAMES)})
    return table


_VOCABULARY: Final = _vocabulary()
_SHORT_MONTHS: Final = {
    **{name[:3].lower(): i + 1 for i, name in enumerate(MONTH_NAMES) if name != "May"},
    "sept": 9,
}
_SHORT_WEEKDAYS: Final = {
    **{name[:3]: i for i, name in enumerate(_WEEKDAYS.split())},
    "tues": 1,
    "thur": 3,
    "thurs": 3,
}
_ALSO_WORDS: Final = frozenset({"may", "march", "august"})  # months only in upper case
_PLURAL: Final = re.compile(r"[^sui]s$")
_COMMON: Final = frozenset({"THING", "TALLY", "WORD"})  # in title case part of a name
_MARKS: Final = {",": "COMMA", "(": "OPEN", ")": "CLOSE", "/": "SLASH", "|": "BAR", "&": "AND"}
_MARKS.update({".": "DOT", ":": "COLON", ";": "STOP", "[": "STOP", "]": "STOP"})
_MARKS.update(dict.fromkeys("-‐‑‒–—−", "DASH"))

# A numeral neither continues a word, a price or another numeral nor is continued by one.
_LEFT: Final = r"(?<![\w#$€£¥@=.])(?<!\d[:,])(?<!\):)(?<![^\d\s]/)"
_RIGHT: Final = r"(?!\w|[%°]|[.:]\d|,\d{3}(?!\d))"
_CLOCK: Final = r"(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?"
_LEXER: Final = re.compile(
    rf"""
      (?P<etal>\bet\s+al\b\.?)
    | (?P<word>[^\W\d_]+(?!\w))
    | (?=['’\d])(?:
        (?P<iso>{_LEFT}\d{{4}}-\d\d-\d\d{_CLOCK}(?![\w-]))
      | (?P<slashed>{_LEFT}\d{{4}}/\d\d?/\d\d?(?![\w/-]))
      | (?P<numeric>{_LEFT}\d\d?(?:/\d\d?/|\.\d\d?\.)\d{{4}}(?![\w/-]))
      | (?P<blob>\d+(?:[-‐‑–.]\d+){{2,}})
      | (?P<pair>{_LEFT}\d{{4}}[-‐‑–/]\d\d(?![\w/–-]|\.\d))
      | (?P<decade>{_LEFT}(?:\d{{3}}0['’]?|['’][3-9]0)s\b)
      | (?P<year>(?:{_LEFT}|(?<=\d,)|(?:(?<=FY)|(?<=\d[QH])|(?<=[QH]\d))['’]?)\d{{4}}{_RIGHT})
      | (?P<short>(?:(?:(?<![^\W\d_])|(?<=FY))['’]|(?<=FY)|(?<=FY\s)|(?<=\d[QH]))\d\d(?!\w))
      | (?P<ordinal>{_LEFT}\d\d?(?:st|nd|rd|th)\b)
      | (?P<number>{_LEFT}\d{{1,3}}{_RIGHT}(?!/\d|\s%))
      | (?P<possessive>['’]s\b)
      )
    | (?P<quarter>\b(?:Q[1-4](?=FY\d|\b)|[1-4]Q(?=FY\d|['’]?\d\d(?:\d\d)?\b|\b)))
    | (?P<half>\b(?:H[12]\b|[12]H(?=['’]?\d\d(?:\d\d)?\b|\b)))
    | (?P<fy>(?:\b|(?<=Q[1-4])|(?<=[1-4]Q))FY(?=\s?['’]?\d\d(?:\d\d)?\b))
    | (?P<gap>\n\s*\n)
    | (?P<other>\d[\w.,:/]*|\w+|\S)
    """,
    re.VERBOSE,
)
_NUMERALS: Final = frozenset({"YEAR", "OLD", "DAY", "BIG", "ISO", "PAIR", "DECADE", "NUMERIC"})
_SHAPES: Final = "MAYBE WKD NAME PLURAL OTHER ETAL SHORT ORD PART OWNED".split()
KINDS: Final = tuple(
    sorted({kind for kind, _ in _VOCABULARY.values()} | {*_MARKS.values(), *_NUMERALS, *_SHAPES})
)
_PLAIN: Final = frozenset({"WORD", "NAME", "PLURAL", "OTHER", "THING", "REF"})
_ABBREVIATED: Final = frozenset({"MONTH", "MAYBE", "WKD", "VERSUS", "REF", "IN"})


def lex(text: str, start: int = 0, end: int | None = None) -> list[TimeToken]:
    """Cut a text, or a part of it, into tokens."""
    tokens: list[TimeToken] = []
    for found in _LEXER.finditer(text, start, len(text) if end is None else end):
        at, piece = found.start(), found[0]
        if piece == "." and tokens and _abbreviates(tokens[-1], at):
            continue
        group = found.lastgroup or "other"
        kind, value = _word(piece) if group == "word" else _other(group, piece)
        tokens.append(TimeToken(kind, at, at + len(piece), value))
        if len(tokens) > 2 and tokens[-2].kind == "DASH":
            _unhyphenate(tokens)
    return tokens


def _abbreviates(token: TimeToken, stop: int) -> bool:
    """True when a full stop belongs to the word before it ("Sept.", "vs.")."""
    return token.end == stop and token.kind in _ABBREVIATED and stop - token.start <= 4


def _unhyphenate(tokens: list[TimeToken]) -> None:
    """Take a numeral that hangs on a foreign word (`COVID-19`, `2019-nCoV`) for what it is."""
    left, dash, right = tokens[-3:]
    if left.end == dash.start and dash.end == right.start:
        if left.kind in _NUMERALS and right.kind in _PLAIN:
            tokens[-3] = left._replace(kind="OTHER")
        elif right.kind in _NUMERALS and left.kind in _PLAIN:
            tokens[-1] = right._replace(kind="OTHER")


def _word(piece: str) -> tuple[str, Any]:
    lower = piece.lower()
    known = _VOCABULARY.get(lower)
    if known is not None and not (known[0] in _COMMON and piece.istitle()):
        return ("MAYBE", known[1]) if piece in _ALSO_WORDS else known
    if lower in _SHORT_MONTHS:
        return ("MAYBE" if piece == lower else "MONTH", _SHORT_MONTHS[lower])
    if piece != lower:
        return ("WKD", _SHORT_WEEKDAYS[lower]) if lower in _SHORT_WEEKDAYS else ("NAME", None)
    return ("PLURAL" if _PLURAL.search(lower) else "WORD"), None


def _other(group: str, piece: str) -> tuple[str, Any]:
    if group in _READERS:
        try:
            return _READERS[group](piece)
        except ValueError:  # no such day in the calendar
            return "OTHER", None
    if group == "other":
        return _MARKS.get(piece, "OTHER"), None
    return {"fy": "FISCAL", "etal": "ETAL", "possessive": "POSS"}.get(group, "OTHER"), None


def _iso(piece: str) -> tuple[str, Any]:
    return "ISO", one_day(date.fromisoformat(piece[:10]))


def _slashed(piece: str) -> tuple[str, Any]:
    return "ISO", one_day(date(*map(int, piece.split("/"))))


def _numeric(piece: str) -> tuple[str, Any]:
    """Read `15.05.2024` or `05/15/2024`; dots put the day first, slashes may leave it open."""
    dotted = "." in piece
    a, b, year = map(int, piece.split("." if dotted else "/"))
    if dotted or a > 12:
        return "NUMERIC", one_day(date(year, b, a))
    day = one_day(date(year, a, b))
    return "NUMERIC", day if b > 12 or a == b else "either number may be the month"


def _pair(piece: str) -> tuple[str, Any]:
    """Read `2018/19` as two years, `2024-05` as a month; `2010-12` could be either."""
    year, tail = int(piece[:4]), int(piece[5:])
    later = tail > year % 100 or tail == (year + 1) % 100
    if 1 <= tail <= 12 and (not later or piece[4] in "-‐‑"):
        return "PAIR", "a month or a range of years" if later else months(year, tail)
    if not later:
        raise ValueError(piece)
    last = year - year % 100 + tail + (100 if tail <= year % 100 else 0)
    return "PAIR", Days(year_of(year).first, year_of(last).last)


def _decade(piece: str) -> tuple[str, Any]:
    """Read `1990s`; before 2000 a round hundred is a century, and 1900 could be either."""
    digits = re.sub(r"\D", "", piece)
    first = int(digits) if len(digits) == 4 else 1900 + int(digits)
    kind = "DECADE" if piece[-2] == "0" or len(digits) == 2 else "OWNED"  # "2010's" may own
    if first == 1900:
        return kind, "a decade or a century"
    return kind, Days(
        date(first, 1, 1), date(first + (9 if first % 100 or first >= 2000 else 99), 12, 31)
    )


def _year(piece: str) -> tuple[str, Any]:
    year = int(piece[-4:])
    return "YEAR" if 1900 <= year <= 2100 else "OLD" if 1000 <= year < 1900 else "OTHER", year


def _short_year(piece: str) -> tuple[str, Any]:
    year = int(piece[-2:])
    return "SHORT", year + (2000 if year < 50 else 1900)


def _number(piece: str) -> tuple[str, Any]:
    return "DAY" if 1 <= int(piece) <= 31 else "BIG", int(piece)


def _of_year(piece: str) -> tuple[str, Any]:
    letter, parts = ("Q", 4) if "Q" in piece else ("H", 2)
    return "PART", partial(portion, index=int(piece.strip(letter)) - 1, parts=parts)


_READERS: Final = {
    "iso": _iso,
    "slashed": _slashed,
    "numeric": _numeric,
    "pair": _pair,
    "decade": _decade,
    "year": _year,
    "short": _short_year,
    "ordinal": lambda piece: ("ORD", int(piece[:-2])),
    "number": _number,
    "quarter": _of_year,
    "half": _of_year,
}


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
