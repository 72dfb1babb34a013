"""CRAG: grade what was retrieved, search again where it failed, keep only what bears on it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final, Literal

from abstrag.llm.model import CallRole, ModelRequest
from abstrag.llm.shape import Percent
from abstrag.model.record import record
from abstrag_bench.baselines.backing import BATCH, QueryMeter, RetrievingBaseline, longest, shown
from abstrag_bench.baselines.system import TABULAR, Element, Pool, Ranked, Write, Written

SEARCH_CALLS: Final = 2  # the grades of the first search, and of the corrected one
UPPER: Final = 0.5  # a passage graded at least this makes the action Correct
LOWER: Final = -0.5  # when none is above this the action is Incorrect; Ambiguous is in between
_SIGN: Final = {"correct": 1.0, "ambiguous": 0.0, "incorrect": -1.0}
_STRIP_END: Final = re.compile(r"(?<=[.!?])\s+(?=[\"'(\[]?[A-Z0-9])")


class Action(StrEnum):
    """What the grades trigger."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    AMBIGUOUS = "ambiguous"


@record
class Grade:
    """The grade of one passage."""

    passage: str
    grade: Literal["correct", "incorrect", "ambiguous"]
    confidence: Percent

    @property
    def score(self) -> float:
        """From −1, surely incorrect, to 1, surely correct."""
        return _SIGN[self.grade] * self.confidence


@record
class Graded:
    """The grades of some passages, and a better query."""

    grades: tuple[Grade, ...]
    rewritten_query: str


@dataclass(slots=True)
class Crag(RetrievingBaseline):
    """Ranks by grade; where nothing is graded correct it searches again in other words."""

    STAGE = "crag"
    ROLE = CallRole.JUDGE

    name: str = "crag"

    @property
    def fidelity(self) -> str:
        """What differs from the publication."""
        return (
            "CRAG as a prompt: a general model grades the passages instead of a trained T5, "
            f"{BATCH} of {self.retriever.name} a search; the web search is replaced by a second "
            "search of the same document with the rewritten query; the answer is written from "
            "the strips of the best passages that are not graded incorrect"
        )

    def worst(self, query: str, document: Pool) -> list[ModelRequest]:
        """Return as many requests as one search can make, none shorter than the real ones."""
        inputs = {"query": query, "passages": shown(longest(document, BATCH))}
        return [self.request(inputs)] * SEARCH_CALLS

    @property
    def most_writes(self) -> int:
        """The most calls one answer takes: the strips' grades, and the generator."""
        return 2

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say which action the grades triggered."""
        meter = QueryMeter(self.backing, SEARCH_CALLS)
        first = [name for name, _ in self.retriever.search(query, len(self.pool.elements))]
        if not first:
            return [], meter.told()
        scores, rewritten = self._graded(meter, query, first[:BATCH])
        action = _action(scores)
        again: dict[str, float] = {}
        if action is not Action.CORRECT and rewritten:
            second = [n for n, _ in self.retriever.search(rewritten, len(first)) if n not in scores]
            if second:
                again, _ = self._graded(meter, query, second[:BATCH])
        if action is Action.INCORRECT:  # what was graded first is only kept behind the corrections
            both = [*_best(again), *_best(scores)]
        else:
            both = _best({**scores, **again})
        known = {**scores, **again}
        rest = [name for name in first if name not in known]
        meter.notes |= {"action": action.value, "rewritten": rewritten if again else ""}
        ranked = [(name, 1 / rank) for rank, name in enumerate([*both, *rest], 1)]
        return ranked[:k], meter.told()

    def write(self, query: str, ranked: Ranked, top: int, write: Write) -> Written:
        """Write from the strips of the best passages that are not graded incorrect."""
        elements = self.elements
        chosen = [elements[name] for name, _ in ranked[:top]]
        strips = _strips(chosen)
        graded = 0
        if len(strips) > len(chosen):  # one strip a passage leaves nothing to refine
            meter = QueryMeter(self.backing, 1)
            asked = {"query": query, "passages": shown([s for _, s in strips])}
            told = _scores(len(strips), meter.ask(self.STAGE, Graded, asked, role=self.ROLE).grades)
            kept = [strip for strip, score in zip(strips, told, strict=True) if score >= 0]
            chosen = _recomposed(chosen, kept) or chosen
            graded = meter.calls
        written = write(chosen)
        return replace(written, calls=written.calls + graded)

    def _graded(
        self, meter: QueryMeter, query: str, names: Sequence[str]
    ) -> tuple[dict[str, float], str]:
        asked = {"query": query, "passages": self.passages(names)}
        said = meter.ask(self.STAGE, Graded, asked, role=self.ROLE)
        told = _scores(len(names), said.grades)
        return dict(zip(names, told, strict=True)), said.rewritten_query.strip()


def _scores(count: int, grades: Sequence[Grade]) -> list[float]:
    """Return a score for each passage shown; one that was passed over in silence is ambiguous."""
    told = {one.passage.strip().casefold(): one.score for one in grades}
    return [told.get(f"p{n}", 0.0) for n in range(1, count + 1)]


def _action(scores: Mapping[str, float]) -> Action:
    best = max(scores.values())
    if best >= UPPER:
        return Action.CORRECT
    return Action.INCORRECT if best < LOWER else Action.AMBIGUOUS


def _best(scores: Mapping[str, float]) -> list[str]:
    """Return names by score; of equals the earlier retrieved comes first."""
    return sorted(scores, key=lambda name: -scores[name])


def _strips(elements: Sequence[Element]) -> list[tuple[int, Element]]:
    """Cut passages into strips of some sentences, as many as are graded in one call."""
    share = max(1, BATCH // max(1, len(elements)))
    made: list[tuple[int, Element]] = []
    for place, element in enumerate(elements):
        sentences = [element.text]
        if element.kind not in TABULAR:
            sentences = [one for one in _STRIP_END.split(element.text) if one.strip()]
        size = -(-len(sentences) // share)
        for start in range(0, len(sentences), max(1, size)):
            text = " ".join(sentences[start : start + size])
            made.append((place, replace(element, text=text)))
    return made


def _recomposed(elements: Sequence[Element], kept: Sequence[tuple[int, Element]]) -> list[Element]:
    """Put the strips that were kept together again, passage by passage."""
    texts: dict[int, list[str]] = {}
    for place, strip in kept:
        texts.setdefault(place, []).append(strip.text)
    return [replace(elements[place], text=" ".join(said)) for place, said in texts.items()]
