"""What is made ahead for searches over a whole store, and what no installed model made.

Vectors and judgements are kept under the fingerprint of the model that made them and are only ever
given to that model, so those of another one are never mixed in. They merely take up room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from socket import gethostname
from typing import Final

from abstrag.collection.card_table_file import save_card_table
from abstrag.collection.cards import Batch, Layers, MakeLayers, OnMade, made_layers
from abstrag.neural.aligner import default_aligner
from abstrag.neural.judge import default_judge
from abstrag.neural.whole_text import default_encoder
from abstrag.search.document_words import keep_words
from abstrag.stores.memory import BestEffortMemory
from abstrag.stores.open import open_store
from abstrag.stores.protocol import Store
from abstrag.workers.protocol import Engine, LostItem
from abstrag.workspace.many_files import check_reach
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

# Making what a search over all documents needs with several workers.
#
# They read the documents and run the model; this process writes, so that the store is the one
# that a single process leaves.

FEW: Final = 2  # batches that are done before workers would have loaded the model


@dataclass(frozen=True, slots=True)
class PrepareTask:
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
        task = PrepareTask(config, gethostname())
        with closing(engine.run(task, chain(first, source))) as results:
            for batch, result in results:
                yield batch, here(batch) if isinstance(result, LostItem) else result

    def here(batch: Batch) -> Layers:
        return made_layers(workspace.store, workspace.embedder, batch)

    return made


READ_AHEAD: Final = 50  # segments: fewer are read in a moment


def prepare(
    workspace: Workspace,
    on_made: OnMade = lambda _done, _all: None,
    make: MakeLayers | None = None,
) -> int:
    """Make what a search over all documents needs and is missing; say for how many that was.

    One document alone needs nothing of it. `make` does the work elsewhere, as in `all_cards`.
    """
    if len(workspace.documents()) < 2:
        return 0
    made, _ = save_card_table(
        workspace.store, encoder=workspace.embedder, on_made=on_made, make=make
    )
    return made


def read_words(
    workspace: Workspace,
    documents: Iterable[str],
    on_document: Callable[[str], None] = lambda _name: None,
) -> int:
    """Read the words of documents ahead, so that no search waits for it; say of how many.

    A short document is read when it is first searched. A store without files keeps nothing.
    `on_document` is told each one before it is read.
    """
    if workspace.store.mapped is None:
        return 0
    memory, read = BestEffortMemory(workspace.store), 0
    for name in documents:
        info = workspace.store.find(name)
        if info.segments >= READ_AHEAD:
            on_document(name)
            keep_words(workspace.index(info), memory)
            read += 1
    return read


def installed_models() -> dict[str, frozenset[str]]:
    """Return the fingerprints of the shipped models, by the kind of what they make."""
    embedder, judge = default_encoder().fingerprint, default_judge().fingerprint
    aligner = default_aligner().fingerprint
    return {
        "embeddings": frozenset({embedder, aligner}),
        "vectors": frozenset({embedder}),
        "judgements": frozenset({judge}),
    }


def made_by_others(store: Store) -> Mapping[str, Mapping[str, int]]:
    """Count what models made that are not installed, by kind and fingerprint."""
    installed = installed_models()
    counted = {
        kind: {name: count for name, count in made.items() if name not in installed[kind]}
        for kind, made in store.models().items()
    }
    return {kind: others for kind, others in counted.items() if others}


def drop_made_by_others(store: Store) -> int:
    """Drop what models made that are not installed, and return how much that was."""
    installed = installed_models()
    return sum(store.forget_models(kind, keep=installed[kind]) for kind in made_by_others(store))
