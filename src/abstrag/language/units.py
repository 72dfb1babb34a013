"""Units of measure and numbers in words: how they are spelled, and what each of them stands for.

A symbol is kept as written, since case tells units apart (`mW` is not `MW`); a word becomes its
symbol. A magnitude multiplies the number and is no unit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from abstrag.data_file import read_data_file

_LISTS: Final = read_data_file("abstrag.language", "units.toml")
MAGNITUDES: Final[Mapping[str, int]] = MappingProxyType(_LISTS["magnitudes"])
MONEY_LETTERS: Final[Mapping[str, int]] = MappingProxyType(_LISTS["money_letters"])
CURRENCY_SIGNS: Final[Mapping[str, str]] = MappingProxyType(_LISTS["currency_signs"])
CURRENCY_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {**{code: code for code in _LISTS["currency_codes"].split()}, "RMB": "CNY"}
)
CURRENCY_WORDS: Final[Mapping[str, str]] = MappingProxyType(_LISTS["currency_words"])
UNIT_SYMBOLS: Final = tuple(_LISTS["symbols"].split())
_ONES: Final = "one two three four five six seven eight nine"
_TEENS: Final = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_PARTS: Final = "third fourth fifth sixth seventh eighth ninth tenth"
_VALUES: Final = {
    **{word: i + 1 for i, word in enumerate(_ONES.split())},
    **{word: i + 10 for i, word in enumerate(_TEENS.split())},
    **{word: 10 * i + 20 for i, word in enumerate(_TENS.split())},
    "a": 1,
    "an": 1,
}
_DENOMINATORS: Final = {
    **{word: i + 3 for i, word in enumerate(_PARTS.split())},
    "half": 2,
    "halve": 2,
    "quarter": 4,
}


def _unit_words() -> dict[str, str]:
    bases, prefixes = _LISTS["bases"].items(), _LISTS["prefixes"].items()
    table = {p + base: q + symbol for p, q in prefixes for base, symbol in bases}
    table.update(_LISTS["words"])
    table.update({f"{word}s": symbol for word, symbol in list(table.items())})
    table.update(_LISTS["fixed"])
    return table


UNIT_WORDS: Final[Mapping[str, str]] = MappingProxyType(_unit_words())


def _any(words: str) -> str:
    return "|".join(words.split())


_SMALL: Final = rf"(?:(?:{_any(_TENS)})(?:[\s-](?:{_any(_ONES)}))?|{_any(_TEENS)}|{_any(_ONES)})"
_HUNDREDS: Final = rf"(?:(?:{_SMALL}|a)\s)?hundred(?:\s(?:and\s)?{_SMALL})?"
# A third may be the third of something, so the plain form needs "one-third" or "two thirds".
_FRACTION: Final = (
    rf"one[\s-](?:half|quarter|{_any(_PARTS)})(?!\w)"
    rf"|(?:{_any(_ONES)})(?:-quarters|[\s-](?:halves|(?:{_any(_PARTS)})s))"
)

NUMBER_WORDS: Final = rf"(?i:{_FRACTION}|{_HUNDREDS}|{_SMALL})"


def word_value(words: str) -> Fraction:
    """Return what a match of `NUMBER_WORDS` stands for."""
    parts = [p for p in re.split(r"[\s-]+", words.lower()) if p != "and"]
    below = _DENOMINATORS.get(parts[-1].removesuffix("s"))
    if below is not None:
        return Fraction(_VALUES[parts[0]], below)
    total = 0
    for part in parts:
        total = max(total, 1) * 100 if part == "hundred" else total + _VALUES[part]
    return Fraction(total)
