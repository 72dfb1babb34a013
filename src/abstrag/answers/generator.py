"""The generator: the one prompt that turns numbered passages into an answer or a verdict.

Every system under test and `ask` itself use it in the same words, so a difference between two
answers is a difference between the passages they were given.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any, Final, Literal

from abstrag.errors import ModelError
from abstrag.llm.model import CallRole, LanguageModel, ModelRequest
from abstrag.llm.prompt import Answered, Program, ask, ask_many
from abstrag.model.answer import Asked
from abstrag.model.record import record, to_json

STAGES: Final = {Asked.QUESTION: "answer", Asked.CLAIM: "verdict"}
_MAX_TOKENS: Final = 1024
# what a program is told besides where passages are of several documents
_SEVERAL: Final = (
    "Passages are of different documents, which `document` names. Where documents differ, say what "
    "each of them says."
)


@record
class Given:
    """A passage as a generator sees it; its document is named where there are several."""

    text: str
    section: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    document: str = ""

    def inputs(self, number: int) -> dict[str, Any]:
        """Return it as an input of the program: headers belong to a cell, the section is told."""
        made: dict[str, Any] = {"number": number, "text": self.text}
        if self.document:
            made["document"] = self.document
        if self.headers:
            made["headers"] = list(self.headers)
        if self.section:
            made["section"] = " › ".join(self.section)
        return made


@record
class CitedWords:
    """A passage's number and the words a model says it copied from there."""

    number: int
    quote: str


@record
class SaidSentence:
    """One sentence of a model's answer."""

    text: str
    citations: tuple[CitedWords, ...]


@record
class AnswerReply:
    """What a model says to a question."""

    status: Literal["answered", "not_in_document"]
    sentences: tuple[SaidSentence, ...]
    missing: tuple[str, ...]

    @property
    def found(self) -> bool:
        """True when the passages hold an answer; no sentence at all is none."""
        return self.status == "answered" and any(one.text.strip() for one in self.sentences)

    @property
    def text(self) -> str:
        """The answer's words, empty when there is none."""
        return " ".join(one.text.strip() for one in self.sentences) if self.found else ""


@record
class VerdictReply:
    """What a model says of a claim."""

    label: str
    citations: tuple[CitedWords, ...]
    reason: str
    missing: tuple[str, ...]


Said = AnswerReply | VerdictReply


@dataclass(frozen=True, slots=True)
class GenerationTask:
    """What to generate: an answer to a question or a verdict on a claim, from these passages."""

    asked: Asked
    query: str
    passages: tuple[Given, ...]

    @property
    def kind(self) -> tuple[Asked, bool]:
        """What is asked, and whether of several documents: tasks of a kind have one program."""
        return self.asked, any(one.document for one in self.passages)

    def inputs(self) -> dict[str, Any]:
        """Return the inputs of the program."""
        shown = [one.inputs(number) for number, one in enumerate(self.passages, 1)]
        return {self.asked.value: self.query, "passages": shown}


@dataclass(frozen=True, slots=True)
class Generator:
    """A model and the two programs it is asked with; one call a task."""

    model: LanguageModel
    programs: Mapping[str, Program]

    @property
    def fingerprint(self) -> str:
        """Names everything a generated text depends on."""
        programs = "".join(to_json(self.programs[stage]) for stage in STAGES.values())
        return f"{self.model.fingerprint} {sha256(programs.encode()).hexdigest()[:12]}"

    def request(self, task: GenerationTask) -> ModelRequest:
        """Return the request a task would make."""
        program, _ = self._stage(*task.kind)
        return program.request(CallRole.ANSWER, task.inputs(), max_tokens=_MAX_TOKENS)

    def __call__(self, task: GenerationTask) -> Answered[Any]:
        """Generate one text.

        Raises:
            ModelError: The model failed, or said something else than was asked for.
        """
        program, kind = self._stage(*task.kind)
        return ask(
            self.model,
            program,
            kind,
            task.inputs(),
            role=CallRole.ANSWER,
            max_tokens=_MAX_TOKENS,
        )

    def many(self, tasks: Sequence[GenerationTask]) -> list[Answered[Any] | ModelError]:
        """Generate several texts side by side; one that fails has its error in its place."""
        made: dict[int, Answered[Any] | ModelError] = {}
        for one in dict.fromkeys(task.kind for task in tasks):
            places = [i for i, task in enumerate(tasks) if task.kind == one]
            program, kind = self._stage(*one)
            replies = ask_many(
                self.model,
                program,
                kind,
                [tasks[i].inputs() for i in places],
                role=CallRole.ANSWER,
                max_tokens=_MAX_TOKENS,
            )
            made.update(zip(places, replies, strict=True))
        return [made[i] for i in range(len(tasks))]

    def _stage(self, asked: Asked, several: bool) -> tuple[Program, type[Any]]:
        kind = AnswerReply if asked is Asked.QUESTION else VerdictReply
        program = self.programs[STAGES[asked]]
        return replace(program, rules=(*program.rules, _SEVERAL)) if several else program, kind
