"""Words and periods as answers compare them: stems of content words, years and quarters."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from abstrag.language.calendar import MONTH_NAMES

_WORD: Final = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*|\d+(?:[.,]\d+)*")
_STOP: Final = frozenset(
    "a an the of in on at to for from by with and or as is are was were be been being it "
    "its it's this"
    " that these those their they them he she his her we our us you your i my which who "
    "whom whose what"
    " when where how why do does did has have had there also into per each all any some if "
    "than then so"
    " such both between during over under within about respectively respective much many "
    "us$ s".split()
)
_YEAR: Final = re.compile(r"(?<![\d.$])(?:FY\s?|CY\s?)?['’]?((?:19|20)\d\d)(?!\d|[.,]\d)", re.I)
_SHORT_YEAR: Final = re.compile(r"\bFY\s?['’]?(\d\d)\b", re.I)
_ORDINALS: Final = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "1st": 1,
    "2nd": 2,
    "3rd": 3,
    "4th": 4,
}
_QUARTER: Final = re.compile(
    r"\bQ([1-4])\b|\b([1-4])Q\b|\b(first|second|third|fourth|1st|2nd|3rd|4th)[\s-]+quarter", re.I
)
_MONTH: Final = re.compile(rf"\b({'|'.join(MONTH_NAMES)})\b", re.I)
_SPELL: Final = re.compile(
    r"\b(three|six|nine|twelve|3|6|9|12|13|26|39|52|53)[\s-]+(months?|weeks?)\b", re.I
)
_SPELLS: Final = {
    "three": "3 months",
    "3": "3 months",
    "13": "3 months",
    "six": "6 months",
    "6": "6 months",
    "26": "6 months",
    "nine": "9 months",
    "9": "9 months",
    "39": "9 months",
    "twelve": "12 months",
    "12": "12 months",
    "52": "12 months",
    "53": "12 months",
}


@lru_cache(maxsize=1 << 14)
def stems(text: str) -> tuple[str, ...]:
    """Return the stems of a text's content words, in order, without periods."""
    plain = text.replace("’", "'").casefold().replace("&", " and ")
    return tuple(stem(word) for word in _WORD.findall(_without_periods(plain)) if word not in _STOP)


def stem(word: str) -> str:
    """Cut what inflects a word; words that differ only so are one."""
    word = word.removesuffix("'s").replace("-", "").replace("'", "").replace(".", "")
    for ending, put in (
        ("ies", "y"),
        ("sses", "ss"),
        ("ing", ""),
        ("ed", ""),
        ("es", ""),
        ("s", ""),
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: len(word) - len(ending)] + put
            break
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _without_periods(text: str) -> str:
    text = _SHORT_YEAR.sub(" ", _YEAR.sub(" ", text))
    return _QUARTER.sub(" ", _SPELL.sub(" ", text))


@lru_cache(maxsize=1 << 14)
def years(text: str) -> tuple[str, ...]:
    """Return the years a text names, in order, each once; a range names all in between."""
    ranged = re.search(r"((?:19|20)\d\d)\s?(?:-|–|to|through)\s?((?:19|20)\d\d)", text)
    found = [(m.start(), m.group(1)) for m in _YEAR.finditer(text)]
    found += [(m.start(), f"20{m.group(1)}") for m in _SHORT_YEAR.finditer(text)]
    named = [year for _, year in sorted(found)]
    if ranged and int(ranged[1]) < int(ranged[2]) <= int(ranged[1]) + 9:
        between = [str(y) for y in range(int(ranged[1]), int(ranged[2]) + 1)]
        named = [*between, *named] if ranged[1] in named else named
    return tuple(dict.fromkeys(named))


@lru_cache(maxsize=1 << 14)
def parts_of_year(text: str) -> frozenset[str]:
    """Return the quarters, months and spells of months a text names."""
    made = set()
    for found in _QUARTER.finditer(text):
        number = found[1] or found[2] or _ORDINALS[found[3].casefold()]
        made.add(f"q{number}")
    made.update(found[1].casefold() for found in _MONTH.finditer(text))
    made.update(_SPELLS[found[1].casefold()] for found in _SPELL.finditer(text))
    return frozenset(made)


_DATE: Final = re.compile(
    rf"\b(?P<month>{'|'.join(MONTH_NAMES)})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>(?:19|20)\d\d)\b"
    rf"|\b(?P<day2>\d{{1,2}})\s+(?P<month2>{'|'.join(MONTH_NAMES)})\s+(?P<year2>(?:19|20)\d\d)\b",
    re.I,
)
_NUMBERS: Final = {name.casefold(): number for number, name in enumerate(MONTH_NAMES, 1)}


@lru_cache(maxsize=1 << 14)
def dates(text: str) -> tuple[str, ...]:
    """Return the full dates a text names, as 2023-07-29, in order, each once."""
    made = []
    for one in _DATE.finditer(text):
        month = _NUMBERS[(one["month"] or one["month2"]).casefold()]
        made.append(f"{one['year'] or one['year2']}-{month:02}-{int(one['day'] or one['day2']):02}")
    return tuple(dict.fromkeys(made))
