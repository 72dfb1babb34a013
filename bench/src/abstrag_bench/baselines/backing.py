"""What a baseline with a language model stands on: the model, the programs, and a call budget.

Every such baseline has the same budget of calls a query, so none wins by asking more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, ClassVar, Final, Protocol, TypeVar, Unpack, runtime_checkable

from abstrag.llm.model import CallRole, LanguageModel, ModelRequest
from abstrag.llm.prompt import Program, Sampling, ask
from abstrag.model.record import to_json
from abstrag_bench.baselines.dense import Dense, element_text
from abstrag_bench.baselines.system import Element, Pool, Ranked, System

CALLS: Final = 4  # a query
BATCH: Final = 10  # passages that are judged in one call
_CLIP: Final = 1200  # characters of a passage that a model is shown
Value = TypeVar("Value")


class ByRole(Protocol):
    """The models that are connected; a role without one raises `NeedsModel`."""

    def __getitem__(self, role: CallRole) -> LanguageModel:
        """Return the model of a role."""
        ...


@dataclass(frozen=True, slots=True)
class Backing:
    """The models by role, and the programs they are asked with."""

    models: ByRole
    programs: Mapping[str, Program]

    def state(self, role: CallRole, stage: str) -> str:
        """Hash everything the replies at a stage depend on."""
        said = f"{self.models[role].fingerprint}\n{to_json(self.programs[stage])}"
        return sha256(said.encode()).hexdigest()[:16]


@dataclass(slots=True)
class QueryMeter:
    """Asks on behalf of one query and keeps the bill; it refuses to go over the budget."""

    backing: Backing
    budget: int = CALLS
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    notes: dict[str, Any] = field(default_factory=dict)  # what the method did, for the record

    @property
    def left(self) -> int:
        """How many more calls may be made."""
        return self.budget - self.calls

    def ask(
        self,
        stage: str,
        kind: type[Value],
        inputs: Mapping[str, Any],
        *,
        role: CallRole,
        **how: Unpack[Sampling],
    ) -> Value:
        """Ask once.

        Raises:
            ModelError: The model failed, or said something else than was asked for.
        """
        assert self.left > 0, "a method asks only while its budget lasts"
        self.calls += 1
        models, programs = self.backing.models, self.backing.programs
        answered = ask(models[role], programs[stage], kind, inputs, role=role, **how)
        self.tokens_in += answered.reply.tokens_in
        self.tokens_out += answered.reply.tokens_out
        self.cost += answered.reply.cost
        return answered.value

    def told(self) -> dict[str, Any]:
        """Return the record's fields about what was asked."""
        bill = {"tokens_in": self.tokens_in, "tokens_out": self.tokens_out, "cost": self.cost}
        return {"llm_calls": self.calls, "details": {**self.notes, **bill}}


@runtime_checkable
class ModelSystem(Protocol):
    """A system that asks a model while it searches."""

    def worst(self, query: str, document: Pool) -> list[ModelRequest]:
        """Return as many requests as one search can make, none shorter than the real ones."""
        ...


@dataclass(slots=True)
class PromptedBaseline(ABC):
    """A baseline that asks a model with one program about the passages of one document."""

    STAGE: ClassVar[str]
    ROLE: ClassVar[CallRole]

    backing: Backing
    _pool: Pool | None = field(default=None, init=False)

    @property
    def state(self) -> str:
        """A hash of the model and the prompt."""
        return self.backing.state(self.ROLE, self.STAGE)

    @property
    def pool(self) -> Pool:
        """The document that was indexed last."""
        assert self._pool is not None
        return self._pool

    @property
    def elements(self) -> dict[str, Element]:
        """Its elements by their ids."""
        return {element.id: element for element in self.pool.elements}

    def search(self, query: str, k: int) -> Ranked:
        """Rank the elements."""
        return self.search_explained(query, k)[0]

    @abstractmethod
    def search_explained(self, query: str, k: int) -> tuple[Ranked, Mapping[str, Any]]:
        """Rank the elements, and say what that took."""

    def passages(self, names: Iterable[str]) -> list[dict[str, Any]]:
        """Return elements as inputs of the program."""
        elements = self.elements
        return shown([elements[name] for name in names])

    def request(self, inputs: Mapping[str, Any], **how: Unpack[Sampling]) -> ModelRequest:
        """Return what a model is asked."""
        return self.backing.programs[self.STAGE].request(self.ROLE, inputs, **how)


@dataclass(slots=True)
class RetrievingBaseline(PromptedBaseline):
    """One that has another system retrieve passages."""

    retriever: System = field(default_factory=Dense)

    def index(self, document: Pool) -> None:
        """Let the retriever take the document in."""
        self._pool = document
        self.retriever.index(document)


def longest(document: Pool, count: int) -> list[Element]:
    """Return the longest elements of a document: what a request can hold at worst."""
    return sorted(document.elements, key=lambda one: -len(element_text(one)))[:count]


def shown(elements: Sequence[Element]) -> list[dict[str, Any]]:
    """Return passages as inputs of a program: p1, p2, … and their words."""
    return [
        {"passage": f"p{number}", "text": element_text(element)[:_CLIP]}
        for number, element in enumerate(elements, 1)
    ]
