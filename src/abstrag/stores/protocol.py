"""What a store of indexes promises, whatever keeps the bytes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np
import numpy.typing as npt

from abstrag.model.background import Background
from abstrag.model.document import Genre
from abstrag.model.index import DocumentIndex
from abstrag.model.record import Result, record
from abstrag.model.segment import Granularity
from abstrag.model.term import Mention

if TYPE_CHECKING:
    from abstrag.stores.prepared import Prepared

LAYER_VERSIONS: Final = 4  # fingerprints kept per content and layer
VERSIONS: Final = 4  # files kept per content
LAYERS_AT_A_TIME: Final = 200  # of a layer that is read for all contents

LayerKey = tuple[str, str, str]  # content hash, layer, fingerprint


class DocumentFiles(Protocol):
    """Files with data of a document in searchable form, by content and name."""

    @property
    def folder(self) -> Path | None:
        """The folder of the files; None if they are in a database."""
        ...

    def get(self, content_hash: str, name: str) -> memoryview | None:
        """Return the bytes of a file, or None."""
        ...

    def put(
        self,
        content_hash: str,
        name: str,
        parts: Iterable[bytes | memoryview],
        *,
        versions: int = VERSIONS,
    ) -> None:
        """Keep a file, where there is room, and no more than some versions of a content."""
        ...

    def names(self, content_hash: str) -> list[str]:
        """Return the names of the files of a content, the oldest first."""
        ...

    def forget(self, content_hash: str) -> None:
        """Drop the files of a content."""
        ...


@record
class DocumentInfo(Result):
    """What a store knows about a document without reading its index.

    `id` is the name in the store; it differs from the document's own id when two sources gave
    their documents the same one. `indexed_at` lives here and not in the index, so that indexing a
    file twice gives the same index.
    """

    id: str
    title: str
    date: str | None
    source_path: str | None
    source_hash: str
    content_hash: str
    genre: Genre
    granularity: Granularity
    fingerprint: str
    segments: int
    terms: int
    edges: int
    indexed_at: str  # UTC, ISO 8601, whole seconds


class Store(Protocol):
    """Finished indexes by document, and the intermediate layers they were made from.

    Every call is one transaction: it is done wholly or not at all, and readers never see half of
    it. Several processes may use one store at the same time, each of them opened by itself, and
    the threads of a process may share one that is open. A call on a closed store is a `StoreError`.
    """

    @property
    def mapped(self) -> DocumentFiles | None:
        """The files of vectors beside the store or in it; None where there is no place for any."""
        ...

    def put(self, index: DocumentIndex, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index, in place of the one this source had before, and return its store id.

        The id is the document's own unless another source holds it; then a short hash of the
        source path is put behind it. Documents without a source path are told apart by id alone.
        Paths are compared as they are spelled: resolve them first.
        """
        ...

    def put_prepared(self, prepared: Prepared, *, source_path: str | None, source_hash: str) -> str:
        """Keep an index that was packed elsewhere, as `put` does."""
        ...

    def holders(self, ids: Sequence[str]) -> dict[str, str | None]:
        """Return which source path holds each of some ids; an id that is free is left out."""
        ...

    def get(self, document_id: str) -> DocumentIndex:
        """Return the index of a document, named by its store id or a unique beginning of it."""
        ...

    def find(self, document_id: str) -> DocumentInfo:
        """Describe a document, named by its store id or a unique beginning of it."""
        ...

    def background(self, document_id: str) -> Background:
        """Return the Background a document was indexed with."""
        ...

    def find_source(self, path: str) -> DocumentInfo | None:
        """Describe the document that was read from a path or has that place too, if any."""
        ...

    def find_bytes(self, source_hash: str) -> tuple[DocumentInfo, ...]:
        """Describe the documents that were read from such bytes, sorted by id."""
        ...

    def add_place(self, document_id: str, path: str) -> None:
        """Know that the bytes of a document, named by its full store id, lie at a path too.

        A path belongs to one document: what is put there later takes it, and so does the document
        that it is added to last. The path that a document was read from is no place of another.
        """
        ...

    def places(self, document_id: str) -> tuple[str, ...]:
        """Return the other paths of a document, sorted; the one it was read from is none."""
        ...

    def documents(self) -> tuple[DocumentInfo, ...]:
        """Describe every document, sorted by id."""
        ...

    def postings(self, document_id: str, term_ids: Iterable[str]) -> dict[str, tuple[Mention, ...]]:
        """Return the mentions of each term in index order; a term without any maps to `()`."""
        ...

    def remove(self, document_id: str) -> None:
        """Forget a document, named by its full store id, and whatever only it needed."""
        ...

    def get_layer(self, content_hash: str, layer: str, fingerprint: str) -> bytes | None:
        """Return what `put_layer` kept under the same three keys, or None."""
        ...

    def get_layers(self, keys: Sequence[LayerKey]) -> dict[LayerKey, bytes]:
        """Return those of some layers that are kept, by their three keys, in one round trip."""
        ...

    def put_layer(self, content_hash: str, layer: str, fingerprint: str, data: bytes) -> None:
        """Keep an operator's result for a document's content and a chain's fingerprint.

        Only the latest few fingerprints of a content and layer are kept.
        """
        ...

    def put_layers(self, layers: Mapping[LayerKey, bytes]) -> None:
        """Keep several layers as `put_layer` does, in one transaction."""
        ...

    def layers(self, content_hash: str) -> tuple[tuple[str, str, bytes], ...]:
        """Return the layers of a content as (layer, fingerprint, data), the oldest first."""
        ...

    def layers_named(self, layer: str) -> Iterator[tuple[str, str, bytes]]:
        """Go through one layer of every content, as (content hash, fingerprint, data).

        Those of a content come together. This is read some at a time, each some in a transaction
        of its own, so that memory stays flat and the store may be used in between; what is
        written meanwhile may or may not be among them.
        """
        ...

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        """Return what `remember` kept of some keys under the same kind, content and model."""
        ...

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        """Keep what a model said about texts of a document: `embeddings` or `judgements`.

        Room is bounded, and the oldest entries of a kind make way for new ones.
        """
        ...

    def remembered(self, kind: str, content_hash: str) -> dict[str, dict[bytes, bytes]]:
        """Return everything of a kind that is remembered of a content, by model."""
        ...

    def version(self) -> int:
        """Return a number that is another one whenever a document was put or removed, by anyone.

        It costs one small query, so that what was read of all documents can be kept until then.
        """
        ...

    def models(self) -> dict[str, dict[str, int]]:
        """Count what models made, by kind and the model's fingerprint.

        The kinds are `embeddings` and `judgements`, counted by text and pair, and `vectors`: the
        layers that hold vectors of documents.
        """
        ...

    def forget_models(self, kind: str, *, keep: Collection[str]) -> int:
        """Drop what models other than some made of a kind, and return how much that was.

        Args:
            kind: One that `models` tells.
            keep: Fingerprints of the models whose work stays.
        """
        ...

    def forget(self, content_hash: str) -> None:
        """Drop what models said about a content, whether a document has it or not."""
        ...

    def check(self) -> None:
        """Read everything once; a broken store is a `StoreCorrupt`."""
        ...

    def close(self) -> None:
        """Let go of the store, once calls of other threads are done; closing twice is fine."""
        ...

    def __enter__(self) -> Self:
        """Return the store itself."""
        ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the store."""
        ...


@runtime_checkable
class TransactionalStore(Protocol):
    """A store that can put several calls into one transaction."""

    def together(self) -> AbstractContextManager[None]:
        """Make one transaction of the calls of a block.

        A call that fails leaves nothing of itself; an error that leaves the block leaves nothing.
        """
        ...


# Choosing among documents by their cards, for a store that does that itself. Hashes and cards are
# those of `stores.cards`; a model is known by the fingerprint of its layers.


class MissingLayers(NamedTuple):
    """A document, and the layers that a search over all documents lacks of it."""

    info: DocumentInfo
    card: bool
    vectors: bool


@dataclass(frozen=True, slots=True)
class CardsState:
    """Totals over the cards of a store."""

    version: int  # of the store
    documents: int
    length: int  # stems of all
    times: tuple[str, ...]  # ids of the time terms of any document
    missing_layers: tuple[MissingLayers, ...]


@dataclass(frozen=True, slots=True)
class CardsAsked:
    """What a question asks of all cards."""

    stems: npt.NDArray[np.uint64]
    terms: npt.NDArray[np.uint64]
    size: int  # documents there are
    room: float  # what BM25 adds to a count,
    slope: float  # and what for each stem of the document
    also: tuple[str, ...] = ()  # ids of documents that are wanted whatever they hold
    model: str = ""
    vector: npt.NDArray[np.float32] | None = None
    passing: npt.NDArray[np.int64] | None = None  # numbers of those that may be chosen; None: all
    layers: tuple[tuple[str, str], ...] = ()  # of the likeliest: name, and fingerprint in which
    # <fingerprint> and <granularity> stand for those of the document
    weights: tuple[float, float] = (1.0, 1.0)  # of words and vectors in what is the likeliest


class CardFound(NamedTuple):
    """A document that was chosen."""

    info: DocumentInfo
    text: int  # the hash of its title and text
    near: float | None  # the cosine of its closest window, where there is one


@dataclass(slots=True)
class CardsFound:
    """The answer of a store to a question; documents are given by number."""

    version: int = 0
    postings: dict[int, tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = field(
        default_factory=dict
    )  # by hash: all who hold it, and their values
    documents: dict[int, CardFound] = field(default_factory=dict)
    nearest: int = 0  # windows that the index of vectors gave,
    farthest: float | None = None  # and the cosine distance of the last one
    layers: dict[LayerKey, bytes] = field(default_factory=dict)


@runtime_checkable
class ShortlistingStore(Store, Protocol):
    """A store that keeps cards in tables and chooses among them in one round trip.

    Every card and vector that is put as a layer is in the tables when that call is done.
    """

    @property
    def chooses(self) -> bool:
        """False where the server lacks what it takes."""
        ...

    def count(self) -> int:
        """Return how many documents there are."""
        ...

    def cards_state(self, model: str | None) -> CardsState:
        """Say what all documents have together, and which of them lack a card or vectors."""
        ...

    def ask_cards(self, asked: CardsAsked) -> CardsFound:
        """Return the postings asked for, and the documents that may be the best."""
        ...

    def cosines(
        self, documents: npt.NDArray[np.int64], model: str, vector: npt.NDArray[np.float32]
    ) -> dict[int, float]:
        """Return the cosine of some documents' closest windows with a query."""
        ...

    def described(self, numbers: npt.NDArray[np.int64] | None = None) -> dict[int, DocumentInfo]:
        """Describe some documents, or all, by their numbers."""
        ...


def together(store: Store) -> AbstractContextManager[None]:
    """Make one transaction of the calls of a block, where a store can; else each is its own."""
    return store.together() if isinstance(store, TransactionalStore) else nullcontext()
