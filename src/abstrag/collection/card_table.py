"""All cards of a collection as one table of flat arrays, which three sources score at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from math import log1p
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from abstrag.collection.card import hashed
from abstrag.collection.cards import Cards
from abstrag.collection.filters import Filters
from abstrag.collection.postings import CollectionPostings, PostingLookup, PostingsWriter
from abstrag.collection.vocabulary import CollectionVocabulary, Scores
from abstrag.files import Arrays, GrowingArray
from abstrag.model.query import Query
from abstrag.neural.encoder import Vectors
from abstrag.search.lexical import words
from abstrag.search.query.normalize import normalize
from abstrag.stores.cards import Codes, QuantizedVectors
from abstrag.stores.protocol import DocumentInfo, LayerKey

K1: Final = 1.5
B: Final = 0.75
_AT_A_TIME: Final = 8192  # vectors compared at once; their numbers take 12 MB as floats

Places = npt.NDArray[np.int64]

_POSTINGS: Final = tuple(each.name for each in fields(CollectionPostings))


@dataclass(frozen=True, slots=True)
class VectorTable:
    """The vectors of all rows; a row is as close to a query as its closest window."""

    codes: Codes
    scales: Scores
    first: npt.NDArray[np.int64]  # window of each row

    @classmethod
    def of(cls, parts: Iterable[QuantizedVectors], *, folder: Path | None = None) -> VectorTable:
        """Put the vectors of rows below one another; `folder` is where temporary files go."""
        codes = GrowingArray(np.int8, folder=folder)
        scales = GrowingArray(np.float32, folder=folder)
        first = GrowingArray(np.int64, folder=folder)
        for part in parts:
            first.add(np.array([len(codes)]))
            codes.add(part.codes)
            scales.add(part.scales)
        return cls(codes.array(), scales.array(), first.array())

    def __call__(self, query: Vectors) -> Scores:
        """Return the cosine of each row with a query, a negative one counted as 0."""
        cosines = np.empty(len(self.codes), np.float32)
        for at in range(0, len(cosines), _AT_A_TIME):
            some = slice(at, at + _AT_A_TIME)
            # row by row: a matrix product would wake threads that cost more than they bring
            cosines[some] = np.einsum("ij,j->i", self.codes[some].astype(np.float32), query)
        cosines *= self.scales
        return np.clip(np.maximum.reduceat(cosines, self.first), 0.0, 1.0)

    @property
    def nbytes(self) -> int:
        """The memory all of it takes."""
        return self.codes.nbytes + self.scales.nbytes + self.first.nbytes


_VECTORS: Final = tuple(each.name for each in fields(VectorTable))


class ShortlistSource(StrEnum):
    """A source of evidence that a document is about a query."""

    WORDS = "words"  # BM25 over title and text
    TERMS = "terms"  # the costed postings
    VECTORS = "vectors"  # the closest window of the document
    SENTENCES = "sentences"  # the closest sentence; on a second look at the best documents only
    COVER = "cover"  # the share of the query's words in one sentence; on the second look, too
    ALIGNMENT = "alignment"  # what that is where words may be met by others; of opened ones only


@dataclass(frozen=True, slots=True)
class CardsForQuestion:
    """Scores documents for a question by their cards; a row is a document.

    These are all documents, or those that have to do with one question.
    """

    documents: Sequence[DocumentInfo]
    texts: npt.NDArray[np.uint64]
    lengths: npt.NDArray[np.uint32]
    stems: PostingLookup
    vocabulary: CollectionVocabulary
    vectors: Callable[[Vectors], Scores] | None  # nan where vectors of a row were not looked at
    size: int  # documents in all
    usual: float  # stems of one, on average
    read: Query | None = None  # the question, where it is the only one
    passed: tuple[Places, int] | None = None  # rows that its filters leave, and how many in all
    layers: Mapping[LayerKey, bytes] | None = None  # of documents, that came along

    def scores(self, query: Query, asked: Vectors | None) -> Mapping[ShortlistSource, Scores]:
        """Return the score of every document by each source; without vectors there are two.

        Args:
            query: As `query` has read it.
            asked: Its vector, where there is an encoder.
        """
        found = {
            ShortlistSource.WORDS: self.bm25(query.text),
            ShortlistSource.TERMS: self.vocabulary.scores(query),
        }
        if asked is not None and self.vectors is not None:
            found[ShortlistSource.VECTORS] = self.vectors(asked)
        return found

    def bm25(self, text: str) -> Scores:
        """Return BM25 of every document, with the idf of the collection."""
        found = np.zeros(len(self.documents), np.float32)
        for stem in words(text):
            rows, counts = self.stems.column(hashed(stem))
            often = counts.astype(np.float32)
            room = K1 * (1 - B + B * self.lengths[rows].astype(np.float32) / np.float32(self.usual))
            found[rows] += (
                np.float32(self.idf(len(rows))) * often / (often + room.astype(np.float32))
            )
        return found

    def idf(self, holders: int) -> float:
        """Return the inverse document frequency of a stem that so many documents hold."""
        return log1p((self.size - holders + 0.5) / (holders + 0.5))

    def query(self, text: str) -> Query:
        """Read a query with the whole collection's vocabulary."""
        return self.read if self.read is not None else normalize(text, self.vocabulary)

    def passing(self, filters: Filters) -> tuple[Places, int]:
        """Return the rows that no filter refuses, and how many documents pass in all."""
        if self.passed is not None:
            return self.passed
        rows = [
            i
            for i, info in enumerate(self.documents)
            if not filters.any or filters.refuses(info) is None
        ]
        return np.array(rows, np.int64), len(rows)

    def holders(self, stem: int) -> int:
        """Return how many documents hold a stem, by its hash."""
        return len(self.stems.column(stem)[0])

    def row(self, document: str) -> int:
        """Return the row of a document, by its id."""
        return next(i for i, info in enumerate(self.documents) if info.id == document)


