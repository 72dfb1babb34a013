"""Past forms and participles that spaCy's rules reduce to the wrong verb.

Its rules try a stem without "e" first, so "fined" becomes "fin" and "rated" becomes "rat", and they
do not know "remedied". Spelling settles both: a short verb doubles its consonant ("finned"), and a
"y" after a consonant becomes "ied".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from spacy.pipeline import Lemmatizer
    from spacy.tokens import Token

VERSION: Final = 1  # of what is corrected; parsed texts that are kept depend on it
_DOUBLES: Final = re.compile(r"[^aeiou]*[aeiou][^aeiouwxy]")  # one vowel, one consonant: fin, plan
_IN_Y: Final = re.compile(r"\w*[^aeiou]y")


def corrections(verbs: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Go through forms and the verbs they are of, among some verbs."""
    known = set(verbs)
    for verb in known:
        if _DOUBLES.fullmatch(verb) and f"{verb}e" in known:
            yield f"{verb}ed", f"{verb}e"
            yield f"{verb}ing", f"{verb}e"
        if _IN_Y.fullmatch(verb):
            yield f"{verb[:-1]}ied", verb


def correct_lemmas(lemmatizer: Lemmatizer) -> None:
    """Let a lemmatizer that goes by rules give these forms their own verbs.

    Exceptions in its tables do not do it: it sorts what its rules find before them.
    """
    if lemmatizer.mode != "rule":
        return
    verbs = lemmatizer.lookups.get_table("lemma_index").get("verb", ())
    irregular = lemmatizer.lookups.get_table("lemma_exc").get("verb", {})
    known = {form: verb for form, verb in corrections(verbs) if form not in irregular}
    by_rule = lemmatizer.lemmatize

    def lemmatize(token: Token) -> list[str]:
        own = known.get(token.lower_) if token.pos_ == "VERB" else None
        return by_rule(token) if own is None else [own]

    lemmatizer.lemmatize = lemmatize
