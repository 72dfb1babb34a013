"""What is made ahead for searches over a whole store, and what no installed model made.

Vectors and judgements are kept under the fingerprint of the model that made them and are only ever
given to that model, so those of another one are never mixed in. They merely take up room.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Final

from abstrag.collection.cards import MakeLayers, OnMade
from abstrag.collection.shelf_file import keep_shelf
from abstrag.neural.aligner import default_aligner
from abstrag.neural.judge import default_judge
from abstrag.neural.whole_text import default_encoder
from abstrag.search.document_words import keep_words
from abstrag.stores.protocol import Store
from abstrag.stores.spare import SpareMemory

READ_AHEAD: Final = 50  # segments: fewer are read in a moment

if TYPE_CHECKING:
    from abstrag.workspace.workspace import Workspace


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
    made, _ = keep_shelf(workspace.store, encoder=workspace.embedder, on_made=on_made, make=make)
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
    memory, read = SpareMemory(workspace.store), 0
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