class CollectionCards(Protocol):
    """The cards of all documents, in memory or on a server."""

    @property
    def size(self) -> int:
        """How many documents there are."""
        ...

    def ask(
        self,
        text: str,
        asked: Vectors | None,
        filters: Filters,
        *,
        first: int,
        also: tuple[str, ...] = (),
    ) -> CardsForQuestion:
        """Return what a question needs.

        Args:
            text: The question.
            asked: Its vector, where there is an encoder.
            filters: Which documents may be chosen.
            first: How many of them have to be the right ones.
            also: Ids of documents that have a row in any case.
        """
        ...

    def ask_words(self, text: str) -> CardsForQuestion:
        """Return what BM25 needs of a text."""
        ...

    def any_passes(self, filters: Filters) -> bool:
        """Tell whether filters leave any document."""
        ...


@dataclass(frozen=True, slots=True)
class CardTable(CardsForQuestion):
    """The cards of all documents as arrays, in memory or mapped from a file."""

    documents: tuple[DocumentInfo, ...]
    stems: CollectionPostings
    vectors: VectorTable | None

    @classmethod
    def of(cls, cards: Cards, *, folder: Path | None = None) -> CardTable:
        """Turn cards into arrays, reading one card after the other.

        Args:
            cards: Of a collection.
            folder: Where temporary files go; None for where they usually do.
        """
        texts = GrowingArray(np.uint64, folder=folder)
        lengths = GrowingArray(np.uint32, folder=folder)
        stems, terms = PostingsWriter(folder=folder), PostingsWriter(folder=folder)
        times: dict[str, None] = {}

        def coded() -> Iterator[QuantizedVectors]:
            for card, vectors in cards.parts:
                texts.add(np.array([card.text], np.uint64))
                lengths.add(np.array([card.length], np.uint32))
                stems.add(card.stems, card.counts)
                terms.add(card.terms, card.costs)
                times.update(dict.fromkeys(card.times))
                if vectors is not None:
                    yield vectors

        table = VectorTable.of(coded(), folder=folder)
        sizes = lengths.array()
        return cls(
            documents=cards.documents,
            texts=texts.array(),
            lengths=sizes,
            stems=stems.postings(),
            vocabulary=CollectionVocabulary(len(texts), terms.postings(), tuple(times)),
            vectors=table if len(table.first) else None,
            size=len(texts),
            usual=_usual(sizes),
        )

    @classmethod
    def from_arrays(cls, documents: tuple[DocumentInfo, ...], arrays: Arrays) -> CardTable:
        """Put a card table together again from the arrays it was taken apart into.

        Raises:
            ValueError: They are not those of a card table of so many documents.
        """
        try:
            stems, terms = (
                CollectionPostings(*(arrays[f"{kind} {name}"] for name in _POSTINGS))
                for kind in ("stems", "terms")
            )
            texts, lengths = arrays["texts"], arrays["lengths"]
            times = arrays["times"].tobytes().decode()
            held = [arrays[name] for name in _VECTORS if name in arrays]
        except KeyError as error:
            raise ValueError(f"there is no array {error}") from error
        if len(texts) != len(documents):
            raise ValueError(f"{len(texts)} documents, not {len(documents)}")
        return cls(
            documents,
            texts,
            lengths,
            stems,
            CollectionVocabulary(len(documents), terms, tuple(times.split("\n")[:-1])),
            VectorTable(*held) if held else None,
            len(documents),
            _usual(lengths),
        )

    @property
    def arrays(self) -> Arrays:
        """Everything but the documents' own records, by name."""
        terms, times = self.vocabulary.postings, self.vocabulary.times
        lines = "".join(f"{term}\n" for term in times).encode()
        found: dict[str, npt.NDArray[Any]] = {"texts": self.texts, "lengths": self.lengths}
        found["times"] = np.frombuffer(lines, np.uint8)
        for kind, postings in (("stems", self.stems), ("terms", terms)):
            found |= {f"{kind} {name}": getattr(postings, name) for name in _POSTINGS}
        if self.vectors is not None:
            found |= {name: getattr(self.vectors, name) for name in _VECTORS}
        return found

    @property
    def nbytes(self) -> int:
        """The memory the arrays take; the documents' own records come on top."""
        return sum(array.nbytes for array in self.arrays.values())

    def ask(
        self,
        text: str,
        asked: Vectors | None,
        filters: Filters,
        *,
        first: int,
        also: tuple[str, ...] = (),
    ) -> CardsForQuestion:
        """Return this table, which answers any question."""
        del text, asked, filters, first, also
        return self

    def ask_words(self, text: str) -> CardsForQuestion:
        """Return this table, which has what BM25 needs."""
        del text
        return self

    def any_passes(self, filters: Filters) -> bool:
        """Tell whether filters leave any document."""
        return any(filters.refuses(info) is None for info in self.documents)


def _usual(lengths: npt.NDArray[np.uint32]) -> float:
    return max(float(lengths.mean()), 1.0) if len(lengths) else 1.0
