"""The sentences of a document, as a second look at it reads them: their stems and their vectors.

Both lie beside the card in layers of their own and are read for a few documents of a query only. A
sentence stands here for a segment, whatever the document was cut into.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.collection.card import hashed
from abstrag.errors import StoreCorrupt
from abstrag.model.index import DocumentIndex
from abstrag.neural.encoder import TextEncoder
from abstrag.neural.runtime import passage, segment_text
from abstrag.neural.whole_text import WholeTextEncoder
from abstrag.search.document_words import keep_words
from abstrag.search.lexical import words
from abstrag.stores.cards import Hashes, QuantizedVectors
from abstrag.stores.memory import BestEffortMemory, keep_layer
from abstrag.stores.protocol import DocumentInfo, LayerKey, Store

STEMS: Final = "sentence stems"
VECTORS: Final = "sentence vectors"
_STEMS_VERSION: Final = 1  # of what the layers hold
VECTORS_VERSION: Final = 2
MOST: Final = 2000  # sentences of a document: the first ones, a hundred pages or so
_HEAD: Final = struct.Struct("<II")

Worth = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SentenceStems:
    """The stems of the title, and the further stems of every sentence, each once."""

    hashes: Hashes  # of one after the other
    sizes: npt.NDArray[np.uint32]  # how many each has; the first is the title

    @classmethod
    def of(cls, index: DocumentIndex) -> SentenceStems:
        """Collect them from an indexed document."""
        title = set(words(index.document.title))
        parts = [title, *(set(words(text)) - title for text in sentences(index))]
        flat = [hashed(stem) for part in parts for stem in sorted(part)]
        sizes = [len(part) for part in parts]
        return cls(np.array(flat, np.uint64), np.array(sizes, np.uint32))

    def covered(self, stems: Hashes, worth: Worth) -> float:
        """Return the share of the stems' weight that title and best sentence hold together.

        Args:
            stems: Of a query, ascending and each once; at least one.
            worth: Of each.
        """
        places = np.minimum(np.searchsorted(stems, self.hashes), len(stems) - 1)
        held = np.where(stems[places] == self.hashes, worth[places], 0.0)
        owners = np.repeat(np.arange(len(self.sizes)), self.sizes)
        each = np.bincount(owners, held, len(self.sizes))
        return float(each[0] + each[1:].max(initial=0.0))

    def to_bytes(self) -> bytes:
        """Write the stems as a store keeps them."""
        head = _HEAD.pack(len(self.sizes), len(self.hashes))
        return head + self.hashes.astype("<u8").tobytes() + self.sizes.astype("<u4").tobytes()

    @classmethod
    def from_bytes(cls, data: bytes) -> SentenceStems:
        """Read stems back."""
        parts, flat = _HEAD.unpack_from(data) if len(data) >= _HEAD.size else (0, 0)
        if not parts or len(data) != _HEAD.size + 8 * flat + 4 * parts:
            raise _broken(f"they have {len(data)} bytes")
        sizes = np.frombuffer(data, "<u4", parts, offset=_HEAD.size + 8 * flat)
        if int(sizes.sum()) != flat:
            raise _broken("their numbers do not add up")
        return cls(np.frombuffer(data, "<u8", flat, offset=_HEAD.size), sizes)


@dataclass(frozen=True, slots=True)
class Sentences:
    """What a second look reads of one document."""

    stems: SentenceStems
    vectors: QuantizedVectors | None  # None without an encoder


def sentences(index: DocumentIndex) -> list[str]:
    """Return the first sentences of a document, each after the headers of its table."""
    return [
        passage(segment.text, headers=[header.text for header in segment.headers])
        for segment in index.segments[:MOST]
    ]


@dataclass(frozen=True, slots=True)
class SentenceReader:
    """The sentences of a store's documents; what is missing is made and kept."""

    store: Store
    encoder: TextEncoder | None

    def read(
        self, documents: Sequence[DocumentInfo], found: Mapping[LayerKey, bytes] | None = None
    ) -> list[Sentences]:
        """Return the sentences of some documents, in their order and with one round trip.

        Those that lack something, after an upgrade say, are read and completed one by one.

        Args:
            documents: At most a few dozen.
            found: Layers that are at hand; where all are, the store is not asked.
        """
        keys = [_stem_key(info) for info in documents]
        keys += [self._vector_key(info) for info in documents] if self.encoder else []
        kept = dict(found or {})
        if rest := [key for key in keys if key not in kept]:
            kept |= self.store.get_layers(rest)
        return [self._sentences(info, kept) for info in documents]

    def _sentences(self, info: DocumentInfo, kept: Mapping[LayerKey, bytes]) -> Sentences:
        stems, vectors = kept.get(_stem_key(info)), None
        if self.encoder is not None:
            data = kept.get(self._vector_key(info))
            vectors = QuantizedVectors.from_bytes(data) if data is not None else self._vectors(info)
        if stems is None:
            return Sentences(self.keep_stems(info, self.store.get(info.id)), vectors)
        return Sentences(SentenceStems.from_bytes(stems), vectors)

    def _vectors(self, info: DocumentInfo) -> QuantizedVectors:
        ((key, data),) = self.vector_layer(info, self.store.get(info.id)).items()
        keep_layer(self.store, *key, data)
        return QuantizedVectors.from_bytes(data)

    def keep_stems(self, info: DocumentInfo, index: DocumentIndex) -> SentenceStems:
        """Make and keep the stems of a document's sentences."""
        ((key, data),) = self.stem_layer(info, index).items()
        keep_layer(self.store, *key, data)
        return SentenceStems.from_bytes(data)

    def stem_layer(self, info: DocumentInfo, index: DocumentIndex) -> dict[LayerKey, bytes]:
        """Make the stems of a document's sentences."""
        return {_stem_key(info): SentenceStems.of(index).to_bytes()}

    def vector_layer(self, info: DocumentInfo, index: DocumentIndex) -> dict[LayerKey, bytes]:
        """Make the vectors of a document's sentences, each after the name of its section.

        The shipped encoder has read them by then: with their words, where the store keeps these.
        """
        assert self.encoder is not None
        wholes = keep_words(index, BestEffortMemory(self.store))
        if wholes is None or not len(wholes) or not isinstance(self.encoder, WholeTextEncoder):
            texts = [segment_text(segment) for segment in index.segments[:MOST]]
            # one that has no sentence is known by its title
            rows = self.encoder.embed(texts or [index.document.title])
        else:
            rows = self.encoder.of_wholes(wholes[:MOST])
        return {self._vector_key(info): QuantizedVectors.of(rows).to_bytes()}

    def _vector_key(self, info: DocumentInfo) -> LayerKey:
        assert self.encoder is not None
        return info.content_hash, VECTORS, _vectors_made_by(info.granularity, self.encoder)


def _stem_key(info: DocumentInfo) -> LayerKey:
    return info.content_hash, STEMS, _stems_made_of(info.fingerprint)


def _stems_made_of(fingerprint: str) -> str:
    return f"{_STEMS_VERSION} {fingerprint}"


def _vectors_made_by(granularity: str, encoder: TextEncoder) -> str:
    return f"{VECTORS_VERSION} {granularity} {encoder.fingerprint}"


def layers_read(encoder: TextEncoder | None) -> tuple[tuple[str, str], ...]:
    """Return the layers that a second look reads, as `CardsAsked` has them."""
    stems = (STEMS, _stems_made_of("<fingerprint>"))
    if encoder is None:
        return (stems,)
    return stems, (VECTORS, _vectors_made_by("<granularity>", encoder))


def _broken(why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"the stems of a document's sentences cannot be read: {why}",
        hint="index the document again, or move the store away",
    )
