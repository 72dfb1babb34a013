"""Why not, across documents: at which stage a passage is lost.

It may stand in no document, or in one that a filter leaves out, or that is not on the shortlist, or
that is and ranks something else; and when its own document ranks it well, others may still be
ahead. Everything is read off the same shortlist and the same joint ranking.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from abstrag.collection.card_table import ShortlistSource
from abstrag.collection.filters import Filters
from abstrag.collection.results import CollectionWhyNot, LostAt, Standing
from abstrag.collection.searcher import CollectionSearcher
from abstrag.collection.shortlist import Shortlist
from abstrag.config import TAU
from abstrag.engine.searcher import DEFAULT_K
from abstrag.errors import InputError
from abstrag.language.words import key
from abstrag.model.ranking import Cause, WhyNot
from abstrag.stores.protocol import DocumentInfo

_LOOKED_INTO: Final = 10  # documents whose words are most like the passage's
_CALLED: Final = {
    ShortlistSource.WORDS: "BM25 ranks",
    ShortlistSource.TERMS: "the costed postings rank",
    ShortlistSource.VECTORS: "embeddings rank",
    ShortlistSource.SENTENCES: "its closest sentence ranks",
    ShortlistSource.COVER: "the share of the query's words that one sentence holds ranks",
}


@dataclass(frozen=True, slots=True)
class SoughtPassage:
    """What is looked for: words, or a segment of a document."""

    text: str | None = None
    segment: str | None = None
    document: str | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.segment is None):
            raise InputError(
                "why-not needs either the words of a passage or a segment id",
                hint='--text "…", or --document ID --span s12',
            )
        if self.segment is not None and self.document is None:
            raise InputError(
                f"many documents have a segment {self.segment!r}",
                hint="name one with --document ID",
            )

    @property
    def name(self) -> str:
        """The words, or else the id of the segment."""
        return self.text or self.segment or ""


def why_not(
    searcher: CollectionSearcher,
    query: str,
    passage: SoughtPassage,
    *,
    k: int = DEFAULT_K,
    tau: float = TAU,
    filters: Filters | None = None,
) -> CollectionWhyNot:
    """Say the one first reason why a passage is not among the first k hits of a collection."""
    filters = filters or Filters()
    info = _document_of(searcher, passage)
    if info is None:
        return CollectionWhyNot(
            passage.name, LostAt.NOT_IN_COLLECTION, "no document contains these words"
        )
    named = CollectionWhyNot(passage.name, LostAt.FOUND, "", info.id, info.title)
    refused = filters.refuses(info)
    if refused is not None:
        return replace(named, lost=LostAt.FILTERED, detail=refused)
    shortlist = searcher.shortlist(query, filters=filters, also=(info.id,))
    row = shortlist.cards.row(info.id)
    named = replace(named, standings=shortlist.standings(row))
    rank = shortlist.rank(row)
    if rank is None or rank > shortlist.size:
        return _not_shortlisted(named, shortlist, rank)
    return _within(searcher, query, passage, named, shortlist, info, k=k, tau=tau)


def _document_of(searcher: CollectionSearcher, passage: SoughtPassage) -> DocumentInfo | None:
    """Find the document: the one that is named, or the first whose text has the words."""
    if passage.document is not None:
        return searcher.store.find(passage.document)
    asked = key(passage.text or "")
    card_table = searcher.cards.ask_words(passage.text or "")
    scores = card_table.bm25(passage.text or "")
    likely: list[int] = np.argsort(-scores, kind="stable")[:_LOOKED_INTO].tolist()
    for row in likely:
        info = card_table.documents[row]
        if asked and asked in key(searcher.open(info).index.document.text):
            return info
    return None


def _not_shortlisted(
    named: CollectionWhyNot, shortlist: Shortlist, rank: int | None
) -> CollectionWhyNot:
    """Explain how each source ranks the document, and what the last chosen document scores."""
    if rank is None:
        detail = "no source finds anything of the query in it"
        return replace(named, lost=LostAt.NOT_SHORTLISTED, detail=detail)
    last = int(shortlist.order[shortlist.size - 1])
    least = shortlist.standings(last)
    opened = "1 is opened" if shortlist.size == 1 else f"{shortlist.size} are opened"
    where = f"it ranks {rank} of {len(shortlist.order)} documents and {opened}"
    theirs = {each.source: each for each in least}
    compared = [_compared(mine, theirs[mine.source]) for mine in named.standings]
    if len(compared) < len(least):
        compared.append("it is too far behind for its sentences to be looked at")
    detail = f"{where}: {'; '.join(compared)}"
    return replace(named, lost=LostAt.NOT_SHORTLISTED, detail=detail, least=least)


def _compared(mine: Standing, theirs: Standing) -> str:
    return (
        f"{_CALLED[mine.source]} it {mine.rank} with {mine.score:.2f}, "
        f"the last one opened has {theirs.score:.2f}"
    )


def _within(
    searcher: CollectionSearcher,
    query: str,
    passage: SoughtPassage,
    named: CollectionWhyNot,
    shortlist: Shortlist,
    info: DocumentInfo,
    *,
    k: int,
    tau: float,
) -> CollectionWhyNot:
    """Explain what happened to a passage whose document was opened."""
    inner = searcher.open(info).why_not(
        query, passage=passage.text, segment=passage.segment, k=k, tau=tau
    )
    rank = _rank(searcher, query, shortlist, inner, info.id, k=k, tau=tau)
    named = replace(named, rank=rank, within=inner, passage=inner.passage)
    if rank is not None and rank <= k:
        return replace(named, detail=f"it is found, at rank {rank} of all hits")
    if inner.cause is not Cause.FOUND:
        return replace(named, lost=LostAt.WITHIN, detail=inner.detail)
    place = "not ranked" if rank is None else f"at rank {rank}"
    detail = (
        f"its document ranks it {inner.rank}, but among the hits of all documents it is {place}"
    )
    return replace(named, lost=LostAt.OUTRANKED, detail=detail)


def _rank(
    searcher: CollectionSearcher,
    query: str,
    shortlist: Shortlist,
    inner: WhyNot,
    document: str,
    *,
    k: int,
    tau: float,
) -> int | None:
    """Return the rank of a segment among the hits of all documents."""
    if inner.segment is None:
        return None
    found = searcher.match(query, shortlist, tau=tau)
    found.joint.judge(k)
    for rank, (row, _) in enumerate(found.joint.order(), 1):
        owner, position = found.joint.position(row)
        laid = found.joint.shares[owner].scoring.document
        same = found.stands_for(owner, document)
        if same and laid.records[position].segment.id == inner.segment:
            return rank
    return None
