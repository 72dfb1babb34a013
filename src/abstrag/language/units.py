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

MAGNITUDES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "dozen": 12,
        "hundred": 100,
        "thousand": 10**3,
        "million": 10**6,
        "mn": 10**6,
        "mln": 10**6,
        "billion": 10**9,
        "bn": 10**9,
        "bln": 10**9,
        "trillion": 10**12,
        "tn": 10**12,
    }
)
# Letters that are magnitudes beside a currency only: "$5m", "€3B".
MONEY_LETTERS: Final[Mapping[str, int]] = MappingProxyType(
    {"k": 10**3, "m": 10**6, "mm": 10**6, "b": 10**9, "t": 10**12}
)
CURRENCY_SIGNS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "US$": "USD",
        "A$": "AUD",
        "AU$": "AUD",
        "C$": "CAD",
        "CA$": "CAD",
        "HK$": "HKD",
        "NZ$": "NZD",
        "S$": "SGD",
        "R$": "BRL",
        "$": "USD",
        "€": "EUR",
        "£": "GBP",
        "¥": "JPY",
        "₹": "INR",
        "₽": "RUB",
        "₩": "KRW",
    }
)
_CODES: Final = (
    "USD EUR GBP JPY CNY INR RUB KRW CHF SEK NOK DKK PLN CZK HUF AUD CAD NZD HKD SGD TWD BRL MXN "
    "ZAR TRY ILS SAR AED THB IDR MYR PHP"
)
CURRENCY_CODES: Final[Mapping[str, str]] = MappingProxyType(
    {**{code: code for code in _CODES.split()}, "RMB": "CNY"}
)
CURRENCY_WORDS: Final[Mapping[str, str]] = MappingProxyType(
    {"dollar": "USD", "euro": "EUR", "yen": "JPY", "yuan": "CNY", "renminbi": "CNY", "rupee": "INR"}
)
_PREFIXES: Final = {
    "": "",
    "pico": "p",
    "nano": "n",
    "micro": "µ",
    "milli": "m",
    "centi": "c",
    "deci": "d",
    "kilo": "k",
    "mega": "M",
    "giga": "G",
    "tera": "T",
}
_BASES: Final = {
    "metre": "m",
    "meter": "m",
    "gram": "g",
    "litre": "L",
    "liter": "L",
    "second": "s",
    "watt": "W",
    "volt": "V",
    "ampere": "A",
    "joule": "J",
    "hertz": "Hz",
    "byte": "B",
    "mole": "mol",
    "pascal": "Pa",
    "newton": "N",
    "calorie": "cal",
    "dalton": "Da",
}
_WORDS: Final = {
    "percentage point": "pp",
    "basis point": "bp",
    "time": "times",
    "minute": "min",
    "hour": "h",
    "day": "day",
    "week": "week",
    "month": "month",
    "quarter": "quarter",
    "year": "year",
    "decade": "decade",
    "inch": "in",
    "yard": "yd",
    "mile": "mi",
    "acre": "acre",
    "hectare": "ha",
    "ounce": "oz",
    "pound": "lb",
    "ton": "t",
    "tonne": "t",
    "barrel": "bbl",
    "gallon": "gal",
    "degree": "°",
    "kelvin": "K",
    "hr": "h",
    "min": "min",
    "yr": "year",
}
_FIXED: Final = {
    "percent": "%",
    "per cent": "%",
    "pct": "%",
    "fold": "fold",
    "feet": "ft",
    "foot": "ft",
    "inches": "in",
    "century": "century",
    "centuries": "century",
    "degrees celsius": "°C",
    "degrees fahrenheit": "°F",
    "square metres": "m²",
    "square meters": "m²",
    "square kilometres": "km²",
    "square kilometers": "km²",
    "square miles": "mi²",
    "square feet": "ft²",
    "cubic metres": "m³",
    "cubic meters": "m³",
    "kilowatt hours": "kWh",
    "kilowatt-hours": "kWh",
}
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
    table = {p + base: q + symbol for p, q in _PREFIXES.items() for base, symbol in _BASES.items()}
    table.update(_WORDS)
    table.update({f"{word}s": symbol for word, symbol in list(table.items())})
    table.update(_FIXED)
    return table


UNIT_WORDS: Final[Mapping[str, str]] = MappingProxyType(_unit_words())

# Kept as written. Left out are symbols that are more often something else ("5 in", "3 pm", "4 A").
_SYMBOLS: Final = (
    "% ‰ °C °F ° fm nm µm μm um mm cm dm m km mm² cm² m² km² cm³ m³ mm2 cm2 m2 km2 mm3 cm3 m3 "
    "ha ng µg μg ug mcg mg g kg Mt Gt lb lbs oz nL nl µL μL µl μl mL ml dL dl L l ps ns µs μs "
    "ms s h Hz kHz MHz GHz THz W mW kW MW GW TW Wh kWh MWh GWh TWh V mV kV mA kA eV keV MeV GeV "
    "TeV J kJ MJ GJ cal kcal Pa hPa kPa MPa GPa bar mbar atm mmHg psi N kN K mK mol mmol µmol "
    "μmol nmol pmol M mM µM μM nM pM IU Da kDa MDa bp kb Mb Gb kbp Mbp KB kB MB GB TB PB kbit "
    "Mbit Gbit kbps Mbps Gbps bps FLOPS TFLOPS PFLOPS dB dBm ppm ppb rpm fps px dpi mph ft yd "
    "bbl Bq Gy mGy Sv mSv mT Ω kΩ MΩ µF nF pF"
)
UNIT_SYMBOLS: Final = tuple(_SYMBOLS.split())


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
