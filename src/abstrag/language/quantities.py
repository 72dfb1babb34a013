"""Find numbers and their units in plain text.

A quantity is a number with what it counts or measures: `3 nm`, `12.5 percent`, `$4.2 billion`,
`two-thirds`, `5–10 mg` (two of them, one unit). Numbers that name rather than measure are left
alone: section and figure numbers, citations in brackets, versions, telephone numbers, and parts of
names such as `COVID-19`. Times are somebody else's business; their spans are passed as `exclude`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isfinite
from types import MappingProxyType
from typing import Final

from abstrag.config import MAX_QUANTITY_DIGITS
from abstrag.files import read_data_file
from abstrag.model.record import record
from abstrag.model.term import Quantity

# Units of measure and numbers in words: how they are spelled, and what each of them stands for.
#
# A symbol is kept as written, since case tells units apart (`mW` is not `MW`); a word becomes its
# symbol. A magnitude multiplies the number and is no unit.

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


def _one_of(words: str) -> str:
    return "|".join(words.split())


_SMALL: Final = (
    rf"(?:(?:{_one_of(_TENS)})(?:[\s-](?:{_one_of(_ONES)}))?|{_one_of(_TEENS)}|{_one_of(_ONES)})"
)
_HUNDREDS: Final = rf"(?:(?:{_SMALL}|a)\s)?hundred(?:\s(?:and\s)?{_SMALL})?"
# A third may be the third of something, so the plain form needs "one-third" or "two thirds".
_FRACTION: Final = (
    rf"one[\s-](?:half|quarter|{_one_of(_PARTS)})(?!\w)"
    rf"|(?:{_one_of(_ONES)})(?:-quarters|[\s-](?:halves|(?:{_one_of(_PARTS)})s))"
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


@record
class QuantityExpression:
    """A quantity at `text[start:end]`."""

    start: int
    end: int
    quantity: Quantity


def find_quantities(
    text: str, *, exclude: Iterable[tuple[int, int]] = ()
) -> tuple[QuantityExpression, ...]:
    """Return the quantities of a text, left to right, apart from each other and from `exclude`.

    In a range or a list the last unit is everybody's: in "between 5 and 10 mg" both are milligrams.
    """
    numbers = (_read(text, number) for number in _NUMBER.finditer(text))
    labels = [label.span() for label in _LABEL.finditer(text)] if _DIGIT.search(text) else []
    found = _apart((n for n in numbers if n is not None), sorted([*exclude, *labels]))
    shared = _share(text, found)
    made = (QuantityExpression(f.start, f.end, f.quantity) for f in shared if f.stands)
    return tuple(e for e in made if isfinite(e.quantity.value))


@dataclass(frozen=True, slots=True)
class _Found:
    """A number in the text with what was found around it."""

    start: int
    end: int
    number: Fraction
    factor: int = 1
    unit: str = ""
    alone: bool = True  # "one" is a number only when it has a unit

    @property
    def stands(self) -> bool:
        return self.alone or bool(self.unit) or self.factor > 1

    @property
    def quantity(self) -> Quantity:
        try:
            return Quantity(float(self.number * self.factor), self.unit)
        except OverflowError:
            return Quantity(float("inf"), self.unit)


def _apart(numbers: Iterable[_Found], taken: Sequence[tuple[int, int]]) -> list[_Found]:
    """Keep the numbers that lie outside all taken spans; both come sorted by where they begin."""
    kept: list[_Found] = []
    ahead, reach = 0, 0  # the spans that begin before a number's end, and how far they go
    for number in numbers:
        while ahead < len(taken) and taken[ahead][0] < number.end:
            reach = max(reach, taken[ahead][1])
            ahead += 1
        if reach <= number.start:
            kept.append(number)
            reach = number.end
    return kept


def _any(spellings: Iterable[str]) -> str:
    """Match any of some spellings, the longest first; a space is any white space."""
    ordered = sorted(spellings, key=lambda s: (-len(s), s))
    return "|".join(re.escape(s).replace(r"\ ", r"\s") for s in ordered)


_DIGIT: Final = re.compile(r"\d")
_SEPARATORS: Final = re.compile(r"[,\s]")
_HYPHEN: Final = r"\-‐‑"
_DASH: Final = r"\-‐‑–—−"
_RAISED: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−", "0123456789-+-")
_POWER: Final = (
    r"(?:\^\s?[-−+]?\d{1,3}(?!\d)|[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|\([-−]?\d{1,2}\))"  # 10^-3, 10⁻³, 10(-3)
)
_THOUSANDS: Final = r"\d{1,3}(?:,\d{3})+(?!,?\d)|\d{1,3}(?:[\u00a0\u2009\u202f]\d{3}|\s000)+(?!\d)"
_DIGITS: Final = rf"(?:(?:{_THOUSANDS})(?:\.\d+)?|\d+(?:[.·]\d+)?|\.\d+)"
_NUMBER: Final = re.compile(
    rf"""
    (?=[\d.])(?<![\w@#/\\.])(?<!\d[,:·])(?<![^\W\d_][{_HYPHEN}])
    (?:
      (?P<power>10{_POWER})
    | (?P<digits>{_DIGITS})
      (?:[eE](?P<exponent>[-−+]?\d{{1,3}})(?!\d)|\s?[×x*]\s?10(?P<times>{_POWER}|[-−]\d{{1,3}}))?
      (?!\d|[.·:/]\d|,\d{{3}})
    )
    | \b(?=[a-zA-Z])(?P<words>{NUMBER_WORDS})(?=\b|fold\b)
    """,
    re.VERBOSE,
)
_LABELS: Final = (
    "section sec figure fig table tab equation eq chapter page pp step phase type grade stage "
    "level class version appendix note item article clause rule paragraph line ref algorithm "
    "theorem lemma definition exhibit form room day week vol volume issue model question task"
)
# Numbers that name something, with the word, bracket or layout that says so.
_LABEL: Final = re.compile(
    rf"""
      \[\s?\d+(?:\s?[,;{_DASH}]\s?\d+)*\s?\]
    | (?=[\d(])(?<![\w.])(?:
        \d+(?:[-.:/]\d+){{2,}}(?!\w)
      | \(?\d{{3}}\)?[-.\s]\d{{3}}[-.\s]\d{{4}}(?!\w) | (?<!-)\d{{3}}-\d{{4}}(?![\w-])
      | (?:(?<=,\s)|(?<=al\.\s)|(?<=\())(?:1[89]|20)\d\d[a-z]?(?=[;)\]])
      | \d{{1,2}}\s?(?:[ap]m\b|[ap]\.m\.)
      )
    | ^[ \t]*\(?\d{{1,3}}(?:\.\d{{1,2}})*[.)]\s
    | ^[ \t]*\d{{1,2}}(?:\.\d{{1,2}})*[ \t]+(?=[A-Z][a-z])(?!(?:{_any(UNIT_SYMBOLS)})\b)
    | \b(?=[a-zA-Z])(?:(?i:{_any(_LABELS.split())})s?\.?|[Nn]os?\.|No|p\.|v\.)\s?\(?\d+(?:\.\d+)*
      (?:\s?(?:[,&{_DASH}]|and|or|to)\s?\(?\d+(?:\.\d+)*(?!\s?%))*
    """,
    re.VERBOSE | re.MULTILINE,
)
_CURRENCY: Final[Mapping[str, str]] = {**CURRENCY_SIGNS, **CURRENCY_CODES}
_BEFORE: Final = re.compile(
    rf"(?P<outer>(?<![\w)\]%])[-−])?(?:(?<!\w)(?P<currency>{_any(_CURRENCY)})\s?)?"
    r"(?P<inner>(?<![\w)\]%])[-−])?$"
)
_MAGNITUDE: Final = re.compile(rf"[\s{_HYPHEN}]?(?P<name>(?i:{_any(MAGNITUDES)}))\b|(?P<k>[kK])\b")
_MONEY_LETTER: Final = re.compile(rf"\s?(?P<name>(?i:{_any(MONEY_LETTERS)}))(?!\w)")
_SYMBOL: Final = rf"(?:{_any(UNIT_SYMBOLS)})(?![^\W\d_])"
_UNIT: Final = re.compile(
    rf"""
      \s?(?P<currency>{_any(_CURRENCY)})(?!\w)
    | [\s{_HYPHEN}]?(?P<money>(?i:{_any(CURRENCY_WORDS)}))s?\b
    | [\s{_HYPHEN}]?(?P<word>(?i:{_any(UNIT_WORDS)}))\b
    | [\s{_HYPHEN}]?(?P<symbol>{_SYMBOL}(?:/(?:{_SYMBOL}|day|week|month|year|hour)\b)*)
    | (?P<times>[x×])(?!\w|\s?\d)
    """,
    re.VERBOSE,
)
_MONEY: Final = frozenset(_CURRENCY.values())
_LINK: Final = re.compile(
    rf"(?P<range>\s?(?:[{_DASH}±]|\+/[-−]|to|through)\s?)|(?P<pair>,?\s(?:and|or)\s)|(?P<comma>,\s)"
)
_COMPARED: Final = "=<>≤≥~"  # "p < 0.05 and 95 %" is no list
_NAMED: Final = re.compile(rf"\w|[{_HYPHEN}][A-Z]|\([A-Za-z]")
_REPEATED: Final = re.compile(r"\s?\(\d[\d,]*\)")  # "thirty (30) days"
_LOOK_BACK: Final = 8  # characters in which a sign and a currency find room


def _read(text: str, number: re.Match[str]) -> _Found | None:
    """Read a number with the currency before it and the magnitude and unit after it."""
    start, end = number.span()
    if end - start > MAX_QUANTITY_DIGITS:
        return None
    before = _BEFORE.search(text[max(0, start - _LOOK_BACK) : start])
    assert before is not None  # it matches the empty string
    value = _value(number)
    if before["outer"] or before["inner"]:
        value = -value
    currency = _CURRENCY.get(before["currency"] or "", "")
    start -= len(before[0])
    if number["words"] and (repeated := _REPEATED.match(text, end)):
        end = repeated.end()
    factor = 1
    magnitude = _MAGNITUDE.match(text, end) or (
        _MONEY_LETTER.match(text, end) if currency else None
    )
    if magnitude is not None:
        name, end = (magnitude["name"] or "k").lower(), magnitude.end()
        factor = MAGNITUDES.get(name) or MONEY_LETTERS[name]
    unit = _UNIT.match(text, end) if not currency else None
    if unit is not None:
        end = unit.end()
    elif _NAMED.match(text, end):
        return None  # the first part of a name: "5G", "3-D"
    alone = (number["words"] or "").lower() != "one"
    return _Found(start, end, value, factor, currency or _unit(unit), alone)


def _value(number: re.Match[str]) -> Fraction:
    if number["words"]:
        return word_value(number["words"])
    if number["power"]:
        return Fraction(10) ** _exponent(number["power"][2:])
    value = Fraction(_SEPARATORS.sub("", number["digits"]).replace("·", "."))
    power = number["exponent"] or number["times"]
    return value * Fraction(10) ** _exponent(power) if power else value


def _exponent(raised: str) -> int:
    return int(raised.translate(_RAISED).strip("^ ()"))


def _unit(found: re.Match[str] | None) -> str:
    if found is None:
        return ""
    if found["currency"]:
        return _CURRENCY[found["currency"]]
    if found["money"]:
        return CURRENCY_WORDS[found["money"].lower()]
    if found["word"]:
        return UNIT_WORDS[" ".join(found["word"].lower().split())]
    return found["symbol"].replace("μ", "µ") if found["symbol"] else "times"


def _share(text: str, found: Sequence[_Found]) -> list[_Found]:
    """Give the numbers of a range or list the unit and the magnitude of the last of them."""
    shared = list(found)
    listed = False
    for i in range(len(shared) - 2, -1, -1):
        one, other = shared[i], shared[i + 1]
        link = _LINK.fullmatch(text, one.end, other.start)
        kind = link.lastgroup if link else None
        listed = kind == "pair" or (kind == "comma" and listed)
        if not (kind == "range" or listed) or _compared(text, one):
            continue
        if kind == "range" and one.unit in _MONEY and not other.unit:
            shared[i + 1] = other = replace(other, unit=one.unit)
        if one.unit in ("", other.unit) and one.factor == 1:
            factor = other.factor if one.number <= other.number else 1
            shared[i] = replace(one, unit=other.unit, factor=factor)
    return shared


def _compared(text: str, one: _Found) -> bool:
    return text[max(0, one.start - 2) : one.start].rstrip()[-1:] in tuple(_COMPARED)
