"""Begin to load the shipped models while other work is still to be done.

A search imports a parser and parses the query before it needs a model. Whoever has opened a
document and is about to put a question to it calls `preload_for` first:

    wanted = {"aligner": preset.alignment_weight > 0, "judge": preset.judge_weight > 0}
    preload_for(question, memory, content_hash=index.document.content_hash, **wanted)

Nothing else changes: the models are those of `default_aligner` and `default_judge`, and what
cannot be loaded is reported when it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

from abstrag.errors import ResourceMissing
from abstrag.neural.aligner import Aligner, default_aligner
from abstrag.neural.cached import ValueCache, remembers
from abstrag.neural.judge import EvidenceJudge, default_judge


def preload(*, aligner: bool = True, judge: bool = True) -> Thread:
    """Load the shipped models in the background, the one that is needed first before the other.

    Most of that leaves the interpreter free. Whoever needs a model that is being loaded waits for
    it; nobody has to wait for the thread, but the process does before it ends.
    """
    wanted: list[Aligner | EvidenceJudge] = []
    with suppress(ResourceMissing):  # whoever needs the model gets the error
        wanted += [default_aligner()] if aligner else []
        wanted += [default_judge()] if judge else []
    thread = Thread(target=_prepare, args=(wanted,), name="preload")
    thread.start()
    return thread


def preload_for(
    question: str,
    memory: ValueCache,
    *,
    content_hash: str,
    aligner: bool = True,
    judge: bool = True,
) -> Thread | None:
    """Load in the background what a question needs; nothing where it was put to the text before.

    Then all that the models said about it is remembered, and no model is needed.
    """
    with suppress(ResourceMissing):
        if aligner and remembers(memory, content_hash, default_aligner(), question):
            return None
    return preload(aligner=aligner, judge=judge) if aligner or judge else None


def _prepare(models: Sequence[Aligner | EvidenceJudge]) -> None:
    for model in models:
        with suppress(ResourceMissing):  # it is tried again when the model is used
            model.prepare()
