"""The prompts of the index side, gathered: programs, the models that run them, an encoder."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from abstrag.errors import InputError
from abstrag.llm.budget import Batching
from abstrag.llm.model import CallRole, LanguageModel
from abstrag.llm.prompt import Program, Prompt
from abstrag.neural.encoder import TextEncoder

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
