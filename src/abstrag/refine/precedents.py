"""Precedents of a genre: who showed them, which are in force, and which of them a replay refuses.

What a document was found to say where a question was asked of it is a candidate. Three distinct
documents that were asked nearly the same make it due. It is then put to all solved queries that it
would move, each judged as if its own document had shown nothing; what costs one of them its
evidence is refused.
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

_ROUNDS: Final = 5  # in which what a lost query is most moved by is left out


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


Worse = Callable[[tuple[Taught, ...], Sequence[str] | None], Mapping[str, str]]
"""Some precedents, some cases (None: all they touch) → cases that lose evidence, and why."""


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


def sifted(candidates: Sequence[Taught], worse: Worse) -> tuple[tuple[Taught, ...], dict[str, str]]:
    """Leave out what costs solved queries their evidence; returns the rest, and why not the others.

    In each round the candidate that moves a lost query most is left out. Whoever is still lost in
    the end takes all that move it along.
    """
    left, refused = list(candidates), dict[str, str]()
    lost = worse(tuple(left), None)
    for _ in range(_ROUNDS):
        if not lost or not left:
            break
        for case, query in lost.items():
            first = _most(case, left)
            if first is not None:
                left.remove(first)
                refused[first.id] = f"a solved query loses its evidence: {query!r}"
        lost = worse(tuple(left), list(lost))
    if lost:
        for one in left:
            refused[one.id] = f"a solved query loses its evidence: {next(iter(lost.values()))!r}"
        left = []
    return tuple(left), refused


def _most(case: str, candidates: Sequence[Taught]) -> Taught | None:
    """Return the candidate nearest to a case, which is named by its document and its vector."""
    document, _, vector = case.partition(" ")
    others = [one for one in candidates if one.precedent.document != document]
    if not others:
        return None
    asked = np.stack([unpacked(one.precedent.asked) for one in others])
    return others[int(np.argmax(nearness(unpacked(vector), asked)))]


def decided(one: Taught, *, when: str = "", refused: bool = False) -> Taught:
    """Return a candidate with what became of it."""
    return replace(one, when=when, refused=refused)
