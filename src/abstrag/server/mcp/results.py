"""What tools return: exact quotes with their places, and why they count, in few words.

An agent pays for every token it reads, so a hit is told in its quote, its place, its reading, its
numbers and its steps; `explain` has the literals. Numbers are those of the hit, unrounded.
"""

from __future__ import annotations

from collections.abc import Iterable

from abstrag.collection.listing import ListedDocument
from abstrag.collection.results import (
    CollectionRanking,
    CollectionWhyNot,
    DocumentFound,
    DocumentHits,
)
from abstrag.model.query import Bridge
from abstrag.model.ranking import Hit, Ranking, SupportSet, WhyNot
from abstrag.model.record import record
from abstrag.model.span import Span


@record
class Listing:
    """Documents of the store, and how many there are in all that pass the filters."""

    documents: tuple[ListedDocument, ...]
    total: int


@record
class AboutIt:
    """A document that is about a query; `prior` in [0, 1] is what it was found by, `why` how."""

    document: str
    title: str
    date: str | None
    file: str | None
    prior: float
    why: str


@record
class DocumentsFound:
    """Documents that are about a query, best first."""

    query: str
    documents: tuple[AboutIt, ...]


@record
class ResultStep:
    """One assumption put to use, and what it costs; 0 is a premise that text or Background state.

    `licence` says what justifies it.
    """

    family: str
    source: str
    target: str
    cost: float
    licence: str | None


@record
class FoundSegment:
    """A segment: `quote` is exactly what stands at `span`, `reading` says why it is evidence.

    `relevance` is made of `match`, `utility` and `gap`; `judgement` is how probably the judge takes
    the segment for evidence, where it was asked.
    """

    segment: str
    quote: str
    text: str
    page: int | None
    span: Span
    section: tuple[str, ...]
    relevance: float
    match: float
    utility: float
    gap: float
    judgement: float | None
    reachable: bool
    reading: str
    steps: tuple[ResultStep, ...]
    unmet: tuple[str, ...]
    headers: tuple[str, ...] = ()  # of a table's row or cell: they count as said by it
    cell: str | None = None  # the address in its sheet: B7, A7:D7
    doubt: str = ""  # words of a scan that were hard to read


@record
class SearchResult:
    """The evidence for a question, best first, and the preset and budget it was ranked under."""

    document: str
    query: str
    preset: str
    tau: float
    hits: tuple[FoundSegment, ...]
    segments: int
    notice: str = ""  # why words and vectors alone, or more parts than asked, were looked at


@record
class SetResult:
    """Places that together answer a question; `joined_by` says why each joined those before it."""

    query: str
    hits: tuple[FoundSegment, ...]
    joined_by: tuple[str, ...]
    unmet: tuple[str, ...]  # what none of them meets


@record
class FoundInDocument:
    """A segment among those of all documents, and the document it stands in.

    `score` is the segment's relevance times what the document itself counts for.
    """

    document: str
    title: str
    score: float
    found: FoundSegment


@record
class CollectionResult:
    """The evidence for a question in all documents, best first.

    `by_document` groups the hits: `ranks` count from 1.
    """

    query: str
    hits: tuple[FoundInDocument, ...]
    documents: int  # that passed the filters
    preset: str
    tau: float
    by_document: tuple[DocumentHits, ...]


@record
class Factors:
    """The three factors of relevance, and each literal with the cost at which it is met."""

    found: FoundSegment
    match: float
    utility: float
    literals: tuple[LiteralTold, ...]


@record
class LiteralTold:
    """What the query asks for, and how the segment meets it."""

    label: str
    kind: str
    weight: float
    met: bool
    cost: float | None
    via: str | None
    steps: tuple[ResultStep, ...]


@record
class Missed:
    """Why a passage is not found: the one first cause, and the least change that would lift it."""

    passage: str
    cause: str
    detail: str
    segment: str | None
    rank: int | None
    would_help: str | None
    document: str | None = None


