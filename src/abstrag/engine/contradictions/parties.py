"""Parties that change places: who does, who is done to, who it goes to and comes from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.engine.contradictions.figures import SURE
from abstrag.engine.contradictions.statement import (
    ComparedSentence,
    FoundDifference,
    alike,
    coverage,
)
from abstrag.engine.contradictions.vocabulary import vocabulary
from abstrag.language.words import NOUNS
from abstrag.model.answer import DifferenceKind

_SHARED: Final = 0.65
_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass"})
_OBJECTS: Final = frozenset({"dobj", "dative", "attr"})
_EMPTY: Final = frozenset({"a", "an", "the", "each", "any", "such", "its", "their", "this", "that"})


@dataclass(frozen=True, slots=True)
class PartyRole:
    """A noun phrase and the place it has beside a predicate."""

    predicate: str
    pos: str
    place: str  # "agent", "patient", or a preposition
    name: str
    tokens: tuple[int, ...]


def find_parties(
    claim: ComparedSentence, sentences: Sequence[ComparedSentence]
) -> list[FoundDifference]:
    """Return parties of a claim that sentences about the same thing put in each other's place."""
    asked = list(roles_of(claim))
    near = [(coverage(claim, one), one) for one in sentences]
    made: list[FoundDifference] = []
    for shared, sentence in sorted((n for n in near if n[0] >= _SHARED), key=lambda n: -n[0]):
        own = list(roles_of(sentence))
        if _confirmed(asked, own):
            return []
        made += _swapped(claim, asked, sentence, own, shared)
        made += _counterparts(claim, asked, sentence, own, shared)
    return made[:1]


def roles_of(statement: ComparedSentence) -> Iterator[PartyRole]:
    """Go through the noun phrases that stand beside a verb, or beside another noun."""
    words = statement.words
    for i in range(words.size):
        if words.pos[i] not in ("VERB", "AUX", "NOUN", "ADJ"):
            continue
        predicate = words.key[i], words.pos[i]
        passive = any(words.dep[c] in ("nsubjpass", "auxpass") for c in words.children[i])
        for child in (*words.children[i], *_borrowed(statement, i)):
            place = words.dep[child]
            if place in _SUBJECTS:
                yield from _roles(statement, predicate, "patient" if passive else "agent", child)
            elif place in _OBJECTS and words.pos[i] != "NOUN" and words.pos[child] != "ADP":
                yield from _roles(statement, predicate, "patient", child)
                for below in words.children[child]:  # "sends a signal to": a parser may tie both
                    yield from _after(statement, predicate, below, passive=False)
            else:
                yield from _after(statement, predicate, child, passive=passive)
                if place == "poss":
                    yield from _roles(statement, predicate, "of", child)


def _after(
    statement: ComparedSentence, predicate: tuple[str, str], preposition: int, *, passive: bool
) -> Iterator[PartyRole]:
    """Go through what stands after a preposition; after the "by" of a passive that is the agent."""
    words = statement.words
    if words.dep[preposition] not in ("prep", "agent", "dative"):
        return
    name = "agent" if passive and words.lower[preposition] == "by" else words.lower[preposition]
    for below in words.children[preposition]:
        if words.dep[below] == "pobj":
            yield from _roles(statement, predicate, name, below)


def _borrowed(statement: ComparedSentence, token: int) -> Iterator[int]:
    """Return the subject that a verb shares with the one above it: "is required to pay"."""
    words = statement.words
    if any(words.dep[c] in _SUBJECTS for c in words.children[token]):
        return
    at = token
    for above in words.up(token):
        if words.dep[at] not in ("xcomp", "conj", "acomp", "pcomp", "prep"):
            return
        for child in words.children[above]:
            if words.dep[child] == "nsubj" or (
                words.dep[child] == "nsubjpass" and words.dep[at] == "xcomp"
            ):
                yield child
                return
        at = above


def _roles(
    statement: ComparedSentence, predicate: tuple[str, str], place: str, head: int
) -> Iterator[PartyRole]:
    words = statement.words
    if words.pos[head] not in NOUNS:
        return
    for token in words.conjuncts(head):
        own = [
            c
            for c in words.children[token]
            if words.dep[c] in ("compound", "amod", "nmod") and c < token
        ]
        tokens = (*sorted(own), token)
        name = " ".join(
            words.lower[t] if t != token or words.pos[t] == "PROPN" else words.key[t]
            for t in tokens
            if words.lower[t] not in _EMPTY
        )
        yield PartyRole(*predicate, place, name.lower(), tokens)


def _same_predicate(a: PartyRole, b: PartyRole) -> bool:
    return alike(a.predicate, a.pos, b.predicate, b.pos)


def _same_name(a: str, b: str) -> bool:
    """True when one phrase ends like the other: "party", "receiving party"."""
    x, y = a.split(), b.split()
    if not x or not y:
        return False
    short, long = sorted((x, y), key=len)
    if len(short) == len(long):
        return short == long
    return long[-len(short) :] == short or (
        short[0] == long[0] and len(short) == 1 and len(long) == 2
    )


def _confirmed(asked: Sequence[PartyRole], own: Sequence[PartyRole]) -> bool:
    """True when two parties of the claim have the places there that they have in the claim."""
    held = [
        a
        for a in asked
        if a.place == "agent"
        and any(
            a.place == b.place and _same_name(a.name, b.name) and _same_predicate(a, b) for b in own
        )
    ]
    return bool(held)


def _swapped(
    claim: ComparedSentence,
    asked: Sequence[PartyRole],
    sentence: ComparedSentence,
    own: Sequence[PartyRole],
    shared: float,
) -> list[FoundDifference]:
    """Return two parties of one predicate that have changed places."""
    for a in asked:
        for b in asked:
            if a.tokens == b.tokens or a.place == b.place or not _same_predicate(a, b):
                continue
            if _same_name(a.name, b.name) or a.predicate != b.predicate:
                continue
            for x in own:
                if (
                    x.place != b.place
                    or not _same_name(x.name, a.name)
                    or not _same_predicate(x, a)
                ):
                    continue
                for y in own:
                    if (
                        y.place == a.place
                        and y.predicate == x.predicate
                        and _same_name(y.name, b.name)
                    ):
                        return [
                            FoundDifference(
                                DifferenceKind.PARTY,
                                _told(claim, a, b),
                                _told(sentence, x, y),
                                shared >= SURE,
                            )
                        ]
    return []


def _counterparts(
    claim: ComparedSentence,
    asked: Sequence[PartyRole],
    sentence: ComparedSentence,
    own: Sequence[PartyRole],
    shared: float,
) -> list[FoundDifference]:
    """Return a party whose opposite has its place in the sentence."""
    for a in asked:
        opposite = vocabulary().counterparts.get(_plain(a.name), frozenset())
        for x in own:
            if x.place == a.place and _plain(x.name) in opposite and _same_predicate(a, x):
                return [
                    FoundDifference(
                        DifferenceKind.PARTY,
                        claim.shown(a.tokens),
                        sentence.shown(x.tokens),
                        shared >= SURE,
                    )
                ]
    return []


def _plain(name: str) -> str:
    words = name.split()
    if len(words) > 1 and words[-1] in ("party", "parties"):
        return f"{words[-2]} party"
    return words[-1] if words else ""


def _told(statement: ComparedSentence, a: PartyRole, b: PartyRole) -> str:
    return statement.shown((*a.tokens, *b.tokens))
