"""IRCoT: reason a step, search with it, reason on what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from abstrag.llm.model import CallRole, ModelRequest
from abstrag.model.record import record
from abstrag_bench.baselines.backing import CALLS, QueryMeter, RetrievingBaseline, longest, shown
from abstrag_bench.baselines.bm25 import Bm25
from abstrag_bench.baselines.system import Pool, Ranked, System

PER_STEP: Final = 4  # passages each step brings in; the publication tunes 2, 4, 6 and 8
MOST_PASSAGES: Final = 15  # that are collected, as in the publication
_THOUGHT: Final = 400  # characters, by the program's schema


@record
class Thought:
    """One thought, what to search for next, and whether the search is over."""

    thought: str
    query: str
    done: bool


@dataclass(slots=True)
class Ircot(RetrievingBaseline):
    """Collects passages over several searches and ranks them in the order they were found."""

    STAGE = "ircot"
    ROLE = CallRole.ANSWER

    retriever: System = field(default_factory=Bm25)
    calls: int = CALLS
    per_step: int = PER_STEP
    name: str = "ircot"

    @property
    def fidelity(self) -> str:
        """What differs from the publication."""
        return (
            "IRCoT as a prompt with a few short worked examples (in the publication more, of each "
            f"data set's own): at most {self.calls} steps of {self.per_step} passages by "
            f"{self.retriever.name}, ranked as they were found, then as the question ranks the "
            "rest; the reader is the shared generator; within one document"
        )

    def worst(self, query: str, document: Pool) -> list[ModelRequest]:
        """Return as many requests as one search can make, none shorter than the real ones."""
        inputs = {
            "query": query,
            "thoughts": [" " * _THOUGHT] * self.calls,
            "passages": shown(longest(document, MOST_PASSAGES)),
        }
        return [self.request(inputs)] * self.calls

    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say which steps led to them."""
        meter = QueryMeter(self.backing, self.calls)
        first = self.retriever.search(query, len(self.pool.elements))
        found = dict.fromkeys(name for name, _ in first[: self.per_step])
        steps: list[Thought] = []
        while found and meter.left and len(found) < MOST_PASSAGES:
            inputs = {
                "query": query,
                "thoughts": [step.thought for step in steps],
                "passages": self.passages(found),
            }
            step = meter.ask(self.STAGE, Thought, inputs, role=self.ROLE)
            steps.append(step)
            wanted = step.query.strip() or step.thought.strip()
            if step.done or not wanted:
                break
            found.update(dict.fromkeys(n for n, _ in self.retriever.search(wanted, self.per_step)))
        order = [*list(found)[:MOST_PASSAGES], *(name for name, _ in first)]
        meter.notes["steps"] = [{"thought": one.thought, "query": one.query} for one in steps]
        ranked = [(name, 1 / rank) for rank, name in enumerate(dict.fromkeys(order), 1)]
        return ranked[:k], meter.told()
