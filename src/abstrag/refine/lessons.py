"""Lessons that travel: a step that several documents of a kind ask for holds for all of the kind.

A patch that is accepted for a document is a vote for what it says of words. What is about this
document alone (names, times, budgets, readings of its text) stays with it. With the votes of three
distinct documents of one genre a step is a candidate; a replay of the solved queries of that genre
that finds none worse makes it a lesson, in force for every document of the genre until taken back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final

from abstrag.config import OMEGA
from abstrag.language.keys import key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.patch import Alias, EventMapping, Patch, Stage, StepPrice
from abstrag.model.record import record, to_json
from abstrag.model.term import Family, Licence, LicenceKind
from abstrag.refine.feedback import CONFIRMED, REFUSED
from abstrag.search.document_words import forms

VOTES: Final = 3  # distinct documents that must ask for a lesson
_WORDS: Final = ("concept:", "event:")

Replay = Callable[[str, StepPrice], Sequence[str]]  # genre, step → solved queries it makes worse


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
    """Return what a patch says of words, in their base forms; None for what stays at home."""
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
