"""Self-RAG: retrieve, reflect on every passage, and retrieve again on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from abstrag.llm.model import CallRole, ModelRequest
from abstrag.model.record import record
from abstrag_bench.baselines.backing import (
    BATCH,
    CALLS,
    QueryMeter,
    RetrievingBaseline,
    longest,
    shown,
)
from abstrag_bench.baselines.system import Pool, Ranked, Write, Written

_SUPPORT: Final = {"fully": 1.0, "partially": 0.5, "no": 0.0}  # the publication's scores
_TOP: Final = 3  # passages an answer is tried from, one by one


@record
class Reflection:
    """The reflection tokens of one passage: ISREL and ISSUP."""

    passage: str
    is_relevant: bool
    is_supported: Literal["fully", "partially", "no"]

    @property
    def score(self) -> float:
        """The sum of the two, with the publication's weight of 1 each."""
        return float(self.is_relevant) + _SUPPORT[self.is_supported]


@record
class Critique:
    """What a model makes of some passages, and whether to retrieve again."""

    should_retrieve: bool
    passages: tuple[Reflection, ...]
    follow_up: str


@dataclass(slots=True)
class SelfRag(RetrievingBaseline):
    """Ranks by reflection scores; passages nobody reflected on follow as they were retrieved."""

    STAGE = "self_rag"
    ROLE = CallRole.JUDGE

    calls: int = CALLS
    name: str = "self-rag"

    @property
    def fidelity(self) -> str:
        """What differs from the publication."""
        return (
            "Self-RAG as a prompt: a general model is asked for ISREL and ISSUP in words, instead "
            "of a model trained on reflection tokens, and not for ISUSE; the first retrieval is "
            f"unconditional, at most {self.calls} rounds of {BATCH} passages by "
            f"{self.retriever.name}; the answer is written from one passage at a time and the "
            "best-ranked that decides it wins; within one document"
        )

    def worst(self, query: str, document: Pool) -> list[ModelRequest]:
        """Return as many requests as one search can make, none shorter than the real ones."""
        inputs = {"query": query, "passages": shown(longest(document, BATCH))}
        return [self.request(inputs)] * self.calls

    @property
    def most_writes(self) -> int:
        """The most calls one answer takes: one a passage."""
        return _TOP

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say what was asked in which round."""
        size = len(self.pool.elements)
        meter = QueryMeter(self.backing, self.calls)
        first = self.retriever.search(query, size)
        order = first
        scores: dict[str, float] = {}
        queries = [query]
        while meter.left:
            fresh = [name for name, _ in order if name not in scores][:BATCH]
            if not fresh:
                break
            asked = {"query": query, "passages": self.passages(fresh)}
            said = meter.ask(self.STAGE, Critique, asked, role=self.ROLE)
            scores |= _reflected(fresh, said.passages)
            if not said.should_retrieve or not said.follow_up.strip():
                break
            queries.append(said.follow_up)
            order = self.retriever.search(said.follow_up, size)
        meter.notes["queries"] = queries
        judged = sorted(scores, key=lambda name: -scores[name])  # of equals the earlier retrieved
        rest = [name for name, _ in first if name not in scores]
        ranked = [(name, scores[name]) for name in judged]
        ranked += [(name, -float(n)) for n, name in enumerate(rest, 1)]
        return ranked[:k], meter.told()

    def write(self, query: str, ranked: Ranked, top: int, write: Write) -> Written:  # noqa: ARG002
        """Write from one passage at a time, best first, and keep what decides the question."""
        elements = self.elements
        written = Written("", decided=False, calls=0)
        for name, _ in ranked[: min(top, _TOP)]:
            tried = write([elements[name]])
            written = replace(tried, calls=written.calls + tried.calls)
            if written.decided:
                break
        return written


def _reflected(names: Sequence[str], said: Sequence[Reflection]) -> dict[str, float]:
    """Return the score of every passage shown; one that was passed over in silence has none."""
    told = {one.passage.strip().casefold(): one.score for one in said}
    return {name: told.get(f"p{n}", 0.0) for n, name in enumerate(names, 1)}
