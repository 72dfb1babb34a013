"""Cards in a store: made once for each content and index, kept beside it, read all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import numpy as np

from abstrag.collection.card import card_of
from abstrag.collection.sentences import VECTORS_VERSION, SentenceReader
from abstrag.errors import StoreReadOnly
from abstrag.model.index import DocumentIndex
from abstrag.neural.encoder import TextEncoder
from abstrag.stores.cards import CARD, VECTORS, Card, QuantizedVectors, card_key
from abstrag.stores.protocol import LAYERS_AT_A_TIME, DocumentInfo, LayerKey, MissingLayers, Store

WINDOW_WORDS: Final = 250  # what the shipped embedder reads at once, and a little more
_AT_A_TIME: Final = 16  # documents embedded together, so that every core has some

OnMade = Callable[[int, int], None]  # told how many are done, of how many
Layers = Mapping[LayerKey, bytes]


Batch = tuple[MissingLayers, ...]
MakeLayers = Callable[[Iterable[Batch]], Iterator[tuple[Batch, Layers]]]


Part = tuple[Card, QuantizedVectors | None]  # of a document; its vectors where there is an encoder


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards of all documents of a store and, where there is an encoder, their vectors.

    They are read as somebody goes through them, for those of many documents take much room.
    """

    documents: tuple[DocumentInfo, ...]
    parts: Iterable[Part]  # in the order of the documents, as often as they are wanted
    made: int  # of the documents, anew

    @property
    def cards(self) -> tuple[Card, ...]:
        """All cards, read together."""
        return tuple(card for card, _ in self.parts)

    @property
    def vectors(self) -> tuple[QuantizedVectors, ...] | None:
        """All vectors, read together; None without an encoder."""
        found = tuple(vectors for _, vectors in self.parts if vectors is not None)
        return found or None


def all_cards(
    store: Store,
    *,
    encoder: TextEncoder | None = None,
    on_made: OnMade = lambda _done, _all: None,
    make: MakeLayers | None = None,
) -> Cards:
    """Return the cards of a store's documents; what is missing is made and kept.

    Args:
        store: It is written to where a document has no card yet, or another index than its card.
        encoder: None leaves vectors out; those that are kept stay.
        on_made: Told of every few documents that are done.
        make: Makes what is missing, with `made_layers` in other processes; None does it here.
    """
    documents = store.documents()
    missing = _missing(store, encoder, documents)
    refused: dict[LayerKey, bytes] = {}
    for layers in _made(store, encoder, missing, on_made, make):
        try:
            store.put_layers(layers)  # together: a disk that syncs takes its time for each
        except StoreReadOnly:
            refused |= layers
    return Cards(documents, _KeptParts(store, encoder, documents, refused), len(missing))


def complete(
    store: Store,
    encoder: TextEncoder | None,
    missing_layers: Iterable[MissingLayers],
    *,
    on_made: OnMade = lambda _done, _all: None,
    make: MakeLayers | None = None,
) -> int:
    """Make and store what documents lack, and return for how many documents that was.

    What it has as a layer already is put again, as after an upgrade: the tables are filled by that.
    """
    missing: list[MissingLayers] = []
    for each in missing_layers:
        if kept := store.get_layers(_keys(each, encoder)):
            store.put_layers(kept)
        keyed = {layer for _, layer, _ in kept}
        rest = each._replace(
            card=each.card and CARD not in keyed, vectors=each.vectors and VECTORS not in keyed
        )
        if rest.card or rest.vectors:
            missing.append(rest)
    for layers in _made(store, encoder, missing, on_made, make):
        store.put_layers(layers)
    return len(missing)


def _made(
    store: Store,
    encoder: TextEncoder | None,
    missing: Sequence[MissingLayers],
    on_made: OnMade,
    make: MakeLayers | None,
) -> Iterator[Layers]:
    """Make the missing layers, some documents at a time."""
    batches = (tuple(missing[at : at + _AT_A_TIME]) for at in range(0, len(missing), _AT_A_TIME))
    done = 0
    if missing:
        on_made(0, len(missing))

    def made_here(batches: Iterable[Batch]) -> Iterator[tuple[Batch, Layers]]:
        for batch in batches:
            yield batch, made_layers(store, encoder, batch)

    for batch, layers in (make or made_here)(batches):
        yield layers
        done += len(batch)
        on_made(done, len(missing))


def _keys(missing_layers: MissingLayers, encoder: TextEncoder | None) -> list[LayerKey]:
    content, made_of = card_key(missing_layers.info)
    keys = [(content, CARD, made_of)] if missing_layers.card else []
    if encoder is not None and missing_layers.vectors:
        keys.append((content, VECTORS, vectors_made_by(encoder)))
    return keys


