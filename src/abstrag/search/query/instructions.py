"""What a request says about the answer instead of about what it looks for.

"Assume that you are an analyst. Answer in USD millions by relying on the balance sheet: what is …?"
holds one question and two instructions. Sentences and clauses that instruct are taken out of the
text, so that no word of them becomes a condition on evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from abstrag.language.units import NUMBER_WORDS, word_value
from abstrag.model.query import AnswerForm

_BREAK: Final = re.compile(r"(?<=[.?!:;])\s+(?=\S)")
_ASKS: Final = r"(?:whether|if|how|what|which|who|when|where|why)\b"
_ANSWER: Final = r"(?:(?:a|an|your|the|this|each)\s+)?(?:final\s+)?(?:answers?|responses?|replies)"
_INSTRUCTION: Final = re.compile(
    rf"""^(?:also\s+|and\s+|then\s+)?(?:please\s+)?(?:
      (?:answer|respond|reply)\b(?!\s+(?:to\s+)?(?:me\s+)?{_ASKS})
    | (?:give|provide|write|express|report|state|present|format|return|keep|limit|base|justify|
        round|calculate)\s+(?:me\s+|us\s+)?{_ANSWER}\b
    | round\s+(?:to|off|up|down|it)\b
    | (?:assume|imagine|pretend|suppose)\s+(?:that\s+)?you(?:'re|\s+(?:are|were)|r\s+role)\b
    | (?:you\s+are|act\s+as|acting\s+as)\s+(?:an?|the)\b
    | (?:only\s+)?(?:use|rely\s+on|refer\s+to|look\s+at|consult|consider)\s+(?:only|just|solely|
        exclusively|primarily|mainly)\b
    | (?:only|just|solely|exclusively|primarily|mainly)\s+(?:use|rely\s+on|refer\s+to|look\s+at)\b
    | (?:do\s+not|don't|never)\s+(?:use|guess|make\s+up|invent|include|explain|add)\b
    | (?:we|i)\s+(?:need|want|would\s+like)\s+to\s+(?:calculate|compute|determine|derive)\s+an?\s+
        (?:[\w-]+\s+)?(?:metric|figure|number|ratio|value)\b
    | (?:show|explain)\s+your\s+(?:work|working|reasoning|steps|answer)\b
    | (?:think|reason|work)\s+step[\s-]by[\s-]step\b
    | (?:be\s+(?:brief|concise|short|specific)|cite\s+(?:your\s+)?(?:sources?|evidence|the))\b
    | if\s+(?:it|this|that|so|the\s+(?:answer|information|document|text)|no\s+(?:answer|
        information)|you|there|not)\b[^?]*?\b(?:not|no|n't|cannot|can't|unable|missing|unknown)?\b[^?]*?,?\s*
        (?:then\s+)?(?:please\s+)?(?:say|state|answer|respond|reply|write|output|return|tell)\b
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_MONEY: Final = r"(?:USD|US\$|EUR|GBP|JPY|CHF|\$|€|£|(?:US\s+)?dollars?|euros?|pounds?|yen)"
_SCALE: Final = r"(?:thousands?|millions?|billions?|trillions?)"
_UNIT: Final = (
    rf"(?:{_MONEY}(?:\s+{_SCALE})?|{_SCALE}(?:\s+(?:of\s+)?{_MONEY})?|percent(?:age)?(?:\s+points?)?"
    r"|%|basis\s+points?)"
)
_UNIT_SAID: Final = re.compile(rf"\bin\s+(?:terms\s+of\s+)?(?P<unit>{_UNIT})(?!\w)", re.I)
_DECIMALS: Final = re.compile(
    rf"\b(?:to|with)\s+(?:the\s+nearest\s+)?(?P<n>\d|{NUMBER_WORDS})\s+(?:decimals?|digits?)\b",
    re.I,
)
_LENGTH: Final = re.compile(
    rf"\b(?:in|with|using)\s+(?:only\s+|just\s+|at\s+most\s+)?(?P<length>(?:(?:an?|one|\d+|"
    rf"{NUMBER_WORDS}|a\s+single|a\s+few)\s+(?:words?|sentences?|paragraphs?|lines?|numbers?|bullet\s"
    r"points?)|yes\s+or\s+no))\b",
    re.I,
)
_READER: Final = re.compile(
    r"\b(?:as\s+if\s+you\s+(?:are|were)|(?:assume|imagine|pretend|suppose)\s+(?:that\s+)?you\s+(?:are|"
    r"were)|you\s+are|act(?:ing)?\s+as|from\s+the\s+(?:perspective|point\s+of\s+view)\s+of)\s+"
    r"(?P<reader>(?:an?|the)\s+[\w -]+?)(?=[.,:;?!]|$|\s+(?:and|who|by|using|based)\b)",
    re.I,
)
_MISSING: Final = re.compile(r"^(?:and\s+|also\s+)?if\b.*\b(?:not|no|n't|cannot|missing)\b", re.I)
_SOURCE: Final = re.compile(
    r"""\b(?:use|using|rely(?:ing)?\s+on|based\s+on|refer(?:ring)?\s+to|look(?:ing)?\s+at|consult
      |according\s+to|base\s+your\s+answer\s+on|information\s+(?:in|from)
      |(?:shown|given|found|provided|stated|reported|contained|outlined)\s+
       (?:(?:primarily|only|mainly)\s+)?(?:in|by|on|within))\s+
    (?:only\s+|primarily\s+|mainly\s+|solely\s+)?(?:the|its|their)\s+
    (?!(?:details?|information|data|figures)\b)
    (?P<source>[\w&'\ -]{3,60}?)(?=\s*(?:[.,:;?!)]|$|\band\b|\bas\b|\bfor\b))""",
    re.IGNORECASE | re.VERBOSE,
)
_VAGUE: Final = re.compile(
    r"\b(?:question|details?|information|data|facts?|context|passages?|text|documents?|papers?|"
    r"reports?|filings?|manual|policy|article|study|authors?|above|below|following)\b",
    re.I,
)
# Clauses of a question that instruct; what they hold is read before they are cut.
_CLAUSES: Final = re.compile(
    rf"""^(?:in\s+agreement\s+with|based\s+on|by\s+using|using|relying\s+on|drawing\s+on)\s+(?:only\s+)?
      (?:the\s+)?(?:details?|information|data|figures)\b[^,:?]*[,:]\s*
    | \s*(?:
      \(\s*(?:answer\s+)?in\s+{_UNIT}\s*\)
    | ,?\s+in\s+{_UNIT}(?=\s*[?.!]?\s*$)
    | ,?\s+as\s+if\s+you\s+(?:are|were)\s+[^,:;?.]+(?=[,:;?.]|$)
    | ,?\s+(?:by\s+)?(?:only\s+|primarily\s+|mainly\s+|solely\s+)?(?:relying\s+on|using)\s+
        (?:only\s+|primarily\s+)?(?:the\s+)?(?:details?|information|data|figures|numbers)\s+
        (?:that\s+(?:is|are)\s+)?(?:shown|given|found|provided|stated|reported)\s+(?:in|by|on)\s+[^,:;?.]+(?=[,:;?.]|$)
    | ,?\s+according\s+to\s+(?:the|this|its)\s+[\w&'\ -]{{3,60}}?(?=[,:;?.]|$)
    | ,?\s+(?:(?:as|that\s+(?:is|are)|which\s+(?:is|are))\s+)?(?:mentioned|stated|described|
        reported|presented|discussed)\s+in\s+(?:the|this)\s+(?:[\w-]+\s+)?(?:papers?|documents?|reports?|
        articles?|studies|study|texts?|filings?|manual|10-?K|10-?Q)\b(?:\s+report)?
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_COUNT: Final = re.compile(
    rf"^(?:what\s+(?:are|were)|name|list|give|which)\s+(?:the\s+)?(?:(?:top|first|main)\s+)?"
    rf"(?P<n>{NUMBER_WORDS}|\d{{1,2}})\s+(?=[a-z])(?!(?:of|percent|years?|months?|days?)\b)",
    re.I,
)


@dataclass(frozen=True, slots=True)
class QuestionRequest:
    """The question of a request, what it says about the answer, and the sources it names."""

    question: str
    form: AnswerForm | None
    sources: tuple[str, ...]


def read_request(text: str) -> QuestionRequest:
    """Take the instructions out of a request; one that is nothing else stays as it is."""
    parts = _BREAK.split(text)
    orders = [bool(_INSTRUCTION.match(part)) and not part.endswith("?") for part in parts]
    if all(orders):
        return QuestionRequest(text, None, ())
    asked = " ".join(part for part, order in zip(parts, orders, strict=True) if not order)
    said = [part for part, order in zip(parts, orders, strict=True) if order]
    said += [found.group() for found in _CLAUSES.finditer(asked)]
    question = _CLAUSES.sub("", asked).strip()
    if not re.search(r"\w", question):
        return QuestionRequest(text, None, ())
    form, sources = _form(said, question), tuple(dict.fromkeys(_sources(said)))
    return QuestionRequest(question, form, sources)


def _form(said: list[str], question: str) -> AnswerForm | None:
    whole = " ".join(said)
    unit, length, reader = (p.search(whole) for p in (_UNIT_SAID, _LENGTH, _READER))
    decimals, count = _DECIMALS.search(whole), _COUNT.match(question)
    form = AnswerForm(
        length=length["length"] if length else None,
        unit=unit["unit"] if unit else None,
        decimals=_number(decimals["n"]) if decimals else None,
        count=_number(count["n"]) if count else None,
        reader=reader["reader"] if reader else None,
        says_when_missing=any(_MISSING.match(part) for part in said),
    )
    return None if form == AnswerForm() else form


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else int(word_value(text))


def _sources(said: list[str]) -> Iterator[str]:
    for part in said:
        for found in _SOURCE.finditer(part):
            name = " ".join(found["source"].split())
            if not _VAGUE.search(name):
                yield name.casefold()


def counted(question: str) -> tuple[int, int] | None:
    """Return where a question says how many things it wants named: "three" of "three reasons"."""
    found = _COUNT.match(question)
    return found.span("n") if found else None
