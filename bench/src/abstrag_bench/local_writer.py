"""Generation without a model: ours quotes its answer and lets the local judge label a claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from abstrag.answers.verdicts import Verdicts, installed_verdicts
from abstrag.errors import AbstragError
from abstrag.llm.model import ModelRequest
from abstrag.model.answer import Asked, Label
from abstrag_bench.abstrag_system import AbstragSystem
from abstrag_bench.baselines.system import System
from abstrag_bench.case import Case
from abstrag_bench.generation import UNANSWERABLE, RankedCase, asked_of
from abstrag_bench.record import CaseRecord


class LocalWriter:
    """Answers as `ask` does in local mode; other systems than ours have nothing to say.

    A judge that is not sure gives no label, which counts as an abstention; what it leans to is kept
    beside. Every process may have a copy: nothing is spent and nothing counted.
    """

    travels = True

    def __init__(self, verdicts: Verdicts | None = None) -> None:
        self._given = verdicts

    @property
    def _verdicts(self) -> Verdicts:
        return self._given or installed_verdicts()

    @property
    def fingerprint(self) -> str:
        """Names the judge; the rest is in the state of the systems."""
        return f"local, claims by {self._verdicts!r} and rules"

    def worst(self, system: System, case: Case) -> list[ModelRequest]:  # noqa: ARG002
        """Return nothing: no model is asked."""
        return []

    def __call__(self, jobs: Sequence[RankedCase]) -> list[CaseRecord]:
        """Quote the answers of ours."""
        return [self._record(job) for job in jobs]

    def _record(self, job: RankedCase) -> CaseRecord:
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
        leaning = made.leaning or Label.NOT_ENOUGH_INFO  # nothing found is nothing to go by
        return replace(job.record, label=label, leaning=leaning.value)
