"""The prompts of the index side, gathered: programs, the models that run them, an encoder."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol, runtime_checkable

from abstrag.errors import InputError
from abstrag.indexing.operator import IndexDraft
from abstrag.language.spelling import Place
from abstrag.llm.budget import Batching, room
from abstrag.llm.model import CallRole, LanguageModel, ModelRequest
from abstrag.llm.prompt import Program, Prompt
from abstrag.model.term import Mention, Term
from abstrag.neural.encoder import TextEncoder

# Plans: what an operator will ask, said before any of it is asked.


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


# Which term stands at a place of a draft, by the layers that are there.


class TermsAt:
    """The terms that segments mention, by place; a later layer knows more than an earlier one."""

    def __init__(self, draft: IndexDraft) -> None:
        layers = [x for x in (draft.entities, draft.concepts, draft.events) if x is not None]
        self.terms: dict[str, Term] = {t.id: t for layer in layers for t in layer.terms}
        self._at: defaultdict[int, list[Mention]] = defaultdict(list)
        for layer in layers:
            for mention in layer.mentions:
                if mention.header is None:
                    self._at[mention.segment].append(mention)

    def term(self, segment: int, place: Place, *, prefix: str = "") -> str | None:
        """Return the term mentioned at exactly this place, or the longest that ends the place."""
        start, end = place
        best: tuple[int, str] | None = None
        for mention in self._at[segment]:
            if mention.end == end and mention.start >= start and mention.term.startswith(prefix):
                found = (mention.start, mention.term)
                best = found if best is None else min(best, found)
        return best[1] if best else None

    def within(self, segment: int, place: Place) -> str | None:
        """Return the first term mentioned inside a place; names go before words."""
        start, end = place
        inside = [m for m in self._at[segment] if start <= m.start and m.end <= end]
        return inside[0].term if inside else None


# stage → who is charged; what decides what others proposed is a judge
ROLES: Final[Mapping[str, CallRole]] = {
    "coreference": CallRole.INDEX,
    "extract_statements": CallRole.INDEX,
    "lift_context": CallRole.INDEX,
    "truth_eval": CallRole.JUDGE,
    "normalize_entities": CallRole.INDEX,
    "confirm_merge": CallRole.JUDGE,
    "extract_concepts": CallRole.INDEX,
    "align_concepts": CallRole.INDEX,
    "role_probability": CallRole.JUDGE,
    "extract_events": CallRole.INDEX,
    "align_events": CallRole.INDEX,
}


@dataclass(frozen=True, slots=True)
class IndexPrompts:
    """What a chain with a model behind it needs."""

    prompts: Mapping[str, Prompt]  # by stage
    encoder: TextEncoder  # proposes what looks alike
    batching: Batching = field(default_factory=Batching)
    local: frozenset[str] = frozenset()  # operators that stay without a model, by name

    @classmethod
    def of(
        cls,
        programs: Mapping[str, Program],
        model: Callable[[CallRole], LanguageModel],
        encoder: TextEncoder,
        batching: Batching | None = None,
    ) -> IndexPrompts:
        """Bind each program to the model of its role."""
        if missing := [stage for stage in ROLES if stage not in programs]:
            raise InputError(f"there is no program for stage {missing[0]!r}")
        prompts = {
            stage: Prompt(programs[stage], model(role), role) for stage, role in ROLES.items()
        }
        return cls(prompts, encoder, batching or Batching())

    def __getitem__(self, stage: str) -> Prompt:
        return self.prompts[stage]