def _missing(
    store: Store, encoder: TextEncoder | None, documents: Sequence[DocumentInfo]
) -> list[MissingLayers]:
    """Return the documents that lack layers; layers of older indexes do not count."""
    carded = _kept_of(store, CARD, {card_key(info) for info in documents})
    if encoder is None:
        every = (MissingLayers(info, card_key(info) not in carded, False) for info in documents)
    else:
        made_by = vectors_made_by(encoder)
        embedded = _kept_of(store, VECTORS, {(info.content_hash, made_by) for info in documents})
        every = (
            MissingLayers(
                info,
                card_key(info) not in carded,
                (info.content_hash, made_by) not in embedded,
            )
            for info in documents
        )
    return [each for each in every if each.card or each.vectors]


def _kept_of(store: Store, layer: str, wanted: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the contents and fingerprints for which a layer is stored."""
    keys = ((content, fingerprint) for content, fingerprint, _ in store.layers_named(layer))
    return {key for key in keys if key in wanted}


@dataclass(frozen=True, slots=True)
class _KeptParts:
    """The cards and vectors of documents as their store keeps them."""

    store: Store
    encoder: TextEncoder | None
    documents: Sequence[DocumentInfo]
    refused: Layers  # what the store did not take

    def __iter__(self) -> Iterator[Part]:
        for at in range(0, len(self.documents), LAYERS_AT_A_TIME):
            infos = self.documents[at : at + LAYERS_AT_A_TIME]
            found = self.store.get_layers([key for info in infos for key in self._keys(info)])
            yield from (self._part(info, found) for info in infos)

    def _keys(self, info: DocumentInfo) -> list[LayerKey]:
        content, made_of = card_key(info)
        keys = [(content, CARD, made_of)]
        if self.encoder is not None:
            keys.append((content, VECTORS, vectors_made_by(self.encoder)))
        return keys

    def _part(self, info: DocumentInfo, found: Layers) -> Part:
        keys = self._keys(info)
        held = {
            key: layers[key] for layers in (self.refused, found) for key in keys if key in layers
        }
        if len(held) < len(keys):  # somebody has dropped it since
            held |= made_layers(self.store, self.encoder, (MissingLayers(info, True, True),))
        card, *vectors = (held[key] for key in keys)
        return Card.from_bytes(card), QuantizedVectors.from_bytes(vectors[0]) if vectors else None


def made_layers(store: Store, encoder: TextEncoder | None, batch: Batch) -> dict[LayerKey, bytes]:
    """Make the missing layers of some documents.

    Words are read for the aligner and kept at once, in files; the rest is for the caller to keep.
    """
    return layers_of({each: store.get(each.info.id) for each in batch}, store, encoder)


def missing_layers(store: Store, encoder: TextEncoder, info: DocumentInfo) -> MissingLayers:
    """Return the layers that a document, stored or not, lacks for a search over all."""
    card, vectors = card_key(info), vectors_made_by(encoder)
    keys = [(card[0], CARD, card[1]), (info.content_hash, VECTORS, vectors)]
    kept = store.get_layers(keys)
    return MissingLayers(info, keys[0] not in kept, keys[1] not in kept)


def layers_of(
    lacked: Mapping[MissingLayers, DocumentIndex], store: Store, encoder: TextEncoder | None
) -> dict[LayerKey, bytes]:
    """Make missing layers from indexes; words that the aligner read go into the store."""
    indexes = {each.info: index for each, index in lacked.items()}
    card_table = SentenceReader(store, encoder)
    made: dict[LayerKey, bytes] = {}
    for info, card, _ in lacked:
        if card:
            made |= card_table.stem_layer(info, indexes[info])
            content, made_of = card_key(info)
            made[content, CARD, made_of] = card_of(indexes[info]).to_bytes()
    bare = {each.info.content_hash: each.info for each in lacked if each.vectors}
    if encoder is not None and bare:
        for info in bare.values():
            made |= card_table.vector_layer(info, indexes[info])
        cut = [windows(indexes[info]) for info in bare.values()]
        ends = list(accumulate(map(len, cut)))
        rows = encoder.embed([text for texts in cut for text in texts])
        for content, own in zip(bare, np.split(rows, ends[:-1]), strict=True):
            made[content, VECTORS, vectors_made_by(encoder)] = QuantizedVectors.of(own).to_bytes()
    return made


def windows(index: DocumentIndex) -> list[str]:
    """Cut a document into windows that an embedder reads whole, each after the title."""
    title = index.document.title
    room = max(1, WINDOW_WORDS - len(title.split()))
    found = [word for segment in index.segments for word in segment.text.split()]
    stretches = [found[at : at + room] for at in range(0, len(found), room)]
    return [f"{title}. {' '.join(some)}" for some in stretches] or [title]


def vectors_made_by(encoder: TextEncoder) -> str:
    """Return the fingerprint of documents' vectors: of the encoder and of what it reads."""
    return f"{WINDOW_WORDS} {VECTORS_VERSION} {encoder.fingerprint}"
