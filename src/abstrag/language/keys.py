"""Canonical keys: how surfaces become the second half of a term's id."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from abstrag.model.term import TermKind

if TYPE_CHECKING:
    from spacy.tokens import Span as Tokens
    from spacy.tokens import Token

_DASHES = re.compile(r"[‐‑‒–—−]")
_QUOTES = re.compile(r"[’‘`´]")
_NOT_KEY = re.compile(r"[^\w\s.%&+/'-]+")
_SPACE = re.compile(r"\s+")
_HYPHEN = re.compile(r"(?<=\w) ?- ?(?=\w)")  # a parser takes "fine-tuned" apart


def key(surface: str) -> str:
    """Fold a surface to its key: compatibility forms, case, dashes and spaces made one."""
    text = unicodedata.normalize("NFKC", surface)
    text = _QUOTES.sub("'", _DASHES.sub("-", text)).casefold()
    text = _SPACE.sub(" ", _NOT_KEY.sub(" ", text))
    return _HYPHEN.sub("-", text).strip(" .'-/")


def lemma(token: Token) -> str:
    """Return the lemma of one token, folded; a pronoun or a name keeps its own form."""
    text = token.text if token.pos_ in ("PROPN", "PRON") else token.lemma_
    return key(text) or key(token.text)


def phrase_key(tokens: Tokens) -> str:
    """Return the key of a noun phrase: its words, the head lemmatized, no determiners in front."""
    words = list(tokens)
    while words and words[0].pos_ in ("DET", "PRON", "PUNCT", "NUM", "ADP", "CCONJ"):
        words = words[1:]
    while words and words[-1].is_punct:
        words = words[:-1]
    if not words:
        return key(tokens.text)
    return key(" ".join([*(w.lower_ for w in words[:-1]), lemma(words[-1])]))


def term_id(kind: TermKind, term_key: str) -> str:
    """Put the two halves of a term's id together."""
    return f"{kind.value}:{term_key}"
