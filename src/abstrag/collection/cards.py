"""Cards in a store: made once for each content and index, kept beside it, read all at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from abstrag.collection.card import VERSION, Card, card_of
from abstrag.collection.sentences import VERSION as SENTENCES_VERSION
from abstrag.collection.sentences import SentenceShelf, embedded
from abstrag.collection.vectors import WINDOW_WORDS, Coded, windows
from abstrag.neural.encoder import TextEncoder
from abstrag.search.document_words import keep_words
from abstrag.stores.protocol import DocumentInfo, Store
from abstrag.stores.spare import SpareMemory, keep_layer

CARD: Final = "card"
VECTORS: Final = "vectors"
_AT_A_TIME: Final = 16  # documents embedded together, so that every core has some

OnMade = Callable[[int, int], None]  # told how many are done, of how many


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
) -> Cards:
    """Return the cards of a store's documents; what is missing is made and kept.

    Args:
        store: It is written to where a document has no card yet, or another index than its card.
        encoder: None leaves vectors out; those that are kept stay.
        on_made: Told of every few documents that are done.
    """
    documents = store.documents()
    reader = _Reader(store, encoder)
    cards, vectors = reader.kept(documents)
    missing = [info for info in documents if not reader.complete(info, cards, vectors)]
    for at in range(0, len(missing), _AT_A_TIME):
        on_made(at, len(missing))
        reader.make(missing[at : at + _AT_A_TIME], cards, vectors)
    if missing:
        on_made(len(missing), len(missing))
    return Cards(
        documents=documents,
        cards=tuple(cards[card_key(info)] for info in documents),
        vectors=tuple(vectors[info.content_hash] for info in documents) if encoder else None,
        made=len(missing),
    )


def card_key(info: DocumentInfo) -> tuple[str, str]:
    """Return content and fingerprint of a document's card: it changes with either."""
    return info.content_hash, f"{VERSION} {info.fingerprint}"


def vectors_made_by(encoder: TextEncoder) -> str:
    """Return the fingerprint of the vectors of documents: that of the encoder, and what it read."""
    return f"{WINDOW_WORDS} {SENTENCES_VERSION} {encoder.fingerprint}"


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

    def complete(
        self,
        info: DocumentInfo,
        cards: Mapping[tuple[str, str], Card],
        vectors: Mapping[str, Coded],
    ) -> bool:
        """Tell whether everything of a document is there."""
        return card_key(info) in cards and (self.encoder is None or info.content_hash in vectors)

    def make(
        self, documents: Sequence[DocumentInfo], cards: _CardsByKey, vectors: _VectorsByContent
    ) -> None:
        """Make and keep what documents lack, and put it with the rest.

        Sentences and words come first: a card or a vector says that those of its document are
        there.
        """
        indexes = {info: self.store.get(info.id) for info in documents}
        for info, index in indexes.items():
            if card_key(info) not in cards:
                self._sentences.keep_stems(info, index)
                cards[card_key(info)] = made = card_of(index)
                keep_layer(self.store, info.content_hash, CARD, card_key(info)[1], made.to_bytes())
        if self.encoder is not None:
            bare = {i.content_hash: i for i in documents if i.content_hash not in vectors}
            for info in bare.values():
                keep_words(indexes[info], SpareMemory(self.store))
            self._sentences.keep_vectors({info: indexes[info] for info in bare.values()})
            cut = {content: windows(indexes[info]) for content, info in bare.items()}
            for content, coded in embedded(cut, self.encoder):
                vectors[content] = coded
                keep_layer(self.store, content, VECTORS, self._vector_print, coded.to_bytes())

    @property
    def _sentences(self) -> SentenceShelf:
        return SentenceShelf(self.store, self.encoder)

    @property
    def _vector_print(self) -> str:
        assert self.encoder is not None
        return vectors_made_by(self.encoder)
