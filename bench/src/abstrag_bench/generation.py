"""Generation: every system's answers, written from its own first passages by one generator.

What is asked depends on the case: one with a gold label is a claim and gets a verdict, one with
reference answers is a question, and one with neither is not asked, for nothing could be compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from abstrag.answers.citations import find_quote, parts_of
from abstrag.answers.generator import (
    AnswerReply,
    GenerationTask,
    Generator,
    Given,
    VerdictReply,
)
from abstrag.config import GIVEN_PASSAGES
from abstrag.errors import AbstragError, InputError, ModelError, OverBudget
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.llm.prompt import Answered
from abstrag.model.answer import Asked, Label
from abstrag_bench.baselines.backing import Backing, longest
from abstrag_bench.baselines.system import Element, System, WritingSystem, Written
from abstrag_bench.case import Case
from abstrag_bench.record import CaseRecord

UNANSWERABLE: Final = "Unanswerable"  # what QASPER's references say where there is no answer


@dataclass(frozen=True, slots=True)
class RankedCase:
    """A case a system has ranked, and what the ranking says."""

    system: System
    case: Case
    record: CaseRecord

    @property
    def elements(self) -> list[Element]:
        """The first passages the system itself retrieved."""
        by_id = {element.id: element for element in self.case.document.elements}
        return [by_id[name] for name in self.record.shown[:GIVEN_PASSAGES]]


class Writer(Protocol):
    """Fills in the answers and labels of the records of one document.

    One that `travels` may be copied into other processes; a model's budget is kept in one.
    """

    travels: bool

    @property
    def fingerprint(self) -> str:
        """Names everything the answers depend on."""
        ...

    def worst(self, system: System, case: Case) -> list[ModelRequest]:
        """Return as many requests as the answer of one case can take, none shorter than those."""
        ...

    def __call__(self, jobs: Sequence[RankedCase]) -> list[CaseRecord]:
        """Return the records with what was written, or with the error that prevented it."""
        ...


def asked_of(case: Case) -> Asked | None:
    """Return what a case asks for, None when there is nothing to compare an answer with."""
    if case.label is not None and _is_label(case.label):
        return Asked.CLAIM
    return Asked.QUESTION if any(one.strip() for one in case.answers) else None


class ModelWriter:
    """Asks a language model; the systems that have no say in it are asked about side by side."""

    travels = False

    def __init__(self, backing: Backing) -> None:
        self._generator = Generator(backing.models[CallRole.ANSWER], backing.programs)

    @property
    def fingerprint(self) -> str:
        """Names the model and the prompts."""
        return self._generator.fingerprint

    def worst(self, system: System, case: Case) -> list[ModelRequest]:
        """Return as many requests as the answer of one case can take, none shorter than those."""
        asked = asked_of(case)
        if asked is None:
            return []
        request = self._generator.request(
            _task(asked, case.query, longest(case.document, GIVEN_PASSAGES))
        )
        return [request] * (system.most_writes if isinstance(system, WritingSystem) else 1)

    def __call__(self, jobs: Sequence[RankedCase]) -> list[CaseRecord]:
        """Write every answer that is asked for."""
        made = [job.record for job in jobs]
        together: dict[int, GenerationTask] = {}
        for i, job in enumerate(jobs):
            asked = asked_of(job.case)
            if asked is None or job.record.error is not None:
                continue
            if not job.elements:  # nothing found is an answer too, and needs no model
                made[i] = filled(job.record, asked, Written("", decided=False, calls=0))
            elif isinstance(job.system, WritingSystem):
                made[i] = self._by_method(job, job.system, asked)
            else:
                together[i] = _task(asked, job.case.query, job.elements)
        replies = self._generator.many(list(together.values()))
        for (i, task), reply in zip(together.items(), replies, strict=True):
            if isinstance(reply, ModelError):
                made[i] = failed(made[i], reply, calls=1)
            else:
                more = {
                    "quotes": quotes_held(reply.value, task.passages),
                    "calls": [reply.call],
                    **_bill([reply]),
                }
                made[i] = filled(made[i], task.asked, _written(reply), details=more)
        return made

    def _by_method(self, job: RankedCase, system: WritingSystem, asked: Asked) -> CaseRecord:
        """Let a system with a way of its own decide what is written from what."""
        replies: list[Answered[Any]] = []

        def write(elements: Sequence[Element]) -> Written:
            reply = self._generator(_task(asked, job.case.query, elements))
            replies.append(reply)
            return _written(reply)

        scores = dict(zip(job.record.ranked, job.record.scores, strict=True))
        ranked = [(name, scores.get(name, 0.0)) for name in job.record.shown]
        try:
            written = system.write(job.case.query, ranked, GIVEN_PASSAGES, write)
        except OverBudget:
            raise
        except Exception as error:  # as in a search: the system's failure on this case
            return failed(job.record, error, calls=len(replies) + 1)
        more = {"calls": [one.call for one in replies], **_bill(replies)}
        return filled(job.record, asked, written, details=more)


def filled(
    record: CaseRecord,
    asked: Asked,
    written: Written,
    *,
    details: Mapping[str, Any] | None = None,
) -> CaseRecord:
    """Return a record with an answer or a label in it."""
    said = {"generation": details} if details else {}
    made = replace(
        record,
        llm_calls=(record.llm_calls or 0) + written.calls,
        details={**record.details, **said},
    )
    if asked is Asked.CLAIM:
        return replace(made, label=written.text or Label.NOT_ENOUGH_INFO.value)
    return replace(made, answer=written.text or UNANSWERABLE)


def told(error: Exception) -> str:
    """Return an error for a record: our own in its words, any other with its class."""
    return str(error) if isinstance(error, AbstragError) else f"{type(error).__name__}: {error}"


def failed(record: CaseRecord, error: Exception, *, calls: int) -> CaseRecord:
    """Return a record whose ranking stands and whose answer is missing, with the reason."""
    return replace(
        record, llm_calls=(record.llm_calls or 0) + calls, error=f"no answer: {told(error)}"
    )


def quotes_held(said: AnswerReply | VerdictReply, passages: Sequence[Given]) -> list[int]:
    """Count the quotations that stand in the passages given, and all of them."""
    cited = (
        said.citations
        if isinstance(said, VerdictReply)
        else [one for sentence in said.sentences for one in sentence.citations]
    )
    texts = [text for one in passages for text in (one.text, *one.headers)]
    held = [
        parts_of(one.quote) != ()
        and all(any(find_quote(part, text) for text in texts) for part in parts_of(one.quote))
        for one in cited
    ]
    return [sum(held), len(held)]


def _task(asked: Asked, query: str, elements: Sequence[Element]) -> GenerationTask:
    given = tuple(Given(one.text, one.section, one.headers) for one in elements)
    return GenerationTask(asked, query, given)


def _written(reply: Answered[Any]) -> Written:
    said = reply.value
    if isinstance(said, AnswerReply):
        return Written(said.text, decided=said.found)
    label = Label.read(said.label)
    return Written(label.value, decided=label is not Label.NOT_ENOUGH_INFO)


def _bill(replies: Sequence[Answered[Any]]) -> dict[str, int]:
    """Return the tokens that replies took."""
    return {
        "tokens_in": sum(one.reply.tokens_in for one in replies),
        "tokens_out": sum(one.reply.tokens_out for one in replies),
    }


def _is_label(text: str) -> bool:
    try:
        Label.read(text)
    except InputError:
        return False
    return True
