"""Asking: inputs in, a validated answer of a known type out, with the id of the call behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import TypeAdapter, ValidationError

from abstrag.errors import BadReply, ModelError
from abstrag.llm.model import CallRole, LanguageModel, Reply
from abstrag.llm.program import Program

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Answered(Generic[Answer]):
    """A model's answer, and the call that licenses whatever is made of it."""

    value: Answer
    reply: Reply

    @property
    def call(self) -> str:
        """The id of the call in the log."""
        return self.reply.call


def ask(
    model: LanguageModel,
    program: Program,
    answer: type[Answer],
    inputs: Mapping[str, Any],
    *,
    role: CallRole,
    sample: int = 0,
    temperature: float = 0.0,
    max_tokens: int = 1024,
) -> Answered[Answer]:
    """Ask once.

    Raises:
        ModelError: The model failed, or its reply does not fit the answer's type.
    """
    request = program.request(
        role, inputs, sample=sample, temperature=temperature, max_tokens=max_tokens
    )
    return _read(model.complete(request), answer, program.stage)


def ask_many(
    model: LanguageModel,
    program: Program,
    answer: type[Answer],
    inputs: Sequence[Mapping[str, Any]],
    *,
    role: CallRole,
    sample: int = 0,
    temperature: float = 0.0,
    max_tokens: int = 1024,
) -> list[Answered[Answer] | ModelError]:
    """Ask about several inputs side by side; one that fails has its error in its place."""
    requests = [
        program.request(role, one, sample=sample, temperature=temperature, max_tokens=max_tokens)
        for one in inputs
    ]
    return [
        reply if isinstance(reply, ModelError) else _attempt(reply, answer, program.stage)
        for reply in model.complete_many(requests)
    ]


def _attempt(reply: Reply, answer: type[Answer], stage: str) -> Answered[Answer] | ModelError:
    try:
        return _read(reply, answer, stage)
    except BadReply as error:
        return error


def _read(reply: Reply, answer: type[Answer], stage: str) -> Answered[Answer]:
    try:
        return Answered(TypeAdapter(answer).validate_python(reply.value), reply)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the reply"
        raise BadReply(
            f"{reply.model!r} replied at stage {stage!r} what does not fit: "
            f"{where}: {first['msg']}",
            hint=f"abstrag calls show {reply.call}",
        ) from error