@record
class Indexed:
    """What became of a file."""

    document: str
    status: str
    segments: int


def found(hit: Hit) -> FoundSegment:
    """Return a hit in few words."""
    return FoundSegment(
        segment=hit.segment,
        quote=hit.quote,
        text=hit.text,
        page=hit.page,
        span=hit.span,
        section=hit.section,
        relevance=hit.relevance,
        match=hit.match,
        utility=hit.utility,
        gap=hit.gap,
        judgement=hit.judgement,
        reachable=hit.trace.reachable,
        reading=hit.reading,
        steps=_steps(tuple(b for one in hit.trace.literals if one.met for b in one.bridges)),
        unmet=tuple(one.literal.label for one in hit.trace.literals if not one.met),
        headers=hit.headers,
        cell=hit.cell,
        doubt=hit.doubt,
    )


def search_result(ranking: Ranking) -> SearchResult:
    """Return a ranking in few words."""
    return SearchResult(
        document=ranking.document,
        query=ranking.query.text,
        preset=ranking.preset,
        tau=ranking.tau,
        hits=tuple(found(hit) for hit in ranking.hits),
        segments=ranking.segments,
        notice=ranking.query.notice or ranking.query.widened,
    )


def set_result(query: str, together: SupportSet) -> SetResult:
    """Return hits that belong together in few words."""
    hits = tuple(found(hit) for hit in together.hits)
    return SetResult(query, hits, together.joined_by, together.unmet)


def collection_result(ranking: CollectionRanking) -> CollectionResult:
    """Return a ranking of many documents in few words."""
    hits = tuple(
        FoundInDocument(one.hit.document, one.title, one.score, found(one.hit))
        for one in ranking.hits
    )
    query = ranking.query.text
    return CollectionResult(
        query, hits, ranking.passed, ranking.preset, ranking.tau, ranking.by_document()
    )


def documents_found(query: str, some: Iterable[DocumentFound]) -> DocumentsFound:
    """Return documents that were found by content, in few words."""
    return DocumentsFound(
        query,
        tuple(
            AboutIt(
                one.document,
                one.title,
                one.date,
                one.file,
                one.prior,
                ", ".join(f"{s.source.value} {s.score:.2f} (rank {s.rank})" for s in one.standings),
            )
            for one in some
        ),
    )


def factors(hit: Hit) -> Factors:
    """Return a hit with everything its score is made of."""
    literals = tuple(
        LiteralTold(
            label=one.literal.label,
            kind=one.literal.kind.value,
            weight=one.literal.weight,
            met=one.met,
            cost=one.distance,
            via=one.via,
            steps=_steps(one.bridges),
        )
        for one in hit.trace.literals
    )
    return Factors(found(hit), hit.match, hit.utility, literals)


def missed(answer: WhyNot) -> Missed:
    """Return why a passage was not found, in few words."""
    change = answer.counterfactual
    helps = None
    if change is not None:
        helps = f"{change.description} would move it to rank {change.rank_after}"
    return Missed(
        answer.passage, answer.cause.value, answer.detail, answer.segment, answer.rank, helps
    )


def missed_in_all(answer: CollectionWhyNot) -> Missed:
    """Return why a passage of a collection was not found, in few words."""
    within = missed(answer.within) if answer.within is not None else None
    return Missed(
        answer.passage,
        answer.lost.value,
        answer.detail,
        None if within is None else within.segment,
        answer.rank,
        None if within is None else within.would_help,
        answer.document,
    )


def _steps(bridges: tuple[Bridge, ...]) -> tuple[ResultStep, ...]:
    return tuple(
        ResultStep(
            bridge.family.value,
            bridge.source,
            bridge.target,
            bridge.cost,
            None if bridge.licence is None else _licence(bridge),
        )
        for bridge in dict.fromkeys(bridges)
    )


def _licence(bridge: Bridge) -> str:
    assert bridge.licence is not None
    return f"{bridge.licence.kind.value}: {' '.join(bridge.licence.reference.split())}"
