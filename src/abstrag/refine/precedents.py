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
import numpy.typing as npt

from abstrag.config import OMEGA
from abstrag.language.keys import key
from abstrag.model.patch import Patch, Precedent, Stage
from abstrag.model.record import record
from abstrag.model.term import Family, Licence, LicenceKind
from abstrag.refine.lessons import LessonVote
from abstrag.search.precedents import VOTES, nearness, unpacked

_ROUNDS: Final = 3  # in which those that do more harm than good are left out


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
    def vote(self) -> LessonVote:
        """The precedent as its document's vote for those near it."""
        one = self.precedent
        return LessonVote(one.document, self.name, one.question, self.id, self.noted)


@record
class PrecedentReplay:
    """What precedents did to documents that had shown nothing themselves."""

    lost: Mapping[str, str]  # cases that lost their evidence, with their queries
    gained: Mapping[str, str]  # cases that got more of it


Replay = Callable[[tuple[Taught, ...]], PrecedentReplay]


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


def supporters(one: Taught, known: Iterable[Taught]) -> tuple[LessonVote, ...]:
    """Return the votes for a precedent: one of each document that was asked nearly the same."""
    own = unpacked(one.precedent.asked)
    votes: dict[str, LessonVote] = {}
    for other in known:
        same = other.genre == one.genre and other.precedent.model == one.precedent.model
        if same and nearness(own, unpacked(other.precedent.asked)[None])[0] > 0:
            votes.setdefault(other.precedent.document, other.vote)
    return tuple(votes.values())


def sifted(
    candidates: Sequence[Taught], replay: Replay
) -> tuple[tuple[Taught, ...], dict[str, str]]:
    """Leave out what does more harm than good; returns the rest, and why not the others.

    A candidate answers for the queries near its question: it goes where more of them lose evidence
    than gain any, each counted as far as it is near. In the last round all go that are near a lost
    one, so that nothing is kept which was not put to a replay.
    """
    left, refused = list(candidates), dict[str, str]()
    for number in range(_ROUNDS):
        seen = replay(tuple(left))
        lost, gained = (_felt(cases, left) for cases in (seen.lost, seen.gained))
        worse = lost > 0 if number == _ROUNDS - 1 else lost > gained
        if not seen.lost or not (lost > gained).any():
            break
        for one in [one for one, bad in zip(left, worse.tolist(), strict=True) if bad]:
            first = next(iter(seen.lost.values()))
            reason = f"{len(seen.lost)} queries lose their evidence and {len(seen.gained)} gain"
            refused[one.id] = f"{reason}, most near it lose, first {first!r}"
        left = [one for one in left if one.id not in refused]
        if not left:
            break
    return tuple(left), refused


def _felt(cases: Iterable[str], candidates: Sequence[Taught]) -> npt.NDArray[np.float64]:
    """Return for each candidate how near some cases are to it, all together.

    A case is named by its document and its vector; what its own document has shown is out.
    """
    total = np.zeros(len(candidates))
    asked = np.stack([unpacked(one.precedent.asked) for one in candidates])
    documents = np.array([one.precedent.document for one in candidates])
    for case in cases:
        document, _, vector = case.partition(" ")
        total += np.where(documents == document, 0.0, nearness(unpacked(vector), asked))
    return total


def decided(one: Taught, *, when: str = "", refused: bool = False) -> Taught:
    """Return a candidate with what became of it."""
    return replace(one, when=when, refused=refused)
