"""What a search over many documents returns."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePath

from abstrag.collection.card_table import ShortlistSource
from abstrag.collection.filters import Filters
from abstrag.model.query import Query
from abstrag.model.ranking import Hit, WhyNot
from abstrag.model.record import Result, record


@record
class Standing:
    """Where a document stands with one source: its score, and its rank among those it looked at."""

    source: ShortlistSource
    score: float
    rank: int


@record
class DocumentScore:
    """A document of the shortlist, and its score by each of the three aggregations."""

    document: str
    title: str
    date: str | None
    source_path: str | None
    also: tuple[str, ...]  # other documents with the same title and text
    rank: int  # in the shortlist
    prior: float  # what the sources together made of it, in [0, 1]
    standings: tuple[Standing, ...]
    score: float  # that documents are ordered by: its own, and what the judge says of its segments
    top_1: float
    top_k_mean: float
    log_sum_exp: float


@record
class CollectionHit(Result):
    """A hit of one document among the hits of all: score = relevance · prior^p."""

    hit: Hit
    title: str
    also: tuple[str, ...]
    prior: float
    score: float


@record
class DocumentFound(Result):
    """A document that is about a query, before any of its segments is ranked."""

    document: str
    title: str
    date: str | None
    file: str | None  # its name alone
    also: tuple[str, ...]  # other documents with the same title and text
    prior: float  # what the sources together make of it, in [0, 1]
    standings: tuple[Standing, ...]


@record
class DocumentHits:
    """The hits of one document among those of all; `ranks` are theirs, 1 for the best."""

    document: str
    title: str
    date: str | None
    file: str | None  # its name alone
    ranks: tuple[int, ...]


@record
class CollectionRanking(Result):
    """The best segments of many documents, best first, and the documents that were searched."""

    query: Query
    tau: float
    preset: str
    filters: Filters
    hits: tuple[CollectionHit, ...]
    documents: tuple[DocumentScore, ...]  # the shortlist, best first
    collection: int  # documents in all
    passed: int  # that no filter refuses
    judgements: int = 0
    judgements_avoided: int = 0

    def by_document(self) -> tuple[DocumentHits, ...]:
        """Group the hits by their documents, the document of the best hit first."""
        ranks: dict[str, list[int]] = {}
        for rank, found in enumerate(self.hits, 1):
            ranks.setdefault(found.hit.document, []).append(rank)
        known = {one.document: one for one in self.documents}
        return tuple(
            DocumentHits(
                document=name,
                title=known[name].title,
                date=known[name].date,
                file=file_name(known[name].source_path),
                ranks=tuple(own),
            )
            for name, own in ranks.items()
        )


def file_name(source_path: str | None) -> str | None:
    """Return what the file of a document is called, without saying where it lies."""
    return None if source_path is None else PurePath(source_path).name


class LostAt(StrEnum):
    """Where a passage of a collection gets lost, in the order in which it can."""

    FOUND = "found"
    NOT_IN_COLLECTION = "not in the collection"
    FILTERED = "left out by a filter"
    NOT_SHORTLISTED = "its document was not shortlisted"
    WITHIN = "lost within its document"
    OUTRANKED = "other documents rank higher"


@record
class CollectionWhyNot(Result):
    """The one first reason why a passage of a collection is not among the first hits."""

    passage: str
    lost: LostAt
    detail: str
    document: str | None = None
    title: str = ""
    rank: int | None = None  # among all hits
    standings: tuple[Standing, ...] = ()
    least: tuple[Standing, ...] = ()  # of the last document that was shortlisted
    within: WhyNot | None = None
