"""How probably an answer that was found without a language model is right.

Figures, rows and sentences are each proposed with what speaks for them: what of the question is
covered, what the judge says, how much better they are than the next. A small logistic model a way,
fitted by `tools.answers.fit` on the tuning parts, makes a probability of that. What is less
probable than its floor is not told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from functools import cache
from importlib.resources import files

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

    def floor(self, way: AnswerWay) -> float:
        """Return the probability from which on an answer of a way is told."""
        return self.ways[way].floor


@cache
def packaged_confidence() -> AnswerConfidence:
    """Return what ships."""
    packed = files("abstrag.data") / "answers" / "confidence.json"
    return from_json(AnswerConfidence, packed.read_bytes())
