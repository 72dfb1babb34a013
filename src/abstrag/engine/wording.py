"""Telling a claim from a question by its wording."""

from __future__ import annotations

import re
from typing import Final

from abstrag.language.parser import parse
from abstrag.model.answer import Asked
from abstrag.search.query.question import answer_type, unwrapped

_ASKING: Final = re.compile(
    r"^\W*(?:who|whom|whose|what|which|when|where|why|how|whether)\b|\?\W*$", re.I
)
_FINITE: Final = frozenset({"VBD", "VBZ", "VBP", "MD"})
_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})


def wording_of(text: str) -> Asked:
    """Return whether a text states something or asks for something.

    A claim is a sentence with a subject and a finite verb that neither asks nor orders; key words
    without a verb ("prices of chips in 2024") are a question.
    """
    if _ASKING.search(text) or answer_type(text) is not None or unwrapped(text) != text:
        return Asked.QUESTION
    (doc,) = parse([text])
    root_is_told = any(
        token.dep_ in _SUBJECTS
        and (
            token.head.tag_ in _FINITE
            or any(child.dep_ in ("aux", "auxpass") for child in token.head.children)
        )
        for token in doc
    )
    return Asked.CLAIM if root_is_told else Asked.QUESTION
