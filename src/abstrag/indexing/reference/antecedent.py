"""How an antecedent reads in the place of its anaphor."""

from __future__ import annotations

import re

from abstrag.language.spelling import possessive

_INDEFINITE = re.compile(r"^(?:an?|some)\s+", re.IGNORECASE)
_DETERMINED = re.compile(r"^(?:the|this|that|these|those|such|both|many|most|several|all)\b", re.I)


def rewritten_as(anaphor: str, antecedent: str, *, owns: bool = False) -> str:
    """Return what to write for an anaphor; `owns` when it is a possessive.

    What was "a model" has become "the model", and a capital goes with the place:

        >>> rewritten_as("Its", "a model", owns=True)
        "The model's"
    """
    text = _INDEFINITE.sub("the ", antecedent)
    if _DETERMINED.match(text):
        text = text[0].lower() + text[1:]
    if anaphor[:1].isupper():
        text = text[0].upper() + text[1:]
    return possessive(text) if owns else text
