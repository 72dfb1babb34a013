"""Morphy: the base forms an inflected English word may have, by exceptions and suffix rules."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from abstrag.lexicon.pos import Pos

# WordNet's rules of detachment (the manual page morphy(7WN)), in the order NLTK tries them.
DETACHMENTS: Final[Mapping[Pos, tuple[tuple[str, str], ...]]] = MappingProxyType(
    {
        Pos.NOUN: (
            ("s", ""),
            ("ses", "s"),
            ("ves", "f"),
            ("xes", "x"),
            ("zes", "z"),
            ("ches", "ch"),
            ("shes", "sh"),
            ("men", "man"),
            ("ies", "y"),
        ),
        Pos.VERB: (
            ("s", ""),
            ("ies", "y"),
            ("es", "e"),
            ("es", ""),
            ("ed", "e"),
            ("ed", ""),
            ("ing", "e"),
            ("ing", ""),
        ),
        Pos.ADJECTIVE: (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
        Pos.ADVERB: (),
    }
)


def candidates(form: str, pos: Pos, exceptions: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    """Yield what the base form may be: the form itself, its exceptions or, failing these, by rule.

    Whether a candidate is a word at all is for the caller to say.
    """
    yield form
    if form in exceptions:
        yield from exceptions[form]
        return
    for suffix, ending in DETACHMENTS[pos]:
        if form.endswith(suffix):
            yield form.removesuffix(suffix) + ending
