"""Plans: what an operator will ask, said before any of it is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from abstrag.indexing.operator import IndexDraft
from abstrag.llm.budget import room
from abstrag.llm.model import ModelRequest
from abstrag.llm.prompt import Prompt


@dataclass(frozen=True, slots=True)
class Plan:
    """The calls of one stage.

    Where `exact`, these are the very requests that will be made, so that those with an answer in
    the log can be told. Otherwise they hang on earlier answers, and only number and size are right.
    """

    stage: str
    requests: tuple[ModelRequest, ...]
    exact: bool = True

    @property
    def calls(self) -> int:
        """How many calls that is."""
        return len(self.requests)


@runtime_checkable
class Planner(Protocol):
    """An operator that can say what it will ask."""

    def plan(self, draft: IndexDraft) -> tuple[Plan, ...]:
        """Say what will be asked of a draft that local mode has finished."""
        ...


def planned(
    prompt: Prompt,
    inputs: Sequence[Mapping[str, Any]],
    *,
    each: int,
    exact: bool = True,
) -> Plan:
    """Plan a call for each input; `each` is how many tokens of a reply an item may take."""
    most = room(inputs, each)
    requests = (prompt.program.request(prompt.role, one, max_tokens=most) for one in inputs)
    return Plan(prompt.program.stage, tuple(requests), exact)
