"""An answer that is proposed: how it was found, what speaks for it, and how it would be told."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from abstrag.engine.answers.confidence import AnswerWay, packaged_confidence
from abstrag.model.answer import AnswerSentence, ShortAnswer


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

    @property
    def probability(self) -> float:
        """How probably it is right."""
        return packaged_confidence()(self.way, self.features)

    @property
    def floor(self) -> float:
        """The probability from which on it is told."""
        return packaged_confidence().floor(self.way)
