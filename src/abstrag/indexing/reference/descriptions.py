"""Definite descriptions: what a text says a named thing is, and where it then calls it so."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from abstrag.indexing.naming.mentions import UNLABELLED, PlacedName
from abstrag.indexing.reference.discourse import SentenceSpan

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_DEFINITE = re.compile(r"\b[Tt]he ((?:[\w-]+ ){0,3}[\w-]+)")
_NOT_REFERRING: Final = frozenset({"appos", "attr", "compound", "nmod", "amod", "npadvmod"})
_NARROWING: Final = frozenset({"relcl", "acl", "appos", "conj", "cc", "nummod"})
_ARTICLES: Final = frozenset({"a", "an", "the", "one"})
_MARKS: Final = frozenset({",", "–", "—", "("})
_SHORTEST: Final = 3
_BETWEEN: Final = frozenset({"NOUN", "ADJ", "PROPN", "NUM", "PUNCT"})


@dataclass(frozen=True, slots=True)
class Description:
    """A class noun with its modifiers: "startup", {"ai"}."""

    head: str
    words: frozenset[str]

    def covers(self, other: Description) -> bool:
        """True when what the other says is part of what this one says."""
        return self.head == other.head and other.words <= self.words


@dataclass(frozen=True, slots=True)
class Definite:
    """A definite description in the text, from token `first` to its head."""

    description: Description
    first: int
    head: Token


def stated(doc: Doc, name: PlacedName) -> Iterator[Description]:
    """Go through what the words around a name say it is.

    Read are "Anthropic, an AI startup,", "an AI startup, Anthropic,", "the AI startup Anthropic"
    and "Anthropic is an AI startup". The author of a citation has nothing said about them; nor,
    in "the decoder LSTM", does an acronym.
    """
    if name.cited or len(name.text) < _SHORTEST:
        return
    root = doc[name.first : name.last + 1].root
    for child in root.children:
        if child.dep_ == "appos" and _set_off(child) and _introduced(child):
            yield _described(child)
    before = doc[name.first - 1] if name.first else root
    if root.dep_ == "appos" and before.text == "," and _introduced(root.head):
        yield _described(root.head)
    elif before.tag_ == "NN" and _modifies(before, root) and _proper(name):
        yield _described(before)
    if root.dep_ == "nsubj" and root.head.lemma_ == "be" and not _qualified(root.head):
        for child in root.head.rights:
            if child.dep_ == "attr" and _introduced(child):
                yield _described(child)


def definites(doc: Doc, sentence: SentenceSpan, heads: Collection[str]) -> Iterator[Definite]:
    """Go through the bare definite descriptions of a sentence whose head is one of `heads`."""
    for found in _DEFINITE.finditer(sentence.text):
        start = sentence.start + found.start()
        place = sentence.start + found.start(1)
        for word in found.group(1).split(" "):
            if word in heads:
                made = _definite(doc, start, place, place + len(word))
                if made is not None:
                    yield made
                    break
            place += len(word) + 1


def _definite(doc: Doc, start: int, head_start: int, head_end: int) -> Definite | None:
    span = doc.char_span(start, head_end)
    head = doc.char_span(head_start, head_end)
    if span is None or head is None:
        return None
    token = head[-1]
    following = doc[token.i + 1] if token.i + 1 < len(doc) else token
    if (
        token.tag_ != "NN"
        or following.pos_ in ("PROPN", "NUM")
        or token.dep_ in _NOT_REFERRING
        or token.left_edge.i != span.start
    ):
        return None
    description = _described(token)
    if any(_narrows(c, bare=not description.words) for c in token.rights):
        return None
    return Definite(description, span.start, token)


def _narrows(child: Token, *, bare: bool) -> bool:
    """True when what follows makes it another thing: "the company that he founded".

    Prepositions other than "of" are often the verb's, so they spoil only a bare noun.
    """
    if child.dep_ == "prep":
        return bare or child.lower_ == "of"
    return child.dep_ in _NARROWING


def _described(head: Token) -> Description:
    words = (t for t in head.doc[head.left_edge.i : head.i] if t.pos_ in _BETWEEN)
    kept = (t.lower_ for t in words if t.is_alpha or "-" in t.text)
    return Description(head.lemma_.lower(), frozenset(kept))


def _introduced(token: Token) -> bool:
    """True for one thing with an article: "an AI startup"."""
    return token.tag_ == "NN" and any(
        c.dep_ == "det" and c.lower_ in _ARTICLES for c in token.lefts
    )


def _modifies(noun: Token, root: Token) -> bool:
    return noun.head == root or noun == root.head


def _proper(name: PlacedName) -> bool:
    return name.label != UNLABELLED and not name.text.isupper()


def _set_off(token: Token) -> bool:
    start = token.left_edge.i
    return start > 0 and token.doc[start - 1].text in _MARKS


def _qualified(verb: Token) -> bool:
    """True for "is not" and "may be"."""
    return any(c.dep_ in ("neg", "aux") for c in verb.children)
