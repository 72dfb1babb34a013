"""Self-RAG: retrieve, reflect on every passage, and retrieve again on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from abstrag.llm.model import CallRole, ModelRequest
from abstrag.model.record import record
from abstrag_bench.baselines.backing import BATCH, CALLS, Backing, QueryMeter, longest, shown
from abstrag_bench.baselines.dense import Dense
from abstrag_bench.baselines.system import Element, Pool, Ranked, System, Write, Written

STAGE: Final = "self_rag"
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
class SelfRag:
    """Ranks by reflection scores; passages nobody reflected on follow as they were retrieved."""

    backing: Backing
    retriever: System = field(default_factory=Dense)
    calls: int = CALLS
    name: str = "self-rag"
    _pool: Pool | None = None

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

    @property
    def state(self) -> str:
        """A hash of the model and the prompt."""
        return self.backing.state(CallRole.JUDGE, STAGE)

    def worst(self, query: str, document: Pool) -> list[ModelRequest]:
        """Return as many requests as one search can make, none shorter than the real ones."""
        passages = shown(longest(document, BATCH), key="passage")
        inputs = {"query": query, "passages": passages}
        return [self.backing.programs[STAGE].request(CallRole.JUDGE, inputs)] * self.calls

    @property
    def most_writes(self) -> int:
        """The most calls one answer takes: one a passage."""
        return _TOP

    def index(self, document: Pool) -> None:
        """Let the retriever take the document in."""
        self._pool = document
        self.retriever.index(document)

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        return self.search_explained(query, k)[0]

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say what was asked in which round."""
        assert self._pool is not None
        elements = {element.id: element for element in self._pool.elements}
        meter = QueryMeter(self.backing, self.calls)
        first = self.retriever.search(query, len(elements))
        order = first
        scores: dict[str, float] = {}
        queries = [query]
        while meter.left:
            fresh = [name for name, _ in order if name not in scores][:BATCH]
            if not fresh:
                break
            asked = {
                "query": query,
                "passages": shown([elements[name] for name in fresh], key="passage"),
            }
            said = meter.ask(STAGE, Critique, asked, role=CallRole.JUDGE)
            scores |= _reflected(fresh, said.passages)
            if not said.should_retrieve or not said.follow_up.strip():
                break
            queries.append(said.follow_up)
            order = self.retriever.search(said.follow_up, len(elements))
        meter.notes["queries"] = queries
        judged = sorted(scores, key=lambda name: -scores[name])  # of equals the earlier retrieved
        rest = [name for name, _ in first if name not in scores]
        ranked = [(name, scores[name]) for name in judged]
        ranked += [(name, -float(n)) for n, name in enumerate(rest, 1)]
        return ranked[:k], meter.told()

    def write(self, query: str, ranked: Ranked, top: int, write: Write) -> Written:  # noqa: ARG002
        """Write from one passage at a time, best first, and keep what decides the question."""
        assert self._pool is not None
        elements: dict[str, Element] = {one.id: one for one in self._pool.elements}
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
