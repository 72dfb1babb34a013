"""Generation without a model: ours quotes its answer and lets the local judge label a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstrag.baselines.system import System
from abstrag.bench.abstrag_system import AbstragSystem
from abstrag.bench.case import Case
from abstrag.bench.generation import UNANSWERABLE, Job, asked_of
from abstrag.bench.record import CaseRecord
from abstrag.engine.verdicts import Verdicts, installed_verdicts
from abstrag.errors import AbstragError
from abstrag.llm.model import Request
from abstrag.model.answer import Asked


class LocalWriter:
    """Answers as `ask` does in local mode; other systems than ours have nothing to say.

    A judge that is not sure gives no label, so that the case is not computable and no guess.
    """

    def __init__(self, verdicts: Verdicts | None = None) -> None:
        self._verdicts = verdicts or installed_verdicts()

    @property
    def fingerprint(self) -> str:
        """Names the judge; the rest is in the state of the systems."""
        return f"local, claims by {self._verdicts!r}" if self._verdicts else "local, no judge"

    def worst(self, system: System, case: Case) -> list[Request]:  # noqa: ARG002
        """Return nothing: no model is asked."""
        return []

    def __call__(self, jobs: Sequence[Job]) -> list[CaseRecord]:
        """Quote the answers of ours."""
        return [self._record(job) for job in jobs]

    def _record(self, job: Job) -> CaseRecord:
        asked = asked_of(job.case)
        system = job.system
        if asked is None or job.record.error or not isinstance(system, AbstragSystem):
            return job.record
        try:
            made = system.document.ask(job.case.query, asked=asked, verdicts=self._verdicts)
        except AbstragError as error:
            return replace(job.record, error=f"no answer: {error}")
        if asked is Asked.QUESTION:
            return replace(job.record, answer=made.text if made.found else UNANSWERABLE)
        label = made.verdict.label.value if made.verdict else None
        return replace(job.record, label=label)
