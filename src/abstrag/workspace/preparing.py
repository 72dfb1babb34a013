"""Making what a search over all documents needs with several workers.

They read the documents and run the model; this process writes, so that the store is the one that a
single process leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from socket import gethostname
from typing import Final

from abstrag.collection.cards import Batch, Layers, MakeLayers, made_layers
from abstrag.neural.aligner import default_aligner
from abstrag.neural.whole_text import default_encoder
from abstrag.stores.open import open_store
from abstrag.workers.protocol import Engine, LostItem
from abstrag.workspace.many_files import check_reach
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

FEW: Final = 2  # batches that are done before workers would have loaded the model


@dataclass(frozen=True, slots=True)
class Preparing:
    """The `WorkerTask` of a worker: make what some documents lack; the store is only read."""

    config: WorkspaceConfig
    host: str  # the machine that asks

    def start(self) -> Callable[[Batch], Layers]:
        """Open the store and load the model."""
        check_reach(self.config.target, self.host)
        store = open_store(self.config.target, create=False)
        default_aligner().threads = 1  # the workers share the cores between them
        encoder = default_encoder()
        encoder.prepare()
        return lambda batch: made_layers(store, encoder, batch)


def made_by_workers(workspace: Workspace, engine: Engine) -> MakeLayers | None:
    """Return what prepares documents with workers; None where they could not have the encoder."""
    if workspace.embedder is not default_encoder():
        return None
    config = replace(workspace.config.elsewhere(), create=False)

    def made(batches: Iterable[Batch]) -> Iterator[tuple[Batch, Layers]]:
        source = iter(batches)
        first = list(islice(source, FEW + 1))
        if len(first) <= FEW:
            for batch in first:
                yield batch, here(batch)
            return
        task = Preparing(config, gethostname())
        with closing(engine.run(task, chain(first, source))) as results:
            for batch, result in results:
                yield batch, here(batch) if isinstance(result, LostItem) else result

    def here(batch: Batch) -> Layers:
        return made_layers(workspace.store, workspace.embedder, batch)

    return made
