"""Definite descriptions: what a text says its named things are, and where it then calls them so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from abstrag.indexing.naming.mentions import UNLABELLED, PlacedName
from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.reference.phrases import DocumentEntities, Phrase, SentenceSpan
from abstrag.indexing.reference.pronouns import coarguments
from abstrag.lexicon.inventory import listed_words

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_DEFINITE = re.compile(r"\b[Tt]he ((?:[\w-]+ ){0,3}[\w-]+)")
_NOT_REFERRING: Final = frozenset({"appos", "attr", "compound", "nmod", "amod", "npadvmod"})
_NARROWING: Final = frozenset({"relcl", "acl", "appos", "conj", "cc", "nummod"})
_ARTICLES: Final = frozenset({"a", "an", "the", "one"})
_MARKS: Final = frozenset({",", "–", "—", "("})
_SHORTEST: Final = 3
_BETWEEN: Final = frozenset({"NOUN", "ADJ", "PROPN", "NUM", "PUNCT"})
_PROMINENT: Final = 0.45  # a subject, an object, an oblique; not a modifier
_VAGUE: Final = listed_words("vague")
# Head nouns that may stand for any entity of a label, for instance "the company" for an ORG.
_TYPICAL: Final = MappingProxyType(
    {
        "ORG": listed_words("organizations"),
        "PERSON": frozenset({"man", "woman", "executive"}),
    }
)
_ORGANIZATIONS: Final = _TYPICAL["ORG"] | listed_words("kinds_of_organization")
_TYPICAL_HEADS: Final = frozenset(head for heads in _TYPICAL.values() for head in heads)


@dataclass(frozen=True, slots=True)
class _Description:
    """A class noun with its modifiers: "startup", {"ai"}."""

    head: str
    words: frozenset[str]

    def covers(self, other: _Description) -> bool:
        """True when what the other says is part of what this one says."""
        return self.head == other.head and other.words <= self.words


@dataclass(frozen=True, slots=True)
class Definite:
    """A definite description in the text, from token `first` to its head."""

    description: _Description
    first: int
    head: Token


def stated(doc: Doc, name: PlacedName) -> Iterator[_Description]:
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


def _described(head: Token) -> _Description:
    words = (t for t in head.doc[head.left_edge.i : head.i] if t.pos_ in _BETWEEN)
    kept = (t.lower_ for t in words if t.is_alpha or "-" in t.text)
    return _Description(head.lemma_.lower(), frozenset(kept))


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


class Stated:
    """What a text says its named things are, and the nouns it may therefore call them by."""

    def __init__(
        self, draft: IndexDraft, names: Sequence[PlacedName], cast: DocumentEntities
    ) -> None:
        """Read what stands around every name."""
        self.said: dict[str, list[tuple[int, _Description]]] = defaultdict(list)
        self.by_head: dict[str, dict[str, int]] = defaultdict(dict)  # noun → things, since when
        for name in names:
            group = cast.groups[name.text]
            nouns = _class_words(name)
            for description in stated(draft.parses[name.parse], name):
                self.said[group].append((name.segment, description))
                nouns.add(description.head)
            for noun in nouns:
                self.by_head[noun].setdefault(group, name.segment)
        self.heads = frozenset(self.by_head) | _TYPICAL_HEADS
        self.typical = {
            group: _typical(cast, group, {d.head for _, d in self.said[group]})
            for group in cast.labels
        }

    def candidates(
        self, sentence: SentenceSpan, definite: Definite, history: Sequence[Phrase]
    ) -> list[str]:
        """Return everything a description can mean; an unnamed thing counts under its own key.

        A description with modifiers may go back to any earlier statement. A bare noun, "the
        company", goes back to what was prominent lately, and counts everything the text has
        called so.
        """
        wanted = definite.description
        if wanted.head in _VAGUE:
            return []
        apart = {
            p.referent
            for p in history
            if p.sentence == sentence and coarguments(definite.head, definite.head.doc[p.head])
        }
        if not wanted.words:
            found = self._bare(sentence, definite, history)
        else:
            found = {
                group
                for group, since in self.by_head.get(wanted.head, {}).items()
                if since <= sentence.segment and self._said(group, wanted, sentence.segment)
            }
        found -= apart  # "Microsoft bought the company"
        if found:
            found |= self._unnamed(definite, history, sentence)
        return sorted(found)

    def _bare(
        self, sentence: SentenceSpan, definite: Definite, history: Sequence[Phrase]
    ) -> set[str]:
        head = definite.description.head
        near: dict[str, float] = defaultdict(float)
        for p in history:
            if p.name is not None and (p.sentence != sentence or p.head < definite.first):
                near[p.referent] = max(near[p.referent], p.weight)
        called = {
            group
            for group, since in self.by_head.get(head, {}).items()
            if since <= sentence.segment
        }
        found = {g for g in near if g in called or head in self.typical.get(g, ())}
        if not any(near[group] >= _PROMINENT for group in found):
            return set()  # "a US official left the country"
        return found | called

    def _said(self, group: str, wanted: _Description, segment: int) -> bool:
        return any(at <= segment and d.covers(wanted) for at, d in self.said[group])

    def _unnamed(
        self, definite: Definite, history: Sequence[Phrase], sentence: SentenceSpan
    ) -> set[str]:
        """Return other things of the same noun: "a startup", "the two companies"."""
        return {
            p.referent
            for p in history
            if p.noun == definite.description.head
            and p.name is None
            and (p.sentence != sentence or p.head < definite.first)
        }


def _typical(cast: DocumentEntities, group: str, said: set[str]) -> frozenset[str]:
    """Return the nouns that fit a thing by its label, or by what it was called, alone."""
    if said & _ORGANIZATIONS:
        return _TYPICAL["ORG"]
    labels = cast.labels[group]
    label = min(labels, key=lambda one: (one == UNLABELLED, -labels[one], one))
    if label == "PERSON" and group not in cast.people:
        return frozenset()
    return _TYPICAL.get(label, frozenset())


def _class_words(name: PlacedName) -> set[str]:
    """Return the nouns in a name that say what it names: `River`, `University` of Chicago."""
    words = name.text.lower().split()
    if len(words) < 2 or name.label == "PERSON":  # a Miller is no miller
        return set()
    return {words[-1], words[0]} if words[1] == "of" else {words[-1]}
