"""What may help a search besides the index: a judge, a judge of claims, a language model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstrag.llm.model import Role
from abstrag.model.index import DocumentIndex
from abstrag.neural.bundle import WEIGHTS

if TYPE_CHECKING:
    from abstrag.engine.generator import Generator
    from abstrag.engine.verdicts import Verdicts
    from abstrag.llm.connect import Models
    from abstrag.rank.judging import Judge

JudgeOf = Callable[[DocumentIndex], "Judge"]


@dataclass(frozen=True, slots=True)
class Aids:
    """Who can be asked; everything may be missing.

    A judge reads a document's segments in their place, so there is one for each document. Nothing
    is loaded before it is asked for: a server is up before its models are.
    """

    judge_of: JudgeOf | None = None
    verdicts: Callable[[], Verdicts | None] = lambda: None
    generator: Generator | None = None
    model: str | None = None  # what the generator's language model is called


def installed_aids(models: Models | None = None) -> Aids:
    """Return what this installation has: its own judges, and what language models add or replace.

    Weights that are not there help nobody.
    """
    packaged = _packaged_judge if (WEIGHTS / "judge").is_dir() else None
    prompted = None if models is None else _prompted_judge(models)
    writer = None if models is None else _writer(models)
    return Aids(
        judge_of=prompted or packaged,
        verdicts=_installed_verdicts,
        generator=writer,
        model=None if writer is None else writer.model.fingerprint,
    )


def _packaged_judge(index: DocumentIndex) -> Judge:
    from abstrag.neural.judge import default_judge

    return default_judge().reading(index.document.title)


def _installed_verdicts() -> Verdicts | None:
    from abstrag.engine.verdicts import installed_verdicts

    return installed_verdicts()


def _prompted_judge(models: Models) -> JudgeOf | None:
    from abstrag.llm.prompt import Prompt
    from abstrag.policy.load import load_programs

    model = models.get(Role.JUDGE)
    if model is None:
        return None
    prompt = Prompt(load_programs()["entailment"], model, Role.JUDGE)

    def judge_of(index: DocumentIndex) -> Judge:
        from abstrag.rank.prompted_judge import PromptedJudge

        return PromptedJudge.of(index, prompt)

    return judge_of


def _writer(models: Models) -> Generator | None:
    from abstrag.engine.generator import Generator
    from abstrag.policy.load import load_programs

    model = models.get(Role.ANSWER)
    return None if model is None else Generator(model, load_programs())
