"""A question that wants yes or no, as the claim it asks about: "Do they use X?" is "They use X."."""

from __future__ import annotations

import re
from typing import Final

from abstrag.language.parser import parse

_DO: Final = re.compile(r"^\s*(?:do|does|did)\s+", re.I)
_AUXILIARY: Final = re.compile(
    r"^\s*(is|are|was|were|has|have|had|can|could|will|would|should|may|must)\s+", re.I
)
_OR: Final = re.compile(r"\bor\b", re.I)


def claim_of(question: str) -> str | None:
    """Return the claim that yes affirms; None for a question that is no such one."""
    text = question.strip().rstrip("?").strip()
    if _OR.search(text):
        return None
    if _DO.match(text):
        return _sentence(_DO.sub("", text, count=1))
    found = _AUXILIARY.match(text)
    if found is None:
        return None
    rest = text[found.end() :]
    end = _subject_end(question)
    cut = end - found.end() if end is not None else None
    if cut is None or not 0 < cut < len(rest):
        return None
    return _sentence(f"{rest[:cut]} {found.group(1).lower()} {rest[cut:].strip()}")


def _subject_end(question: str) -> int | None:
    """Return where the subject of an inverted sentence ends."""
    (doc,) = parse([question])
    for token in doc:
        if token.dep_ in ("nsubj", "nsubjpass") and token.i > 0:
            last = max(token.subtree, key=lambda one: one.i)
            return int(last.idx + len(last.text))
    return None


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:] + "."
