"""A prompt: a program together with the model that runs it and the role it is charged to.

Operators and judges hold prompts as fields. A prompt's `repr` names the program's content and the
model, so whatever is made of it is made anew when either changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, TypeVar

from abstrag.errors import ModelError, ModelUnreachable
from abstrag.llm.ask import Answered, ask, ask_many
from abstrag.llm.model import CallRole, LanguageModel
from abstrag.llm.program import Program
from abstrag.model.record import to_json

_HASH: Final = 16  # hexadecimal digits

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True, repr=False)
class Prompt:
    """What it takes to ask: what to say, whom to say it to, and who pays."""

    program: Program
    model: LanguageModel
    role: CallRole

    def __repr__(self) -> str:
        """Name what the answers depend on."""
        content = sha256(to_json(self.program).encode()).hexdigest()[:_HASH]
        return f"Prompt({self.program.stage!r}, {content}, {self.model.fingerprint!r})"

    def limit(self, field: str, otherwise: int) -> int:
        """Return how many items the reply's list of that name may have."""
        listed = self.program.output_schema.get("properties", {}).get(field, {})
        return int(listed.get("maxItems", otherwise))

    def ask(
        self,
        answer: type[Answer],
        inputs: Mapping[str, Any],
        *,
        sample: int = 0,
        temperature: float = 0.0,
        max_tokens: int = 1024,
    ) -> Answered[Answer]:
        """Ask once.

        Raises:
            ModelError: The model failed, or its reply does not fit the answer's type.
        """
        return ask(
            self.model,
            self.program,
            answer,
            inputs,
            role=self.role,
            sample=sample,
            temperature=temperature,
            max_tokens=max_tokens,
        )

    def ask_many(
        self,
        answer: type[Answer],
        inputs: Sequence[Mapping[str, Any]],
        *,
        sample: int = 0,
        temperature: float = 0.0,
        max_tokens: int = 1024,
    ) -> list[Answered[Answer] | ModelError]:
        """Ask about several inputs side by side; one that fails has its error in its place.

        Raises:
            ModelUnreachable: The model could not be reached for any of them; asking on is no use.
        """
        replies = ask_many(
            self.model,
            self.program,
            answer,
            inputs,
            role=self.role,
            sample=sample,
            temperature=temperature,
            max_tokens=max_tokens,
        )
        unreachable = [reply for reply in replies if isinstance(reply, ModelUnreachable)]
        if unreachable and len(unreachable) == len(replies):
            raise unreachable[0]
        return replies
