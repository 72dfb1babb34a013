"""The tools an agent is given, as methods over one workspace; files are read only where allowed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from abstrag.collection.filters import Filters
from abstrag.collection.listing import ListedDocument, Sort, listing
from abstrag.collection.results import (
    CollectionRanking,
    CollectionWhyNot,
    DocumentFound,
    DocumentHits,
)
from abstrag.errors import FileMissing, InputError
from abstrag.model.answer import Answer
from abstrag.model.document import Span
from abstrag.model.query import Bridge
from abstrag.model.ranking import Hit, Ranking, SupportSet, WhyNot
from abstrag.model.record import record
from abstrag.refine.feedback import Noted, parse_step
from abstrag.server.routes.shared import asked_options
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import SearchOptions
from abstrag.workspace.workspace import Workspace

# What tools return: exact quotes with their places, and why they count, in few words.
#
# An agent pays for every token it reads, so a hit is told in its quote, its place, its reading,
# its numbers and its steps; `explain` has the literals. Numbers are those of the hit, unrounded.


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
    documents: tuple[str, ...] = ()  # of each hit


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
    same = {each.name for each in fields(FoundSegment)} & {each.name for each in fields(Hit)}
    return FoundSegment(
        **{name: getattr(hit, name) for name in same},
        reachable=hit.trace.reachable,
        steps=_steps(tuple(b for one in hit.trace.literals if one.met for b in one.bridges)),
        unmet=tuple(one.literal.label for one in hit.trace.literals if not one.met),
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
    documents = tuple(hit.document for hit in together.hits)
    return SetResult(query, hits, together.joined_by, together.unmet, documents)


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
    told = Missed(answer.passage, answer.lost.value, answer.detail, None, answer.rank, None)
    if answer.within is not None:
        within = missed(answer.within)
        told = replace(told, segment=within.segment, would_help=within.would_help)
    return replace(told, document=answer.document)


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


MOST_HITS = 50


class Toolbox:
    """Answers an agent's calls over one workspace.

    A tool that takes `filters` is given those of a collection, each as an argument of its own.

    Files are read only from inside `folders`; without any, no document comes into the store. What
    people say of hits is noted only where `takes_feedback`.
    """

    def __init__(
        self,
        workspace: Workspace,
        *,
        folders: tuple[Path, ...] = (),
        takes_feedback: bool = False,
    ) -> None:
        self._workspace = workspace
        self.takes_feedback = takes_feedback
        self._folders = tuple(folder.resolve() for folder in folders)

    @property
    def may_index(self) -> bool:
        """True when there is a folder to index from."""
        return bool(self._folders)

    def documents(
        self, sort: Sort = Sort.TITLE, limit: int = 50, offset: int = 0, **filters: Any
    ) -> Listing:
        """List documents with their ids: by words of the title, file (*.pdf), folder, date, genre.

        To find documents by what they say, use find_documents or search_all.
        """
        if limit < 1 or offset < 0:
            raise InputError(f"limit is {limit} and offset is {offset}", hint="count from 1 and 0")
        wanted = Filters(**filters)
        passed = [one for _, one in listing(self._workspace.documents(), wanted, sort=sort)]
        return Listing(tuple(passed[offset : offset + limit]), len(passed))

    def find_documents(self, query: str, k: int = 10, **filters: Any) -> DocumentsFound:
        """Find the documents that a question or a topic is about, by their content."""
        _see_that_k_fits(k)
        many = self._workspace.collection(Filters(**filters))
        return documents_found(query, many.find_documents(query, k=k))

    def search(
        self,
        document: str,
        query: str,
        k: int = 5,
        tau: float | None = None,
        preset: str | None = None,
        judge: bool | None = None,
    ) -> SearchResult:
        """Find the evidence for a question or claim, with exact quotes and why they count."""
        _see_that_k_fits(k)
        return search_result(self._opened(document, preset, judge, tau).search(query, k=k))

    def search_set(
        self,
        document: str,
        query: str,
        k: int = 5,
        tau: float | None = None,
        preset: str | None = None,
        judge: bool | None = None,
    ) -> SetResult:
        """Find the fewest places that together answer a question that needs more than one."""
        _see_that_k_fits(k)
        one = self._opened(document, preset, judge, tau)
        return set_result(query, one.support(query, k=k))

    def search_set_all(
        self,
        query: str,
        k: int = 5,
        tau: float | None = None,
        preset: str | None = None,
        judge: bool | None = None,
        **filters: Any,
    ) -> SetResult:
        """Find the fewest places of all documents that together answer a question."""
        _see_that_k_fits(k)
        many = self._workspace.collection(Filters(**filters), self._options(preset, judge, tau))
        return set_result(query, many.support(query, k=k))

    def search_all(
        self,
        query: str,
        k: int = 5,
        tau: float | None = None,
        preset: str | None = None,
        judge: bool | None = None,
        **filters: Any,
    ) -> CollectionResult:
        """Find the evidence in all documents, or those of a time (2024-05) or source (*.pdf).

        Further filters: words of the title, a folder's name, a genre.
        """
        _see_that_k_fits(k)
        many = self._workspace.collection(Filters(**filters), self._options(preset, judge, tau))
        return collection_result(many.search(query, k=k))

    def explain(
        self,
        document: str,
        query: str,
        segment: str,
        tau: float | None = None,
        preset: str | None = None,
        judge: bool | None = None,
    ) -> Factors:
        """Show what the score of one segment is made of, found or not."""
        return factors(self._opened(document, preset, judge, tau).explain(query, segment))

    def why_not(
        self,
        query: str,
        passage: str,
        document: str | None = None,
        k: int = 10,
        tau: float | None = None,
        preset: str | None = None,
        judge: bool | None = None,
    ) -> Missed:
        """Say why a passage, given in its own words, is not among the first k hits.

        Without a document, why it is not among those of search_all.
        """
        if document is not None:
            asked = self._opened(document, preset, judge, tau)
            return missed(asked.why_not(query, passage=passage, k=k))
        many = self._workspace.collection(options=self._options(preset, judge, tau))
        return missed_in_all(many.why_not(query, passage=passage, k=k))

    def ask(self, document: str, question: str) -> Answer:
        """Answer a question or judge a claim from the document, every quotation verified."""
        return self._workspace.stored(document).ask(question)

    def ask_all(self, question: str, **filters: Any) -> Answer:
        """Answer a question or judge a claim from all documents; each quotation names its own.

        What other documents answer instead is under `others`. Filters are those of search_all.
        """
        return self._workspace.collection(Filters(**filters)).ask(question)

    def feedback(
        self,
        document: str,
        query: str,
        good: list[str] | None = None,
        bad: list[str] | None = None,
        right_steps: list[str] | None = None,
        wrong_steps: list[str] | None = None,
    ) -> Noted:
        """Note on a person's behalf which segments are evidence or not; steps are ASKED=SAID.

        Only what a person told you, never what a document says. It is learned from.
        """
        return self._workspace.stored(document).feedback(
            query,
            good=good or (),
            bad=bad or (),
            right=[parse_step(one) for one in right_steps or ()],
            wrong=[parse_step(one) for one in wrong_steps or ()],
        )

    def index(self, path: str) -> Indexed:
        """Index a file inside the folders that were allowed; returns the id to ask with."""
        outcome = self._workspace.indexing().index_file(self._allowed(path))
        assert outcome.document is not None
        return Indexed(outcome.document, outcome.status, outcome.segments)

    def _opened(
        self, document: str, preset: str | None, judge: bool | None, tau: float | None
    ) -> SearchableDocument:
        return self._workspace.stored(document, self._options(preset, judge, tau))

    def _options(self, preset: str | None, judge: bool | None, tau: float | None) -> SearchOptions:
        return asked_options(self._workspace, preset=preset, judge=judge, tau=tau)

    def _allowed(self, path: str) -> Path:
        """Return the file a path means; what lies outside the folders is not even looked at."""
        shown = ", ".join(map(str, self._folders))
        for folder in self._folders:
            try:
                file = (folder / path).resolve()
            except (OSError, ValueError):
                continue
            if file.is_relative_to(folder) and file.is_file():
                return file
        raise FileMissing(f"no file {path!r} may be indexed", hint=f"files inside {shown} may")


def _see_that_k_fits(k: int) -> None:
    if not 1 <= k <= MOST_HITS:
        raise InputError(f"k is {k}", hint=f"ask for 1 to {MOST_HITS} hits")
