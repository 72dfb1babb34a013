"""The shortlist: which documents to open, by the scores of all sources together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.collection.card_table import CardsForQuestion, CollectionCards, Places, ShortlistSource
from abstrag.collection.filters import Filters
from abstrag.collection.results import Standing
from abstrag.collection.vocabulary import Scores
from abstrag.model.query import Query
from abstrag.neural.encoder import TextEncoder, Vectors

# Frozen; docs/collections.md has the ranges tried and the split.
WEIGHTS: Final[Mapping[ShortlistSource, float]] = {
    ShortlistSource.WORDS: 1.0,
    ShortlistSource.TERMS: 0.5,
    ShortlistSource.VECTORS: 2.0,
    ShortlistSource.SENTENCES: 1.5,
    ShortlistSource.COVER: 0.6,
    ShortlistSource.ALIGNMENT: 2.0,
}

LOOKED_AT: Final = 24  # documents of a second look, or as many as are opened; docs/collections.md


@dataclass(frozen=True, slots=True)
class Shortlist:
    """All documents that pass the filters in their order, the first `size` of them chosen.

    Of documents with the same title and text only the first is in it.
    """

    cards: CardsForQuestion
    query: Query
    asked: Vectors | None  # the query's vector
    scores: Mapping[ShortlistSource, Scores]  # nan for documents that a source has not looked at
    prior: Scores
    passed: Places  # the rows no filter refuses
    passing: int  # documents that none does, whether they have a row or not
    order: Places  # of those, best first and without copies or such that score nothing
    size: int

    @classmethod
    def of(
        cls,
        every: CollectionCards,
        text: str,
        *,
        encoder: TextEncoder | None,
        filters: Filters,
        size: int,
        also: tuple[str, ...] = (),
    ) -> Shortlist:
        """Ask the sources and put their answers together.

        Args:
            every: The cards of all documents.
            text: The question.
            encoder: None leaves vectors out.
            filters: Which documents.
            size: How many of them are chosen.
            also: Ids of documents that have a row in any case.
        """
        asked = encoder.embed([text])[0] if encoder is not None else None
        first = max(size, LOOKED_AT)
        card_table = every.ask(text, asked, filters, first=first, also=also)
        query = card_table.query(text)
        scores = card_table.scores(query, asked)
        prior = fused(scores)
        passed, passing = card_table.passing(filters)
        order = without_copies(prior, passed, card_table.texts)
        return cls(card_table, query, asked, scores, prior, passed, passing, order, size)

    def looked_into(self, rows: Places, scores: Mapping[ShortlistSource, Scores]) -> Shortlist:
        """Rescore the first rows with further sources; the others follow in their order.

        Args:
            rows: The first ones of the order.
            scores: What each further source thinks of them.
        """
        had = sum(WEIGHTS[source] for source in self.scores)
        mixed = np.float32(had) * self.prior[rows]
        for source, values in scores.items():
            mixed += np.float32(WEIGHTS[source]) * values
        mixed /= np.float32(had + sum(WEIGHTS[source] for source in scores))
        best = np.argsort(-mixed, kind="stable")
        return replace(
            self,
            scores={**self.scores, **{s: self._with_copies(rows, v) for s, v in scores.items()}},
            prior=self._with_copies(rows, mixed, self.prior),
            order=np.concatenate((rows[best], self.order[len(rows) :])),
        )

    def _with_copies(self, rows: Places, values: Scores, rest: Scores | None = None) -> Scores:
        """Give values to some rows and to those with the same title and text."""
        texts = self.cards.texts
        found = np.full(len(texts), np.nan, np.float32) if rest is None else rest.copy()
        (same,) = np.nonzero(np.isin(texts, texts[rows]))
        by_text = np.argsort(texts[rows])
        places = np.searchsorted(texts[rows], texts[same], sorter=by_text)
        found[same] = values[by_text[places]]
        return found

    @property
    def rows(self) -> list[int]:
        """The rows that are searched, best first."""
        chosen: list[int] = self.order[: self.size].tolist()
        return chosen

    def rank(self, row: int) -> int | None:
        """Return the rank of a row, or of the copy that stands for it."""
        (found,) = np.nonzero(self.cards.texts[self.order] == self.cards.texts[row])
        return int(found[0]) + 1 if len(found) else None

    def copies(self, row: int) -> tuple[str, ...]:
        """Return the other documents with the same title and text that pass the filters."""
        (same,) = np.nonzero(self.cards.texts[self.passed] == self.cards.texts[row])
        return tuple(self.cards.documents[i].id for i in self.passed[same].tolist() if i != row)

    def standings(self, row: int) -> tuple[Standing, ...]:
        """Say where a row stands with each source that looked at it, among those that pass."""
        return tuple(
            Standing(
                source,
                float(scores[row]),
                1 + int(np.count_nonzero(scores[self.passed] > scores[row])),
            )
            for source, scores in self.scores.items()
            if not np.isnan(scores[row])
        )


def without_copies(prior: Scores, passed: Places, texts: npt.NDArray[np.uint64]) -> Places:
    """Return the rows that score anything, best first; of copies only the first."""
    ranked = passed[np.argsort(-prior[passed], kind="stable")]
    ranked = ranked[prior[ranked] > 0]
    _, first = np.unique(texts[ranked], return_index=True)
    return ranked[np.sort(first)]


def fused(
    scores: Mapping[ShortlistSource, Scores], weights: Mapping[ShortlistSource, float] = WEIGHTS
) -> Scores:
    """Return the weighted mean of the sources, in [0, 1]; BM25 is divided by its best.

    It is the best of the whole collection, so that no filter changes a score.
    """
    total = sum(weights[source] for source in scores)
    mixed = np.zeros_like(next(iter(scores.values())))
    for source, values in scores.items():
        top = values.max(initial=0.0) if source is ShortlistSource.WORDS else 1.0
        if top > 0:
            known = np.where(np.isnan(values), np.float32(0), values)
            mixed += np.float32(weights[source] / total) * known / np.float32(top)
    return mixed
