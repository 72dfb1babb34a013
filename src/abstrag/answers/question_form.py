"""The form of the answer a question asks for, and words and periods as answers compare them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Final

from abstrag.files import read_data_file
from abstrag.language.calendar import MONTH_NAMES


class Form(StrEnum):
    """What an answer has to be."""

    NUMBER = "number"
    CHANGE = "change"
    PERCENT_CHANGE = "percent change"
    SHARE = "share"
    RATIO = "ratio"
    AVERAGE = "average"
    SUM = "sum"
    DIFFERENCE = "difference"
    PERIOD = "period"
    COUNT = "count"
    YES_NO = "yes or no"
    TEXT = "text"


class FigureComparison(StrEnum):
    """How figures are compared."""

    MORE = "more"
    LESS = "less"
    MOST = "most"
    LEAST = "least"
    RISE = "rise"
    FALL = "fall"
    CHANGE = "change"


@dataclass(frozen=True, slots=True)
class QuestionTarget:
    """A question read for its answer: the form, the names of what is looked up, and the periods.

    `measures` are the wordings of the quantities: one, or the two of a share, ratio or difference.
    """

    form: Form
    measures: tuple[str, ...]
    years: tuple[str, ...]
    parts: frozenset[str]
    dates: tuple[str, ...] = ()  # in full, as 2023-07-29
    comparison: FigureComparison | None = None
    limit: float | None = None
    listed: bool = False  # the periods themselves are asked for: "which years does the table …?"


LISTS: Final = read_data_file("abstrag.answers", "questions.toml")
_ASIDE: Final = re.compile(
    r"\((?:[^()]{0,40}\bin\b[^()]*|[^()]*(?:million|thousand|%)[^()]*)\)", re.I
)
_OPENING: Final = re.compile(
    r"^\s*(?:what|which|how)\b\s*(?:(?:'s|is|was|were|are|will be|would be|has been|"
    r"amount of|much(?:\s+of)?|many|does|do|did)\b\s*)*"
    r"(?:the\s+)?(?:(?:respective|total amount|amounts?|values?|number|figures?|balances?|"
    r"level|size)\s+of\s+)?(?:the\s+)?"
    r"(?:company'?s?\s+)?",
    re.I,
)
_PERCENT: Final = r"(?:percent(?:age)?|per\s?cent|%)"
_MOVE: Final = r"(?:change|increase|decrease|growth|decline|rise|drop|fall|reduction|grow|variance)"
_MOVED: Final = (
    r"(?:change[ds]?|increase[ds]?|decrease[ds]?|gr[eo]w[ns]?|growth|decline[ds]?|rise|rose|"
    r"dropp?(?:ed)?|f[ae]ll|fell|reduced?|gone up|gone down)"
)
_PERCENT_CHANGE: Final = re.compile(
    rf"(?<!\w){_PERCENT}(?:age)?\s+(?:\w+\s+)?{_MOVE}|\b{_MOVE}\s+(?:rate|(?:\(?in\s+)?{_PERCENT}|(?:as|in)\s+a\s+{_PERCENT})"
    rf"|\bby\s+(?:what|how\s+many)\s+{_PERCENT}|\bgrowth\s+rate|{_MOVED}.{{0,80}}\b(?:in|by)\s+{_PERCENT}"
    rf"|\bwhat\s+{_PERCENT}\s+(?:did|has|have).{{0,80}}{_MOVED}|"
    rf"year[- ]over[- ]year\s+(?:{_PERCENT}\s+)?{_MOVE}",
    re.I,
)
_SHARES: Final = (
    re.compile(
        rf"{_PERCENT}\s+constitution\s+of\s+(?P<a>.+?)\s+(?:among|of|in|to|over|from|out\s+of)\s+(?P<b>.+)",
        re.I,
    ),
    re.compile(
        rf"(?P<a>.+?)\s+(?:expressed\s+)?as\s+a\s+(?:{_PERCENT}|proportion|share|fraction)\s+(?:of|to)\s+(?P<b>.+)",
        re.I,
    ),
    re.compile(
        rf"what\s+(?:{_PERCENT}|proportion|share|fraction|portion)\s+of\s+(?P<b>.+?)\s+(?:is|was|were|are|came\s+from|comes\s+from|"
        r"(?:is|was|were|are)?\s*(?:made\s+up|represented|accounted\s+for|comprised|attributable)\s*(?:by|of|for|to)?|consists?\s+of|"
        r"does|did|occurred\s+in|relates?\s+to)\s+(?P<a>.+)",
        re.I,
    ),
    re.compile(
        rf"(?:{_PERCENT}|proportion|share|fraction|portion)\s+of\s+(?P<a>.+?)\s+(?:over|to|in|out\s+of|among|divided\s+by|as\s+part\s+of|against|relative\s+to|on)\s+(?:the\s+)?(?P<b>(?:total|overall|net|gross|all|its|their|entire)?\b.+)",
        re.I,
    ),
)
_RATIO: Final = re.compile(
    r"ratio\s+(?:of|between)\s+(?P<a>.+?)\s+(?:to|and|over)\s+(?P<b>.+)", re.I
)
_AVERAGE: Final = re.compile(r"\b(?:average|mean)\b(?:\s+annual)?", re.I)
_EACH: Final = re.compile(r"\brespective(?:ly)?\b", re.I)
_WEIGHTED: Final = re.compile(r"\bweighted[- ]average\b", re.I)
_TWICE: Final = re.compile(  # the change of a change, or an average of changes
    r"\b(?:change|difference)\s+in\s+(?:the\s+)?[^?]{0,60}\b(?:growth|change)\b(?!\s+(?:in|of|to)\b)"
    r"|\baverage\s+(?:year[- ]on[- ]year|annual)\s+(?:change|growth|increase|decrease)"
    r"|\bsequential\s+and\b",
    re.I,
)
_SUM: Final = re.compile(r"\bsum\s+of\b|\bcombined\b|\baltogether\b|\bin\s+total\b", re.I)
_DIFFERENCE: Final = re.compile(
    r"difference\s+(?:(?:in|of)\s+(?P<of>[^?]{3,90}?)\s+)?between\s+(?P<a>.+?)\s+(?:and|compared\s+(?:with|to)|versus|vs\.?)\s+(?P<b>.+)",
    re.I,
)
_CHANGE: Final = re.compile(
    rf"\b(?:what|which|how)\b.{{0,40}}?\b(?:(?:net|absolute|total|overall|dollar)\s+)?(?:{_MOVE}|difference)(?:\s?/\s?\(?\w+\)?)?\s+(?:in|of|between|from|for|to)\b"
    rf"|\bhow\s+much\b.{{0,60}}\b(?:did|has|have|was|were)\b.{{0,100}}\b{_MOVED}|\bby\s+how\s+much\b|\bhow\s+much\s+(?:more|less|higher|lower)\b",
    re.I,
)
_PERIOD: Final = re.compile(
    r"\b(?:(?:in|during|of|for|at)\s+)?(?:which|what)\s+(?:of\s+the\s+)?(?:fiscal\s+|financial\s+|calendar\s+)?(?:years?|quarters?|periods?)\b",
    re.I,
)
_LISTED: Final = re.compile(
    r"\b(?:does|do|did|is|are|was|were)?\s*(?:the\s+)?(?:table|information|data)\b(?:\s+(?:provides?|provided|shows?|given|include[sd]?|covers?))?"
    r"(?:\s+(?:the\s+)?(?:information|data))?(?:\s+(?:for|of|on|about|in))?|\b(?:provided|included|covered|calculated|presented|recorded|listed|shown)\b(?:\s+in\s+the\s+table)?",
    re.I,
)
_COUNT: Final = re.compile(
    r"\bhow\s+many\s+(?:of\s+the\s+)?(?:fiscal\s+)?(?:years|quarters|periods|months)\b", re.I
)
_NUMBER: Final = re.compile(
    r"^\s*(?:how\s+(?:much|many|large|big|high|low)\b|(?:by|for|at|to)\s+what\b|what(?:'s|\s+(?:is|was|were|are|will\s+be|would\s+be|"
    r"percent\w*|amount|number))\b|(?:give|state|tell|report|calculate|name|find|show)\b)",
    re.I,
)
_TOTAL: Final = re.compile(
    r"^what\s+(?:is|was|were|are)\s+the\s+total\s+(?:amount|sum)\s+of\b", re.I
)
_REASON: Final = re.compile(
    r"^\s*(?:what|which)\s+(?:\w+\s+)?(?:drove|caused?|led|explains?|contributed|factors?|reasons?|does|do|did|can|resulted)\b|^\s*why\b|"
    r"\b(?:reasons?|causes?|drivers?|factors?)\s+(?:for|of|behind)\b|\bmean(?:ing)?\s+(?:of|by)\b|\bdefin(?:ed|ition)\b|\bdue\s+to\b|\bprimarily\s+(?:due|attribut)",
    re.I,
)
_YES_NO: Final = re.compile(
    r"^\s*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must)\b", re.I
)
_COMPARISONS: Final = tuple(
    (FigureComparison(one["is"]), re.compile(rf"\b(?:{'|'.join(one['words'])})\b", re.I))
    for one in LISTS["comparisons"]
)
_LIMIT: Final = re.compile(
    r"(?:than|exceed(?:s|ed)?|above|over|below|under|least|"
    r"most)\s+(?:US)?[$€£]?\s?(?P<n>\d[\d,]*(?:\.\d+)?)\b(?!\s?(?:-|to)\s?\d)",
    re.I,
)
_PERIOD_WORDS: Final = re.compile(
    r"\b(?:(?:for|in|during|as\s+(?:of|at)|at|from|to|between|since|over|until)\s+)?(?:the\s+)?(?:fiscal|financial|calendar|full)?\s*(?:years?|periods?|quarters?)"
    r"(?:\s+(?:ended|ending|end))?\b|\byear[- ]end\b|\bfiscal\b|\bQ[1-4]\b|\b(?:FY|CY)\s?\d*\b",
    re.I,
)
_FILLER: Final = re.compile(
    rf"\b(?:respective(?:ly)?|did|does|reports?|reported|spen[dt]|earned|generated?|ended|balance\s+on|recorded|compared?|comparing|versus|vs|according|table|amounts?|values?|company(?:'s)?|approximately|"
    rf"please|calculate|compute|give|find|figures?|year[- ]over[- ]year|yoy|both|same|"
    rf"following|previous|prior|there|any|exactly|overall|in\s+(?:terms\s+of\s+)?"
    rf"{_PERCENT}|thousands?|millions?|billions?|dollars?|USD|US\$|annual(?:ly)?)\b|[$€£]",
    re.I,
)


def wanted(question: str) -> QuestionTarget:
    """Read what a question asks for."""
    text = " ".join(_ASIDE.sub(" ", question).split())
    named, parts = years(text), parts_of_year(text)
    form = _form(text)
    comparison = next((one for one, p in _COMPARISONS if p.search(text)), None)
    limit = _LIMIT.search(text)
    value = None
    if limit is not None and not years(limit["n"]):
        value = float(limit["n"].replace(",", ""))
    listed = form is Form.PERIOD and _LISTED.search(text) is not None
    measures = _measures(_LISTED.sub(" ", text) if listed else text, form)
    return QuestionTarget(form, measures, named, parts, dates(text), comparison, value, listed)


def _form(text: str) -> Form:
    return next((form for form, holds in _FORMS if holds(text)), Form.TEXT)


def _is_share(text: str) -> bool:
    found = next((m for p in _SHARES if (m := p.search(text))), None)
    return found is not None and bool(stems(found["b"]))  # "… of customers in 2019" is none


def _is_difference(text: str) -> bool:
    between = _between(text)
    return bool(between and not years(between[0]) and not years(between[1][:24]))


def _between(text: str) -> tuple[str, str] | None:
    """Return the two things whose difference is asked for, each in full.

    "The difference in gross value between trade names and patents" is one of two gross values.
    """
    found = _DIFFERENCE.search(text)
    if found is None or not stems(found["a"]) or not stems(found["b"]):
        return None
    of = f"{found['of']} " if found["of"] else ""
    return of + found["a"], of + found["b"]


def _is_sum(text: str) -> bool:
    return bool(_SUM.search(text) or (_TOTAL.search(text) and len(years(text)) > 1))


# The first that holds is the form; a change of an average is a change.
_FORMS: Final[tuple[tuple[Form, Callable[[str], object]], ...]] = (
    (Form.TEXT, lambda text: _REASON.search(text) or _TWICE.search(text)),
    (Form.YES_NO, _YES_NO.match),
    (Form.COUNT, _COUNT.search),
    (Form.PERIOD, _PERIOD.search),
    (Form.PERCENT_CHANGE, _PERCENT_CHANGE.search),
    (Form.SHARE, _is_share),
    (Form.RATIO, _RATIO.search),
    (Form.CHANGE, lambda text: _CHANGE.search(text) and _AVERAGE.search(text)),
    (Form.AVERAGE, lambda t: _AVERAGE.search(_WEIGHTED.sub(" ", t)) and not _EACH.search(t)),
    (Form.DIFFERENCE, _is_difference),
    (Form.CHANGE, _CHANGE.search),
    (Form.SUM, _is_sum),
    (Form.NUMBER, _NUMBER.match),
)


def _measures(text: str, form: Form) -> tuple[str, ...]:
    """Return the wordings of what is to be looked up."""
    text = text.rstrip("?. ")
    if form is Form.SHARE:
        found = next(m for p in _SHARES if (m := p.search(text)))
        return measure(found["a"]), measure(found["b"])
    if form is Form.RATIO:
        ratio = _RATIO.search(text)
        assert ratio is not None
        return measure(ratio["a"]), measure(ratio["b"])
    if form is Form.DIFFERENCE:
        between = _between(text)
        assert between is not None
        return measure(between[0]), measure(between[1])
    return (measure(text, form),)


def measure(text: str, form: Form | None = None) -> str:
    """Return the words of a question that name a quantity."""
    text = _YES_NO.sub(" ", _OPENING.sub(" ", text))
    if form in (Form.PERCENT_CHANGE, Form.CHANGE, Form.YES_NO):
        text = re.sub(
            rf"\b(?:net\s+|absolute\s+)?{_PERCENT}?\s*(?:{_MOVE}|{_MOVED}|difference)\b(?:\s?/\s?\(?\w+\)?)?",
            " ",
            text,
            flags=re.I,
        )
        text = re.sub(rf"(?<!\w){_PERCENT}", " ", text, flags=re.I)
        text = re.sub(
            r"\b(?:by|how much|much|how many|what|more|less|higher|lower)\b", " ", text, flags=re.I
        )
    if form is Form.AVERAGE:
        text = _AVERAGE.sub(" ", text)
    if form is Form.SUM:
        text = _TOTAL.sub(" ", _SUM.sub(" ", text))
    if form in (Form.PERIOD, Form.COUNT):
        text = _COUNT.sub(" ", _PERIOD.sub(" ", text))
        text = _LIMIT.sub(" ", text)
    if form in (Form.PERIOD, Form.COUNT, Form.YES_NO):
        for _, pattern in _COMPARISONS[:6]:
            text = pattern.sub(" ", text)
    return " ".join(_FILLER.sub(" ", _PERIOD_WORDS.sub(" ", text)).split())


_WORD: Final = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*|\d+(?:[.,]\d+)*")
_STOP: Final = frozenset(LISTS["stop_words"].split())
_YEAR: Final = re.compile(r"(?<![\d.$])(?:FY\s?|CY\s?)?['’]?((?:19|20)\d\d)(?!\d|[.,]\d)", re.I)
_FISCAL: Final = re.compile(
    r"\b(?:(?:fiscal|financial)(?:\s+years?)?|FY)\s?['’]?(?:20)?\d\d\b", re.I
)
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


def names_fiscal_year(text: str) -> bool:
    """Tell whether a question names its years as fiscal ones: "fiscal 2022", "FY22"."""
    return _FISCAL.search(text) is not None


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
