"""Precedents of a genre: who showed them, which are in force, and which of them a replay refuses.

What a document was found to say where a question was asked of it is a candidate. Three distinct
documents that were asked nearly the same make it due. It is then put to all queries with known
evidence that it would move, each searched as if its own document had shown nothing; what costs more
of them their evidence than it helps is refused. A question that is settled for a document is never
moved there, so a solved query stays solved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

import numpy as np

from abstrag.config import OMEGA
from abstrag.language.keys import key
from abstrag.model.patch import Patch, Precedent, Stage
from abstrag.model.record import record
from abstrag.model.term import Family, Licence, LicenceKind
from abstrag.refine.lessons import Vote
from abstrag.search.precedents import VOTES, nearness, unpacked

_ROUNDS: Final = 4  # in which those that move a lost query most are left out


@record
class Taught:
    """A precedent of a genre: the document it is of, and what became of it."""

    genre: str
    name: str  # of the document
    precedent: Precedent
    noted: str  # when
    when: str = ""  # it was promoted as it is; "" while it is a candidate
    refused: bool = False  # a replay refused it as it is, or somebody took it back

    @property
    def id(self) -> str:
        """The same for the same question to the same text."""
        one = self.precedent
        return sha256(f"{self.genre}\n{one.document}\n{key(one.question)}".encode()).hexdigest()[
            :16
        ]

    @property
    def patch(self) -> Patch:
        """The precedent as a patch of a document."""
        licence = Licence(LicenceKind.PATCH, f"precedent {self.id} of {self.name}")
        return Patch(Stage.QUERY, self.precedent, licence, OMEGA[Family.RELATED])

    @property
    def vote(self) -> Vote:
        """The precedent as its document's vote for those near it."""
        one = self.precedent
        return Vote(one.document, self.name, one.question, self.id, self.noted)


@record
class Replayed:
    """What precedents did to documents that had shown nothing themselves."""

    lost: Mapping[str, str]  # cases that lost their evidence, with their queries
    gained: int  # cases that got it


Replay = Callable[[tuple[Taught, ...]], Replayed]


def due(known: Iterable[Taught], model: str) -> tuple[Taught, ...]:
    """Return the candidates that enough documents speak for and nobody has decided on."""
    found: list[Taught] = []
    by_genre: dict[str, list[Taught]] = {}
    for one in known:
        if one.precedent.model == model:
            by_genre.setdefault(one.genre, []).append(one)
    for group in by_genre.values():
        if all(one.when or one.refused for one in group):
            continue
        asked = np.stack([unpacked(one.precedent.asked) for one in group])
        documents = np.array([one.precedent.document for one in group])
        for one, vector in zip(group, asked, strict=True):
            near = nearness(vector, asked) > 0
            enough = len(set(documents[near].tolist())) >= VOTES
            if enough and not (one.when or one.refused):
                found.append(one)
    return tuple(found)


def supporters(one: Taught, known: Iterable[Taught]) -> tuple[Vote, ...]:
    """Return the votes for a precedent: one of each document that was asked nearly the same."""
    own = unpacked(one.precedent.asked)
    votes: dict[str, Vote] = {}
    for other in known:
        same = other.genre == one.genre and other.precedent.model == one.precedent.model
        if same and nearness(own, unpacked(other.precedent.asked)[None])[0] > 0:
            votes.setdefault(other.precedent.document, other.vote)
    return tuple(votes.values())


def sifted(
    candidates: Sequence[Taught], replay: Replay
) -> tuple[tuple[Taught, ...], dict[str, str]]:
    """Leave out what does more harm than good; returns the rest, and why not the others.

    In each round the candidates that move a lost query most are left out. If what is left still
    costs more queries their evidence than it gives it to, nothing is left.
    """
    left, refused = list(candidates), dict[str, str]()
    for number in range(_ROUNDS):
        seen = replay(tuple(left))
        if len(seen.lost) <= seen.gained:
            return tuple(left), refused
        reason = f"{len(seen.lost)} queries lose their evidence by it and {seen.gained} gain"
        last = number == _ROUNDS - 1
        blamed = left if last else [one for case in seen.lost for one in _most(case, left)]
        for one in blamed:
            first = next(iter(seen.lost.values()))
            refused[one.id] = f"{reason}, first {first!r}"
        left = [one for one in left if one.id not in refused]
    return tuple(left), refused


def _most(case: str, candidates: Sequence[Taught]) -> list[Taught]:
    """Return the candidates nearest to a case, which is named by its document and its vector."""
    document, _, vector = case.partition(" ")
    others = [one for one in candidates if one.precedent.document != document]
    if not others:
        return []
    asked = np.stack([unpacked(one.precedent.asked) for one in others])
    order = np.argsort(-nearness(unpacked(vector), asked), kind="stable")
    return [others[at] for at in order[:VOTES].tolist()]


def decided(one: Taught, *, when: str = "", refused: bool = False) -> Taught:
    """Return a candidate with what became of it."""
    return replace(one, when=when, refused=refused)
