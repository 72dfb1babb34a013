"""Numbers written out: "twelve", "two hundred and fifty", "two-thirds"."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final

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
