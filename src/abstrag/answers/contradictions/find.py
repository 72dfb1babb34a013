"""Finding what of a claim the evidence contradicts.

    differences("The model trained for one week.", ["It was trained for 3.5 days."])[0].text
    # "3.5 days, not one week"

Only sentences that are about the same thing are compared: they have most of the claim's content
words. What any of them says as the claim does is no difference.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.answers.contradictions.figures import SHARED, SURE, find_figures
from abstrag.answers.contradictions.polarity import denies, find_negations
from abstrag.answers.contradictions.statement import (
    ComparedSentence,
    FoundDifference,
    about_the_same,
    alike,
    coverage,
    of_doc,
    vocabulary,
)
from abstrag.language.parser import parse
from abstrag.language.words import NOUNS
from abstrag.model.answer import Difference, DifferenceKind

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
    made: list[FoundDifference] = []
    for shared, sentence in about_the_same(claim, sentences, _SHARED):
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
                                _told_role(claim, a, b),
                                _told_role(sentence, x, y),
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


def _told_role(statement: ComparedSentence, a: PartyRole, b: PartyRole) -> str:
    return statement.shown((*a.tokens, *b.tokens))


# Directions that differ: "increased" in the claim, "decreased" in the evidence.

_THING: Final = frozenset({"NOUN", "PROPN", "VERB", "ADJ"})
_REACH: Final = 2  # steps in the parse from a direction to what it is said of


@dataclass(frozen=True, slots=True)
class Direction:
    """A direction word, where it points on its scales, and the words it is tied to."""

    token: int
    scales: tuple[tuple[str, int], ...]
    tied: frozenset[tuple[str, str]]


def directions_of(statement: ComparedSentence) -> list[Direction]:
    """Return the direction words of a statement."""
    words, known = statement.words, vocabulary().directions
    found = []
    for i in range(words.size):
        scales = known.get(words.lower[i]) or known.get(words.key[i])
        if scales is None or (words.lower[i] in ("more", "less") and _bound(statement, i)):
            continue
        found.append(Direction(i, scales, _tied(statement, i)))
    return found


def _bound(statement: ComparedSentence, token: int) -> bool:
    """True for "more than 30", which is a bound of a figure and no direction."""
    words = statement.words
    after = words.lower[token + 1 : token + 2]
    return after == ["than"] and token + 2 < words.size and words.pos[token + 2] == "NUM"


def _tied(statement: ComparedSentence, token: int) -> frozenset[tuple[str, str]]:
    """Return the content words within a few steps of a direction word."""
    words = statement.words
    reached, edge = {token}, {token}
    for _ in range(_REACH):
        edge = {n for i in edge for n in (words.head[i], *words.children[i])} - reached
        reached |= edge
    return frozenset(
        (words.key[i], words.pos[i])
        for i in reached
        if i in statement.content and words.pos[i] in _THING and i != token
    )


def find_comparisons(
    claim: ComparedSentence, sentences: Sequence[ComparedSentence]
) -> list[FoundDifference]:
    """Return the directions of a claim that sentences about the same thing turn around."""
    near = about_the_same(claim, sentences, SHARED)
    if denies(claim) or any(denies(one) for _, one in near):
        return []  # "did not fall" may be "rose", or not
    for asked in directions_of(claim):
        opposite: list[tuple[float, ComparedSentence, Direction]] = []
        for shared, sentence in near:
            own = [(d, _meeting(asked, d)) for d in directions_of(sentence)]
            if any(met > 0 for _, met in own):
                opposite = []
                break
            opposite += [(shared, sentence, d) for d, met in own if met < 0 and _ties(asked, d)]
        if opposite:
            shared, sentence, direction = opposite[0]
            alone = len(opposite) == 1
            return [
                FoundDifference(
                    DifferenceKind.COMPARISON,
                    _shown(claim, asked),
                    _shown(sentence, direction),
                    alone and shared >= SURE,
                )
            ]
    return []


def _meeting(a: Direction, b: Direction) -> int:
    """Return 1 when two directions point the same way on some scale, −1 when only opposite ways."""
    ways = {x * y for name, x in a.scales for other, y in b.scales if name == other}
    return 0 if not ways else max(ways)


def _ties(a: Direction, b: Direction) -> int:
    """Return how many words of one direction's surroundings the other's have too."""
    return sum(any(alike(*x, *y) for y in b.tied) for x in a.tied)


def _shown(statement: ComparedSentence, direction: Direction) -> str:
    """Return a direction with the noun it modifies."""
    words, token = statement.words, direction.token
    inside = {token}
    if words.dep[token] == "amod" and token < words.head[token] <= token + 3:
        inside.add(words.head[token])
    return statement.shown(inside)


# Dates and periods that differ: "2019, not 2018"; "the third quarter, not the second quarter".

_NAMED: Final = {
    "quarter": re.compile(
        r"\b(?:the )?(?P<name>first|second|third|fourth) (?:fiscal )?quarter\b|"
        r"\b(?P<short>Q[1-4])\b",
        re.I,
    ),
    "half": re.compile(
        r"\b(?:the )?(?P<name>first|second) half\b(?= of the|of the year)|\b(?P<short>H[12])\b"
    ),
    "month": re.compile(
        r"\b(?P<name>January|February|March|April|May|June|July|August|September|October|November|"
        r"December)\b(?P<short>)"
    ),
    "weekday": re.compile(
        r"\b(?P<name>Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)s?\b(?P<short>)"
    ),
}
_NUMBERS: Final = {"first": "1", "second": "2", "third": "3", "fourth": "4"}


def find_dates(
    claim: ComparedSentence, sentences: Sequence[ComparedSentence]
) -> list[FoundDifference]:
    """Return the times of a claim that sentences about the same thing give otherwise."""
    near = about_the_same(claim, sentences, SHARED)
    return [*_intervals(claim, near, sentences), *_names(claim, sentences)]


def _intervals(
    claim: ComparedSentence,
    near: Sequence[tuple[float, ComparedSentence]],
    sentences: Sequence[ComparedSentence],
) -> list[FoundDifference]:
    """Compare times that stand for days of the calendar."""
    found = []
    stated = [t.interval for one in sentences for t in one.times if t.interval]
    for asked in claim.times:
        if asked.interval is None:
            continue
        first, last = asked.interval.start, asked.interval.end
        if any(own.start <= last and first <= own.end for own in stated):
            continue
        for shared, sentence in near:
            limit = sentence.compared_from
            own_times = [t for t in sentence.times if t.interval and t.start < limit]
            if not own_times:
                continue
            alone = len(own_times) == 1 and sum(t.interval is not None for t in claim.times) == 1
            best = own_times[0]
            found.append(
                FoundDifference(
                    DifferenceKind.DATE,
                    claim.text[asked.start : asked.end],
                    sentence.text[best.start : best.end],
                    alone and shared >= SURE,
                )
            )
            break
    return found


def _names(claim: ComparedSentence, sentences: Sequence[ComparedSentence]) -> list[FoundDifference]:
    """Compare names of parts of a year or a week that no calendar date is known of."""
    found = []
    for pattern in _NAMED.values():
        asked = {_name(one): one for one in pattern.finditer(claim.text)}
        stated = {_name(one) for s in sentences for one in pattern.finditer(s.text)}
        if len(asked) != 1 or not stated or set(asked) & stated:
            continue
        (words,) = asked.values()
        inside = [i for i in claim.content if words.start() <= claim.words.start[i] < words.end()]
        ranked = [(coverage(claim, one, inside), one) for one in sentences]
        for shared, sentence in sorted(ranked, key=lambda one: -one[0]):
            own = list(pattern.finditer(sentence.text, 0, sentence.compared_from))
            if own and shared >= SHARED:
                certain = len(own) == 1 and shared >= SURE
                found.append(FoundDifference(DifferenceKind.DATE, words[0], own[0][0], certain))
                break
    return found


def _name(one: re.Match[str]) -> str:
    if one["short"]:
        return one["short"][-1]
    return _NUMBERS.get(one["name"].lower(), one["name"].lower())


_RULES: Final[
    tuple[Callable[[ComparedSentence, Sequence[ComparedSentence]], list[FoundDifference]], ...]
] = (
    find_figures,
    find_dates,
    find_negations,
    find_comparisons,
    find_parties,
)


def differences(claim: str, passages: Sequence[str]) -> tuple[Difference, ...]:
    """Return what differs between a claim and passages that bear on it, best first.

    Args:
        claim: what is said.
        passages: the evidence; a difference names its passage by number, from 1.
    """
    if not claim.strip() or not passages:
        return ()
    asked, *read = parse([claim, *passages])
    sentences = [
        (number, statement) for number, doc in enumerate(read, 1) for statement in of_doc(doc)
    ]
    found = [
        one
        for part in of_doc(asked)
        for rule in _RULES
        for one in rule(part, [statement for _, statement in sentences])
    ]
    return tuple(_difference(one, _where(one, sentences)) for one in found)


def _difference(found: FoundDifference, passage: int) -> Difference:
    return Difference(
        kind=found.kind,
        claim=found.claim,
        evidence=found.evidence,
        passage=passage,
        certain=found.certain,
        text=_told(found),
    )


def _told(found: FoundDifference) -> str:
    """Put a difference into words; stretches of several words stand in quotation marks."""
    if found.kind is DifferenceKind.NEGATION:
        return f"“{found.evidence}”, not “{found.claim}”"
    return f"{found.evidence}, not {found.claim}"


def _where(found: FoundDifference, sentences: Sequence[tuple[int, ComparedSentence]]) -> int:
    """Return the number of the passage that the evidence's words stand in."""
    first = found.evidence.split(" … ")[0]
    return next((n for n, s in sentences if first in " ".join(s.text.split())), 1)
