"""Lessons: a step that several documents of a genre ask for holds for the whole genre.

A patch that is accepted for a document is a vote for what it says of words. What is about this
document alone (names, times, budgets, readings of its text) stays with it. With the votes of three
distinct documents of one genre a step is a candidate; a replay of the solved queries of that genre
that finds none worse makes it a lesson, in force for every document of the genre until taken back.

What a document was found to say where a question was asked of it is a candidate for a precedent.
Three distinct documents that were asked nearly the same make it due. It is then put to all queries
with known evidence that it would move, each searched as if its own document had shown nothing; what
costs more of them their evidence than it helps is refused. A question that is settled for a
document is never moved there, so a solved query stays solved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.config import OMEGA
from abstrag.language.words import key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.patch import Alias, EventMapping, Patch, Precedent, Stage, StepPrice
from abstrag.model.record import record, to_json
from abstrag.model.term import Family, Licence, LicenceKind
from abstrag.refine.feedback import CONFIRMED, REFUSED
from abstrag.search.document_words import forms
from abstrag.search.precedents import VOTES as PRECEDENT_VOTES
from abstrag.search.precedents import nearness, unpacked

VOTES: Final = 3  # distinct documents that must ask for a lesson
_WORDS: Final = ("concept:", "event:")
Replay = Callable[[str, StepPrice], Sequence[str]]  # genre, step → solved queries it makes worse
_ROUNDS: Final = 3  # in which those that do more harm than good are left out


@record
class LessonVote:
    """A document that asks for a lesson, the query it came up with, and the patch."""

    document: str  # hash of its text
    name: str
    query: str
    patch: str
    when: str


@record
class Lesson:
    """A step for a genre of documents, and who asked for it."""

    genre: str
    step: StepPrice
    votes: tuple[LessonVote, ...] = ()
    when: str = ""  # it was promoted; "" while it is a candidate
    replayed: int = 0  # votes it had when a replay last refused it

    @property
    def id(self) -> str:
        """The same for the same step of the same genre."""
        return lesson_id(self.genre, self.step)

    @property
    def patch(self) -> Patch:
        """The lesson as a patch of a document."""
        said = f"lesson {self.id} of {len(self.votes)} {self.genre} documents"
        return Patch(Stage.MAP, self.step, Licence(LicenceKind.PATCH, said), OMEGA[Family.RELATED])

    @property
    def due(self) -> bool:
        """Whether a replay has to decide now."""
        return not self.when and len(self.votes) >= VOTES and len(self.votes) > self.replayed


def lesson_id(genre: str, step: StepPrice) -> str:
    """Name a lesson by what it says."""
    return sha256(f"{genre}\n{to_json(step)}".encode()).hexdigest()[:16]


def travelling(patch: Patch) -> StepPrice | None:
    """Return the step between words in a patch, in base forms; None if it is about one document."""
    match patch.delta:
        case StepPrice() as step:
            found = step
        case Alias(surface=None) | EventMapping() as delta:
            ends = delta.source, delta.target
            if not all(end.startswith(_WORDS) and "." not in end for end in ends):
                return None
            said, asked = (end.partition(":")[2] for end in ends)
            found = StepPrice(asked, said, at_most=CONFIRMED)
        case _:
            return None
    asked, said = base(found.asked), base(found.said)
    if not set(forms(asked)).isdisjoint(forms(said)) and not found.refuses:
        return None  # it only restates a direct match
    if found.refuses:
        return StepPrice(asked, said, at_least=REFUSED)
    return StepPrice(asked, said, at_most=CONFIRMED)


def base(word: str) -> str:
    """Return the one form by which votes for a word and its inflections are counted together."""
    folded, net = key(word), wordnet()
    for pos in (Pos.VERB, Pos.NOUN, Pos.ADJECTIVE):
        for found in net.base_forms(folded, pos):
            return found
    return folded


def votes_of(cast: Iterable[tuple[str, StepPrice, LessonVote]]) -> dict[str, Lesson]:
    """Count votes by lesson; a document has one for each."""
    found: dict[str, Lesson] = {}
    for genre, step, vote in cast:
        known = found.setdefault(lesson_id(genre, step), Lesson(genre, step))
        if vote.document not in {one.document for one in known.votes}:
            found[known.id] = Lesson(genre, step, (*known.votes, vote))
    return found


@record
class CandidatePrecedent:
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


_ReplayPrecedents = Callable[[tuple[CandidatePrecedent, ...]], PrecedentReplay]


def due(known: Iterable[CandidatePrecedent], model: str) -> tuple[CandidatePrecedent, ...]:
    """Return the undecided candidates that have votes from enough documents."""
    found: list[CandidatePrecedent] = []
    by_genre: dict[str, list[CandidatePrecedent]] = {}
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
            enough = len(set(documents[near].tolist())) >= PRECEDENT_VOTES
            if enough and not (one.when or one.refused):
                found.append(one)
    return tuple(found)


def supporters(
    one: CandidatePrecedent, known: Iterable[CandidatePrecedent]
) -> tuple[LessonVote, ...]:
    """Return the votes for a precedent: one of each document that was asked nearly the same."""
    own = unpacked(one.precedent.asked)
    votes: dict[str, LessonVote] = {}
    for other in known:
        same = other.genre == one.genre and other.precedent.model == one.precedent.model
        if same and nearness(own, unpacked(other.precedent.asked)[None])[0] > 0:
            votes.setdefault(other.precedent.document, other.vote)
    return tuple(votes.values())


def sifted(
    candidates: Sequence[CandidatePrecedent], replay: _ReplayPrecedents
) -> tuple[tuple[CandidatePrecedent, ...], dict[str, str]]:
    """Split precedents into those to accept, and the others with the reason.

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


def _felt(
    cases: Iterable[str], candidates: Sequence[CandidatePrecedent]
) -> npt.NDArray[np.float64]:
    """Return for each candidate the summed nearness of some cases to it.

    A case is named by its document and its vector; what its own document has shown is out.
    """
    total = np.zeros(len(candidates))
    asked = np.stack([unpacked(one.precedent.asked) for one in candidates])
    documents = np.array([one.precedent.document for one in candidates])
    for case in cases:
        document, _, vector = case.partition(" ")
        total += np.where(documents == document, 0.0, nearness(unpacked(vector), asked))
    return total


def decided(
    one: CandidatePrecedent, *, when: str = "", refused: bool = False
) -> CandidatePrecedent:
    """Return a candidate with the decision on it."""
    return replace(one, when=when, refused=refused)
