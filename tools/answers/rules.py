"""What counts as right: the rules that answers are marked by, the same for every release.

A number is right when the answer says it and no other one, apart from those of the question, dates
and the figures of a formula; or when a quoted sentence of running text states it. A row of figures
does not say which of them is meant. A text is right when it holds what the reference has and the
question has not, within so many words. Yes and no have to be said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tools.answers.cases import Expected

LONGEST: Final = 80  # words of an answer in text
SHORT_RECALL: Final = 0.75  # of the new words of a reference of up to five
LONG_RECALL: Final = 0.5  # of a longer one without names and numbers
FACTS: Final = 0.5  # of the new names and numbers of a whole sentence
_NUMBER: Final = re.compile(
    r"(?<![\w.])\(?[-−–]?\s?[$€£]?\s?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d*\.\d+|\d+)"
)
_SCALES: Final = (1.0, 1e3, 1e6, 1e9, 1e-3, 1e-6, 1e-9, 100.0, 0.01)
_DATE: Final = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d{1,2}\b|\b(?:19|20)\d\d\b"
    r"|\b[QF]Y?\d{1,4}\b",
    re.IGNORECASE,
)
_FALL: Final = re.compile(
    r"\b(?:decreas|declin|fell|fall|drop|lower|down|loss|reduc)", re.IGNORECASE
)
_FACT: Final = re.compile(r"\b[A-Z][\w'’-]*|\d[\d.,:–-]*")
_ORDINALS: Final = {
    w: str(n)
    for n, w in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth".split(), 1
    )
}
_COUNTS: Final = {
    w: str(n) for n, w in enumerate("one two three four five six seven eight nine ten".split(), 1)
}
_STOP: Final = frozenset(
    "a an the of in on at to for from by with and or as is are was were be been it its "
    "this that these"
    " those their they them he she his her we our which who whom whose what when where how "
    "why do does"
    " did has have had not no than then there also into per each all any some".split()
)


@dataclass(frozen=True, slots=True)
class Said:
    """An answer as a release gives it: its words, the short form where it has one, the label.

    `prose` is true when everything quoted is running text, no row of a table.
    """

    text: str
    short: str = ""
    label: str = ""
    found: bool = False
    prose: bool = True


def outcome(query: str, expected: Expected, said: Said) -> str:
    """Return right, wrong or abstained; for what nothing is expected of, wrong or abstained."""
    if expected.kind in ("label",) or (expected.kind == "none" and expected.texts):
        if said.label in ("", "NOT ENOUGH INFO"):
            return "abstained"
        return "right" if said.label == expected.texts[0] else "wrong"
    if not said.found:
        return "abstained"
    if expected.kind == "none":
        return "wrong"
    return "right" if _right(query, expected, said) else "wrong"


def lenient(query: str, expected: Expected, said: Said) -> bool:
    """Tell whether an answer states what is expected somewhere, however much else it says."""
    whole = f"{said.short} {said.text}"
    if expected.kind == "number" and expected.number is not None:
        return any(same(one, expected.number) for one in numbers(whole))
    if expected.kind == "yes_no":
        return _yes_no(whole) == _yes_no(expected.texts[0])
    if expected.parts:
        return _all_parts(expected.parts, whole)
    return any(_holds(query, text, whole) for text in expected.texts)


def _right(query: str, expected: Expected, said: Said) -> bool:
    words = said.short or said.text
    if expected.kind == "number" and expected.number is not None:
        known = numbers(query)
        bare = _DATE.sub(" ", words)
        told = [n for n in numbers(bare) if not any(abs(n) == abs(k) for k in known)]
        if not told:
            told = numbers(words)
        if told and all(same(n, expected.number) for n in told):
            return expected.number >= 0 or min(told) < 0 or _FALL.search(words) is not None
        quoted = not said.short and said.prose and len(said.text.split()) <= LONGEST
        return quoted and any(same(n, expected.number) for n in numbers(said.text))
    if expected.kind == "yes_no":
        return _yes_no(words) == _yes_no(expected.texts[0])
    if len(words.split()) > LONGEST:
        return False
    if expected.parts:
        return _all_parts(expected.parts, words)
    return any(_holds(query, text, words) for text in expected.texts)


def _yes_no(text: str) -> str:
    first = re.match(r"\W*(yes|no)\b", text, re.IGNORECASE)
    return first.group(1).casefold() if first else ""


def _all_parts(parts: tuple[str, ...], text: str) -> bool:
    told = numbers(text)
    plain = " ".join(words_of(text))
    for part in parts:
        figures = numbers(part)
        if figures and not re.search(r"[a-zA-Z]{3}", part):
            if not any(same(n, figures[0]) for n in told):
                return False
        elif " ".join(words_of(part)) not in plain:
            return False
    return True


def _holds(query: str, reference: str, text: str) -> bool:
    """Tell whether a text holds what a reference says beyond the question."""
    wanted = content_words(reference) - content_words(query) or content_words(reference)
    facts = {w for w in content_words(" ".join(_FACT.findall(reference[1:]))) if w in wanted}
    if not wanted:
        return False
    if len(words_of(reference)) > 5 and facts:
        return len(facts & content_words(text)) / len(facts) >= FACTS
    got = len(wanted & content_words(text)) / len(wanted)
    return got >= (SHORT_RECALL if len(wanted) <= 5 else LONG_RECALL)


def words_of(text: str) -> list[str]:
    """Return the words of a text in lower case, numbers in one spelling."""
    plain = re.sub(r"(?<=\d)(?:st|nd|rd|th)\b", "", text.casefold().replace(",", ""))
    return [
        _ORDINALS.get(word, _COUNTS.get(word, word))
        for word in re.findall(r"[^\W\d_]+|\d+(?:\.\d+)?", plain)
    ]


def content_words(text: str) -> set[str]:
    """Return the words that carry content, plural and singular as one."""
    return {_stem(word) for word in words_of(text) if word not in _STOP}


def _stem(word: str) -> str:
    for ending in ("ies", "es", "s", "ed", "ing"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + ("y" if ending == "ies" else "")
    return word.removesuffix("e") if len(word) > 4 else word


def numbers(text: str) -> list[float]:
    """Return the numbers a text states in digits; brackets and a minus make one negative."""
    made = []
    for found in _NUMBER.finditer(text):
        value = float(found.group(1).replace(",", ""))
        negative = (
            bool(re.match(r"\(\s?[$€£]?\s?\d", found.group()))
            and ")" in text[found.end() : found.end() + 3]
        )
        negative = negative or any(sign in found.group() for sign in "-−–")
        made.append(-value if negative else value)
    return made


def same(said: float, expected: float) -> bool:
    """Tell whether two numbers are the same, in whatever thousands or percent, signs aside.

    What is told in fewer digits is the same within its last digit.
    """
    a, b = abs(said), abs(expected)
    return any(abs(a * scale - b) <= max(0.006 * b, 1e-9) for scale in _SCALES)
