"""Begin to load the shipped models while other work is still to be done.

A search imports a parser, reads a document and parses the query before it needs a model. Whoever
knows that a model will be needed calls `preload` first:

    preload(embedder=preset.dense_weight > 0, judge=preset.judge_weight > 0)

Nothing else changes: the models are those of `default_embedder` and `default_judge`, and what
cannot be loaded is reported when it is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from threading import Thread

from abstrag.errors import ResourceMissing
from abstrag.neural.embedder import Embedder, default_embedder
from abstrag.neural.judge import EvidenceJudge, default_judge


def preload(*, embedder: bool = True, judge: bool = True) -> Thread:
    """Load the shipped models in the background, the one that is needed first before the other.

    Most of that leaves the interpreter free. Whoever needs a model that is being loaded waits for
    it; nobody has to wait for the thread, but the process does before it ends.
    """
    wanted: list[Embedder | EvidenceJudge] = []
    with suppress(ResourceMissing):  # whoever needs the model gets the error
        wanted += [default_embedder()] if embedder else []
        wanted += [default_judge()] if judge else []
    thread = Thread(target=_prepare, args=(wanted,), name="preload")
    thread.start()
    return thread


def _prepare(models: Sequence[Embedder | EvidenceJudge]) -> None:
    for model in models:
        with suppress(ResourceMissing):  # it is tried again when the model is used
            model.prepare()
