"""Negation: a claim says that something is so, the evidence that it is not, or the other way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from abstrag.answers.contradictions.figures import SHARED, SURE
from abstrag.answers.contradictions.statement import (
    ComparedSentence,
    FoundDifference,
    about_the_same,
    alike,
    vocabulary,
)
from abstrag.model.answer import DifferenceKind

_PREDICATES: Final = frozenset({"VERB", "ADJ", "NOUN", "AUX"})
_CLAUSES: Final = frozenset(
    {"xcomp", "ccomp", "acomp", "attr", "prep", "pcomp", "conj", "dobj", "oprd"}
)
_ARGUMENTS: Final = frozenset({"nsubj", "nsubjpass", "dobj", "attr", "expl", "pobj", "npadvmod"})
_NEGATING: Final = frozenset("neg advmod det preconj cc nsubj nsubjpass".split())
_ASIDE: Final = frozenset({"relcl", "acl", "amod", "compound", "advcl"})  # said in passing
_PREFIXED: Final = re.compile(r"^(?:non-?|un|in|im|ir|il|dis)(?P<stem>[a-z].{3,})$")
# Words with "no" or "not" in them that deny nothing.
_HARMLESS: Final = re.compile(
    r"\bnot only\b|\bno (?:later|more|less|fewer|longer|matter|earlier|sooner) than\b|"
    r"\bnot (?:later|more|less|fewer|limited|exceed|necessarily|just|merely|to exceed|solely)\b|"
    r"\bwithout (?:limit|limiting|limitation|prejudice)|\bwhether or not\b|\bif not\b|\bor not\b",
    re.I,
)


def find_negations(
    claim: ComparedSentence, sentences: Sequence[ComparedSentence]
) -> list[FoundDifference]:
    """Return where a claim and sentences about the same thing differ in a negation."""
    made: list[FoundDifference] = []
    for shared, sentence in about_the_same(claim, sentences, SHARED):
        if prefixed := _prefixes(claim, sentence, shared):
            return prefixed
        found = _pairs(claim, sentence)
        if any(polarity == own for _, _, polarity, own in found):
            return []  # somebody says it as the claim does
        clean = not _reserved(sentence) and not _reserved(claim)
        for asked, stated, _, _ in found:
            certain = clean and shared >= SURE
            made.append(
                FoundDifference(
                    DifferenceKind.NEGATION,
                    _clause(claim, asked),
                    _clause(sentence, stated),
                    certain,
                )
            )
    return made[:1]


def _reserved(statement: ComparedSentence) -> bool:
    return any(word in vocabulary().reservations for word in statement.words.lower)


def _pairs(claim: ComparedSentence, evidence: ComparedSentence) -> list[tuple[int, int, int, int]]:
    """Return the main predicate of a claim with each that is the same word, and both polarities."""
    asked = _main(claim)
    if asked is None:
        return []
    key, pos = claim.words.key[asked], claim.words.pos[asked]
    sign = polarity(claim, asked)
    if sign < 0 and (pos == "NOUN" or denies(evidence)):
        return []  # "is not a dancer" of a singer, or two ways to deny the same
    words = evidence.words
    return [
        (asked, i, sign, polarity(evidence, i))
        for i in range(words.size)
        if words.pos[i] == pos
        and pos in _PREDICATES
        and words.dep[i] not in _ASIDE
        and alike(key, pos, words.key[i], pos)
    ]


def denies(statement: ComparedSentence) -> bool:
    """True when something in a statement is denied, whatever it is."""
    words = statement.words
    denying = vocabulary().denying
    return any(_negates(statement, i) or words.key[i] in denying for i in range(words.size))


def _main(statement: ComparedSentence) -> int | None:
    """Return the content word that a sentence says something by: of "may not cancel", "cancel"."""
    words = statement.words
    root = next(
        (i for i in range(words.size) if words.head[i] == i and words.pos[i] != "PUNCT"), None
    )
    if root is None:
        return None
    at = root
    for _ in range(4):
        empty = words.pos[at] == "AUX" or words.stop[at] or words.key[at] in _SUPPORTING
        if not (empty or words.key[at] in vocabulary().denying):
            return at
        below = (
            words.child(at, "xcomp", "acomp", "attr", "ccomp", "oprd")
            or _after_preposition(statement, at)
            or words.child(at, "dobj")
        )
        if below is None:
            return at if not words.stop[at] else None
        at = below
    return at


_SUPPORTING: Final = frozenset(
    "have permit allow entitle require oblige able liable responsible authorize agree need grant "
    "right obligation use show make".split()
)


def _after_preposition(statement: ComparedSentence, token: int) -> int | None:
    words = statement.words
    for child in words.children[token]:
        if words.dep[child] == "prep" and (below := words.child(child, "pcomp")) is not None:
            return below
    return None


def polarity(statement: ComparedSentence, token: int) -> int:
    """Return 1 for what is said to be so and −1 for what is denied."""
    words = statement.words
    chain = [token]
    for above in words.up(token):
        if words.dep[chain[-1]] not in _CLAUSES:
            break
        chain.append(above)
    sign = 1
    for i in chain:
        if i != token and (words.key[i] in vocabulary().denying or _negates(statement, i)):
            sign = -sign
        if any(_denied_by(statement, c) for c in words.children[i] if c not in chain):
            sign = -sign
    return sign


def _negates(statement: ComparedSentence, token: int) -> bool:
    """True for a negation that denies something."""
    at = statement.words.start[token]
    return statement.words.lower[token] in vocabulary().negations and not any(
        one.start() <= at < one.end() for one in _HARMLESS.finditer(statement.text)
    )


def _denied_by(statement: ComparedSentence, child: int) -> bool:
    """True for a child that denies its head: "not", or a subject or object with "no"."""
    words = statement.words
    if words.dep[child] in _NEGATING and _negates(statement, child):
        return True
    return words.dep[child] in _ARGUMENTS and any(
        words.lower[below] in ("no", "neither", "none") and _negates(statement, below)
        for below in words.children[child]
        if words.dep[below] in _NEGATING
    )


def _clause(statement: ComparedSentence, token: int) -> str:
    """Return the words around a predicate that show whether it is denied."""
    words = statement.words
    inside = {token}
    at = token
    for above in words.up(token):
        if words.dep[at] not in _CLAUSES:
            break
        inside.add(above)
        at = above
    for i in tuple(inside):
        inside |= {
            c
            for c in words.children[i]
            if words.dep[c] in ("neg", "aux", "auxpass", "nsubj", "nsubjpass", "dobj", "acomp")
        }
    for i in tuple(inside):
        inside |= {
            c for c in words.children[i] if words.lower[c] in ("no", "neither", "either", "any")
        }
    return statement.shown(inside)


def _prefixes(
    claim: ComparedSentence, sentence: ComparedSentence, shared: float
) -> list[FoundDifference]:
    """Compare words with their negated forms: "exclusive" and "non-exclusive"."""
    for mine, theirs, turned in ((claim, sentence, False), (sentence, claim, True)):
        for i in range(mine.words.size):
            bare = mine.words.lower[i]
            if mine.words.pos[i] not in ("ADJ", "ADV", "VERB", "NOUN") or len(bare) < 4:
                continue
            other = _denied(bare, theirs)
            if other is None or (other[0] == other[1] and bare in theirs.words.lower):
                continue
            ours, others = (
                mine.shown(_with_prefix(mine, i)),
                theirs.shown(range(other[0], other[1] + 1)),
            )
            if ours.lower() == others.lower():
                continue
            pair = (others, ours) if turned else (ours, others)
            return [FoundDifference(DifferenceKind.NEGATION, *pair, shared >= SURE)]
    return []


def _with_prefix(statement: ComparedSentence, token: int) -> range:
    words = statement.words
    if token >= 2 and words.lower[token - 2] == "non" and words.glued(token):
        return range(token - 2, token + 1)
    return range(token, token + 1)


def _denied(bare: str, other: ComparedSentence) -> tuple[int, int] | None:
    """Return where a statement has the negated form of a word."""
    words = other.words
    for i in range(words.size):
        match = _PREFIXED.match(words.lower[i])
        if match is not None and match["stem"] == bare:
            return i, i
        if words.lower[i] == bare and i >= 2 and words.lower[i - 2] == "non" and words.glued(i):
            return i - 2, i
    return None
