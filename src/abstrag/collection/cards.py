"""Cards in a store: made once for each content and index, kept beside it, read all at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, NamedTuple

import numpy as np

from abstrag.collection.card import VERSION, Card, card_of
from abstrag.collection.sentences import VECTORS_VERSION, SentenceShelf
from abstrag.collection.vectors import WINDOW_WORDS, Coded, windows
from abstrag.errors import StoreReadOnly
from abstrag.model.index import DocumentIndex
from abstrag.neural.encoder import TextEncoder
from abstrag.stores.protocol import DocumentInfo, LayerKey, Store

CARD: Final = "card"
VECTORS: Final = "vectors"
_AT_A_TIME: Final = 16  # documents embedded together, so that every core has some

OnMade = Callable[[int, int], None]  # told how many are done, of how many
Layers = Mapping[LayerKey, bytes]


class Lacking(NamedTuple):
    """A document, and what a search over all documents lacks of it."""

    info: DocumentInfo
    card: bool
    vectors: bool


Batch = tuple[Lacking, ...]
MakeLayers = Callable[[Iterable[Batch]], Iterator[tuple[Batch, Layers]]]


@dataclass(frozen=True, slots=True)
class Cards:
    """The cards of all documents of a store and, where there is an encoder, their vectors."""

    documents: tuple[DocumentInfo, ...]
    cards: tuple[Card, ...]
    vectors: tuple[Coded, ...] | None
    made: int  # of the documents, anew


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
    reader = _Reader(store, encoder)
    cards, vectors = reader.kept(documents)
    found = (reader.lacking(info, cards, vectors) for info in documents)
    missing = [each for each in found if each.card or each.vectors]
    batches = (tuple(missing[at : at + _AT_A_TIME]) for at in range(0, len(missing), _AT_A_TIME))
    done = 0
    if missing:
        on_made(0, len(missing))
    for batch, layers in (make or reader.made_here)(batches):
        with suppress(StoreReadOnly):
            store.put_layers(layers)  # together: a disk that syncs takes its time for each
        reader.add(batch, layers, cards, vectors)
        done += len(batch)
        on_made(done, len(missing))
    return Cards(
        documents=documents,
        cards=tuple(cards[card_key(info)] for info in documents),
        vectors=tuple(vectors[info.content_hash] for info in documents) if encoder else None,
        made=len(missing),
    )


def made_layers(store: Store, encoder: TextEncoder | None, batch: Batch) -> dict[LayerKey, bytes]:
    """Make what some documents lack.

    Words are read for the aligner and kept at once, in files; the rest is for the caller to keep.
    """
    return layers_of({each: store.get(each.info.id) for each in batch}, store, encoder)


def lacking(store: Store, encoder: TextEncoder, info: DocumentInfo) -> Lacking:
    """Say what a search over all documents lacks of one that the store need not have yet."""
    card, vectors = card_key(info), vectors_made_by(encoder)
    keys = [(card[0], CARD, card[1]), (info.content_hash, VECTORS, vectors)]
    kept = store.get_layers(keys)
    return Lacking(info, keys[0] not in kept, keys[1] not in kept)


def layers_of(
    lacked: Mapping[Lacking, DocumentIndex], store: Store, encoder: TextEncoder | None
) -> dict[LayerKey, bytes]:
    """Make what some documents lack of their indexes; the store keeps the words read ahead."""
    indexes = {each.info: index for each, index in lacked.items()}
    shelf = SentenceShelf(store, encoder)
    made: dict[LayerKey, bytes] = {}
    for info, card, _ in lacked:
        if card:
            made |= shelf.stem_layer(info, indexes[info])
            content, made_of = card_key(info)
            made[content, CARD, made_of] = card_of(indexes[info]).to_bytes()
    bare = {each.info.content_hash: each.info for each in lacked if each.vectors}
    if encoder is not None and bare:
        for info in bare.values():
            made |= shelf.vector_layer(info, indexes[info])
        cut = [windows(indexes[info]) for info in bare.values()]
        ends = list(accumulate(map(len, cut)))
        rows = encoder.embed([text for texts in cut for text in texts])
        for content, own in zip(bare, np.split(rows, ends[:-1]), strict=True):
            made[content, VECTORS, vectors_made_by(encoder)] = Coded.of(own).to_bytes()
    return made


def card_key(info: DocumentInfo) -> tuple[str, str]:
    """Return content and fingerprint of a document's card: it changes with either."""
    return info.content_hash, f"{VERSION} {info.fingerprint}"


def vectors_made_by(encoder: TextEncoder) -> str:
    """Return the fingerprint of the vectors of documents: that of the encoder, and what it read."""
    return f"{WINDOW_WORDS} {VECTORS_VERSION} {encoder.fingerprint}"


_CardsByKey = dict[tuple[str, str], Card]
_VectorsByContent = dict[str, Coded]


@dataclass(frozen=True, slots=True)
class _Reader:
    store: Store
    encoder: TextEncoder | None

    def kept(self, documents: Sequence[DocumentInfo]) -> tuple[_CardsByKey, _VectorsByContent]:
        """Read what is kept for documents, and leave what belongs to older indexes."""
        wanted = {card_key(info) for info in documents}
        cards = {
            (content, fingerprint): Card.from_bytes(data)
            for content, fingerprint, data in self.store.layers_named(CARD)
            if (content, fingerprint) in wanted
        }
        if self.encoder is None:
            return cards, {}
        contents = {info.content_hash for info in documents}
        vectors = {
            content: Coded.from_bytes(data)
            for content, fingerprint, data in self.store.layers_named(VECTORS)
            if content in contents and fingerprint == self._vector_print
        }
        return cards, vectors

    def lacking(
        self, info: DocumentInfo, cards: _CardsByKey, vectors: _VectorsByContent
    ) -> Lacking:
        """Say what is missing of a document."""
        bare = self.encoder is not None and info.content_hash not in vectors
        return Lacking(info, card_key(info) not in cards, bare)

    def made_here(self, batches: Iterable[Batch]) -> Iterator[tuple[Batch, Layers]]:
        """Make what documents lack in this process."""
        for batch in batches:
            yield batch, made_layers(self.store, self.encoder, batch)

    def add(
        self, batch: Batch, layers: Layers, cards: _CardsByKey, vectors: _VectorsByContent
    ) -> None:
        """Put what was made of documents with the rest."""
        for info, _, _ in batch:
            content, made_of = card_key(info)
            if (data := layers.get((content, CARD, made_of))) is not None:
                cards[content, made_of] = Card.from_bytes(data)
            if self.encoder is not None:
                data = layers.get((content, VECTORS, self._vector_print))
                if data is not None:
                    vectors[content] = Coded.from_bytes(data)

    @property
    def _vector_print(self) -> str:
        assert self.encoder is not None
        return vectors_made_by(self.encoder)
