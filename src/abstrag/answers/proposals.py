"""Answers without a language model: how each is found, how probably it is right, which is told.

Figures, rows and sentences are each proposed with what speaks for them: what of the question is
covered, what the judge says, how much better they are than the next. A small logistic model a way,
fitted by `tools.answers.fit` on the tuning parts, makes a probability of that. What is less
probable than its floor is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib.resources import files

from abstrag.model.answer import AnswerSentence, ShortAnswer
from abstrag.model.record import from_json, record
from abstrag.refine.sufficiency import Logistic


class AnswerWay(StrEnum):
    """How an answer is found in a document."""

    FIGURES = "figures"
    ROWS = "rows"
    NAMED_ROWS = "rows by name"  # where no judge reads them
    SENTENCE = "sentence"


@record
class FittedWay:
    """The model of one way: the names of its features, their weights, and the floor."""

    features: tuple[str, ...]
    model: Logistic
    floor: float  # of the probability from which on an answer is told
    answers: int  # that it was fitted on


@record
class AnswerConfidence:
    """All ways, and the judge they were fitted with."""

    ways: Mapping[str, FittedWay] = field(default_factory=dict)
    judge: str = ""  # fingerprint

    def __call__(self, way: AnswerWay, features: Mapping[str, float]) -> float:
        """Return how probably an answer with these features is right."""
        fitted = self.ways[way]
        return fitted.model([features[name] for name in fitted.features])


@cache
def packaged_confidence() -> AnswerConfidence:
    """Return what ships."""
    packed = files("abstrag.answers") / "confidence.json"
    return from_json(AnswerConfidence, packed.read_bytes())


@dataclass(frozen=True, slots=True)
class ToldAnswer:
    """Sentences with their citations, and the answer in the asked form where there is one."""

    sentences: tuple[AnswerSentence, ...]
    short: ShortAnswer | None = None


@dataclass(frozen=True, slots=True)
class ProposedAnswer:
    """One way to answer a question; `tell` writes it down and cites what it rests on."""

    way: AnswerWay
    features: Mapping[str, float]
    text: str  # the answer in the asked form, without citations
    tell: Callable[[], ToldAnswer]


def best_of(proposed: Sequence[ProposedAnswer]) -> ProposedAnswer | None:
    """Return the proposal that is most probably right, if any is probable enough to be told."""
    known = packaged_confidence()
    told = [(known(one.way, one.features), one) for one in proposed]
    sure = [(p, one) for p, one in told if p >= known.ways[one.way].floor]
    return max(sure, key=lambda each: each[0])[1] if sure else None
