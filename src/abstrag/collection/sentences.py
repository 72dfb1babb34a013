"""The sentences of a document, as a second look at it reads them: their stems and their vectors.

Both lie beside the card in layers of their own and are read for a few documents of a query only. A
sentence stands here for a segment, whatever the document was cut into.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.collection.card import Hashes, hashed
from abstrag.collection.vectors import Coded
from abstrag.errors import StoreCorrupt
from abstrag.model.index import DocumentIndex
from abstrag.neural.encoder import TextEncoder
from abstrag.neural.passage import passage
from abstrag.search.lexical import words
from abstrag.stores.protocol import DocumentInfo, LayerKey, Store
from abstrag.stores.spare import keep_layer

STEMS: Final = "sentence stems"
VECTORS: Final = "sentence vectors"
VERSION: Final = 1  # of what the two layers hold
MOST: Final = 2000  # sentences of a document: the first ones, a hundred pages or so
_HEAD: Final = struct.Struct("<II")

Worth = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SentenceStems:
    """The stems of the title, and of every sentence those the title has not; each once."""

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
        """Return what the title and the best single sentence hold together of some stems' worth.

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
    vectors: Coded | None  # None without an encoder


def sentences(index: DocumentIndex) -> list[str]:
    """Return the first sentences of a document, each after the headers of its table."""
    return [
        passage(segment.text, headers=[header.text for header in segment.headers])
        for segment in index.segments[:MOST]
    ]


def embedded(
    texts: Mapping[str, Sequence[str]], encoder: TextEncoder
) -> Iterator[tuple[str, Coded]]:
    """Embed the texts of several contents in one go."""
    if not texts:
        return
    rows = Coded.of(encoder.embed([text for some in texts.values() for text in some]))
    at = 0
    for content, some in texts.items():
        part = slice(at, at + len(some))
        yield content, Coded(rows.codes[part], rows.scales[part])
        at += len(some)


@dataclass(frozen=True, slots=True)
class SentenceShelf:
    """The sentences of a store's documents; what is missing is made and kept."""

    store: Store
    encoder: TextEncoder | None

    def read(self, documents: Sequence[DocumentInfo]) -> list[Sentences]:
        """Return the sentences of some documents, in their order and with one round trip.

        Those that lack something, after an upgrade say, are read and completed one by one.
        """
        keys = [_stem_key(info) for info in documents]
        keys += [self._vector_key(info) for info in documents] if self.encoder else []
        kept = self.store.get_layers(keys)
        return [self._sentences(info, kept) for info in documents]

    def _sentences(self, info: DocumentInfo, kept: Mapping[LayerKey, bytes]) -> Sentences:
        stems, vectors = kept.get(_stem_key(info)), None
        if self.encoder is not None:
            data = kept.get(self._vector_key(info))
            vectors = Coded.from_bytes(data) if data is not None else self._vectors(info)
        if stems is None:
            return Sentences(self.keep_stems(info, self.store.get(info.id)), vectors)
        return Sentences(SentenceStems.from_bytes(stems), vectors)

    def _vectors(self, info: DocumentInfo) -> Coded:
        ((key, data),) = self.vector_layers({info: self.store.get(info.id)}).items()
        keep_layer(self.store, *key, data)
        return Coded.from_bytes(data)

    def keep_stems(self, info: DocumentInfo, index: DocumentIndex) -> SentenceStems:
        """Make and keep the stems of a document's sentences."""
        ((key, data),) = self.stem_layer(info, index).items()
        keep_layer(self.store, *key, data)
        return SentenceStems.from_bytes(data)

    def stem_layer(self, info: DocumentInfo, index: DocumentIndex) -> dict[LayerKey, bytes]:
        """Make the stems of a document's sentences."""
        return {_stem_key(info): SentenceStems.of(index).to_bytes()}

    def vector_layers(self, indexes: Mapping[DocumentInfo, DocumentIndex]) -> dict[LayerKey, bytes]:
        """Make the vectors of several documents' sentences, in one go."""
        assert self.encoder is not None
        # one that has no sentence is known by its title
        texts = {info.id: sentences(i) or [i.document.title] for info, i in indexes.items()}
        made = dict(embedded(texts, self.encoder))
        return {self._vector_key(info): made[info.id].to_bytes() for info in indexes}

    def _vector_key(self, info: DocumentInfo) -> LayerKey:
        assert self.encoder is not None
        made_by = f"{VERSION} {info.granularity} {self.encoder.fingerprint}"
        return info.content_hash, VECTORS, made_by


def _stem_key(info: DocumentInfo) -> LayerKey:
    return info.content_hash, STEMS, f"{VERSION} {info.fingerprint}"


def _broken(why: str) -> StoreCorrupt:
    return StoreCorrupt(
        f"the stems of a document's sentences cannot be read: {why}",
        hint="index the document again, or move the store away",
    )
