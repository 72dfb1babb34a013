"""One document, opened: everything that can be asked of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Final

from abstrag.config import TAU_MAX
from abstrag.engine.searcher import DEFAULT_K, Searcher
from abstrag.errors import InputError
from abstrag.model.cost import LOWER_IS_BETTER, told_sum
from abstrag.model.html import curve_html
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Bridge, Clause, Query
from abstrag.model.ranking import BudgetCurve, Hit, LiteralTrace, Ranking, SupportSet, WhyNot
from abstrag.model.record import record
from abstrag.model.term import AbstractionMap
from abstrag.refine.sufficiency import LOOKED_AT, sufficiency
from abstrag.search.relevance import Preset, cost_parts
from abstrag.telemetry import span
from abstrag.workspace.options import SearchOptions

if TYPE_CHECKING:
    from abstrag.answers.generator import Generator
    from abstrag.answers.verdicts import Verdicts
    from abstrag.collection.map import CollectionMap
    from abstrag.collection.results import CollectionRanking, CollectionWhyNot
    from abstrag.model.answer import Answer, Asked
    from abstrag.refine.feedback import Episode, Noted, SaidStep
    from abstrag.refine.outcome import Refinement, Run
    from abstrag.refine.patch_log import PatchInForce
    from abstrag.workspace.refining import RefineOptions
    from abstrag.workspace.workspace import Workspace

# A report to send to a colleague: one HTML file that needs nothing else and runs nothing.
#
# Everything that comes from a document or a query is escaped, and the file forbids itself
# scripts, pictures and addresses from elsewhere.

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


@record
class ReportSection:
    """One question of a report: what was found for it, and at which budgets."""

    ranking: Ranking
    curve: BudgetCurve
    preset: Preset


def sections_of(
    searcher: Searcher, queries: Sequence[str], *, k: int, tau: float
) -> tuple[ReportSection, ...]:
    """Ask everything a report is about."""
    return tuple(
        ReportSection(searcher.search(query, k=k, tau=tau), searcher.budget(query), searcher.preset)
        for query in queries
    )


def report(
    title: str,
    sections: Iterable[ReportSection],
    *,
    labels: dict[str, str],
    source: str = "",
    made: str = "",
) -> str:
    """Write a report as HTML; `labels` say how terms are called, `made` when and with what."""
    body = "".join(_section(one, labels) for one in sections)
    name = escape(title)
    style = files("abstrag.workspace").joinpath("report.css").read_text("utf-8")
    from_where = f"<p class='place'>{escape(source)}</p>" if source else ""
    return (
        "<!doctype html>\n<html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>Evidence in {name}</title><style>\n{style}</style></head>"
        f"<body><header><h1>{name}</h1>{from_where}</header><main>{body}</main>"
        f"<footer>{escape(made)}</footer></body></html>\n"
    )


def _section(section: ReportSection, labels: dict[str, str]) -> str:
    ranking = section.ranking
    hits = "".join(
        _hit(rank, hit, labels, section.preset) for rank, hit in enumerate(ranking.hits, 1)
    )
    nothing = "<p>Nothing in the document meets any part of this.</p>"
    return (
        f"<section><h2>{escape(ranking.query.text)}</h2>{_asked(ranking.query)}"
        f"<p class='place'>{ranking.touched} of {ranking.segments} segments hold something of it; "
        f"budget τ {ranking.tau:g} of {TAU_MAX:g}, preset {escape(ranking.preset)}; "
        f"{LOWER_IS_BETTER}</p>"
        f"{hits or nothing}<details><summary>What each budget reaches</summary>"
        f"{curve_html(section.curve)}</details></section>"
    )


def _asked(query: Query) -> str:
    literals = "; ".join(
        f"{one.kind.value} <b>{escape(one.label)}</b>{' (negated)' if one.negated else ''} "
        f"{one.weight:.2f}"
        for one in query.literals
    )
    return f"<p class='asked'>asks for {literals}</p>"


def _hit(rank: int, hit: Hit, labels: dict[str, str], preset: Preset) -> str:
    page = [] if hit.page is None else [f"page {hit.page}"]
    page += [] if hit.cell is None else [f"cell {hit.cell}"]
    place = [*hit.section, *page, f"characters {hit.span.start} to {hit.span.end}", hit.segment]
    rows = "".join(_literal(one, labels) for one in hit.trace.literals)
    doubt = f"<p class='place'>{escape(hit.doubt)}</p>" if hit.doubt else ""
    under = f"<p class='place'>{escape(hit.under)}</p>" if hit.under else ""
    return (
        f"<article><blockquote>{rank}. “{escape(hit.quote)}”</blockquote>"
        f"{under}<p class='place'>{escape(' · '.join(place))}</p>{doubt}"
        f"<p class='reading'>{escape(hit.reading)}</p>{_cost(hit, preset)}"
        f"<table>{rows}</table></article>"
    )


def _cost(hit: Hit, preset: Preset) -> str:
    judged = (
        ""
        if hit.judgement is None
        else f" · evidence with probability {hit.judgement:.2f}, says the judge"
    )
    return f"<p>cost {escape(told_sum(cost_parts(hit, preset)))}{judged}</p>"


def _literal(found: LiteralTrace, labels: dict[str, str]) -> str:
    state = "met" if found.met else "unmet"
    if found.distance is None:
        how = "no way at any budget"
    elif found.context is not None:
        how = f"from the {found.context.name}: {found.context.value}, {found.distance:.2f}"
    else:
        how = f"by {labels.get(found.via or '', found.via or '')}, {found.distance:.2f}"
    steps = "".join(f"<li>{_step(bridge, labels)}</li>" for bridge in found.bridges)
    return (
        f"<tr><th class='{state}'>{escape(found.literal.label)}</th>"
        f"<td>{escape(how)}{f'<ul>{steps}</ul>' if steps else ''}</td></tr>"
    )


def _step(bridge: Bridge, labels: dict[str, str]) -> str:
    source = escape(labels.get(bridge.source, bridge.source))
    target = escape(labels.get(bridge.target, bridge.target))
    price = (
        "free, a premise"
        if bridge.truth_preserving
        else f"{bridge.cost:.2f} = ω {bridge.weight:.2f} + δ {bridge.distance:.2f}"
    )
    details = f" ({escape(', '.join(bridge.details))})" if bridge.details else ""
    licence = ""
    if bridge.licence is not None:
        reference = " ".join(bridge.licence.reference.split())
        licence = (
            f"<div class='licence'>licence: {bridge.licence.kind.value}: {escape(reference)}</div>"
        )
    return (
        f"<span class='{bridge.family.value}'>{bridge.family.value}</span> {source} → {target} "
        f"{price}{details}{licence}"
    )


# What can be asked: one document or many, opened under one set of options.
#
# Every front end asks through these, so every front end gets the same answer.


class Searchable(ABC):
    """One document or a collection; a document is a collection of one.

    What it was opened with stays: documents that change, patches and edits that are kept later are
    seen by whoever opens it again.
    """

    workspace: Workspace
    options: SearchOptions

    @property
    def preset(self) -> Preset:
        """How the factors are weighed."""
        return self.options.preset

    @abstractmethod
    def search(
        self, query: str, *, k: int = DEFAULT_K, tau: float | None = None
    ) -> Ranking | CollectionRanking:
        """Rank segments as evidence for a question or a claim."""

    @abstractmethod
    def explain(self, query: str, segment: str, *, tau: float | None = None) -> Hit:
        """Return the full trace of one segment; of a collection it is named DOCUMENT:SEGMENT."""

    @abstractmethod
    def why_not(
        self,
        query: str,
        *,
        passage: str | None = None,
        segment: str | None = None,
        k: int = DEFAULT_K,
        tau: float | None = None,
    ) -> WhyNot | CollectionWhyNot:
        """Say the one first cause why a passage is not among the first k hits."""

    @property
    @abstractmethod
    def map(self) -> AbstractionMap | CollectionMap:
        """What is called the same, and what is a kind of what."""

    def hit(self, query: str, named: str, *, tau: float | None = None) -> Hit:
        """Return a hit by its rank, 1 for the best, or any segment by its id."""
        if not (named.isdecimal() and int(named)):
            return self.explain(query, named, tau=tau)
        hits = self.search(query, k=int(named), tau=tau).hits
        if len(hits) < int(named):
            raise InputError(f"there is no hit number {named}; the search found {len(hits)}")
        last = hits[-1]
        return last if isinstance(last, Hit) else last.hit

    def _tau(self, tau: float | None) -> float:
        return self.options.tau if tau is None else tau


@dataclass(frozen=True)
class SearchableDocument(Searchable):
    """One document, ready to be asked, with the patches that refinement has kept for its text."""

    workspace: Workspace
    options: SearchOptions
    searcher: Searcher
    kept: tuple[PatchInForce, ...] = ()

    @property
    def index(self) -> DocumentIndex:
        """The document's index, with its map as a person left it."""
        return self.searcher.index

    @property
    def preset(self) -> Preset:
        """How the factors are weighed; a model that judges has its say in any preset."""
        return self.searcher.preset

    @property
    def patches(self) -> tuple[PatchInForce, ...]:
        """The patches in force."""
        return () if self.options.idle else self.kept

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the models' answers could not be used so far, in words."""
        return self.searcher.notes

    @property
    def map(self) -> AbstractionMap:
        """What the document calls the same, and what is a kind of what."""
        return self.index.map

    def expect(self, query: str) -> None:
        """Begin to load what a new question needs, in the background: for a process that ends soon.

        Models are loaded while the parser is imported and reads the query.
        """
        from abstrag.neural.judge import preload_for

        shipped = self.workspace.models is None and self.workspace.judge is None
        preload_for(
            query,
            self.workspace.store,
            content_hash=self.index.document.content_hash,
            aligner=self.preset.alignment_weight > 0,
            judge=shipped and self.preset.judge_weight > 0,
        )

    def search(
        self, query: str, *, k: int = DEFAULT_K, tau: float | None = None, fill: bool = False
    ) -> Ranking:
        """Rank the document's segments; hits carry exact quotes, factors and traces.

        A segment that scores nothing is no hit, unless `fill` asks for k whatever they score.
        """
        known = {"abstrag.document": self.index.document.id, "abstrag.preset": self.preset.name}
        with span("abstrag.search", {**known, "abstrag.k": k}) as recorded:
            seen = max(k, LOOKED_AT) if k > 0 else k  # what is expected must not depend on k
            found = self.searcher.search(query, k=seen, tau=self._tau(tau), fill=fill)
            expected = sufficiency(found, self.index.genre.value)
            found = replace(found, hits=found.hits[:k]) if seen > k else found
            recorded.note({"abstrag.hits": len(found.hits)})
        return found if expected is None else replace(found, absent=round(expected.absent, 3))

    def explain(self, query: str, segment: str, *, tau: float | None = None) -> Hit:
        """Return the full trace of one segment, whether it is found or not."""
        return self.searcher.explain(query, segment, tau=self._tau(tau))

    def why_not(
        self,
        query: str,
        *,
        passage: str | None = None,
        segment: str | None = None,
        k: int = DEFAULT_K,
        tau: float | None = None,
    ) -> WhyNot:
        """Say the one first cause why a passage is not among the first k hits."""
        return self.searcher.why_not(
            query, passage=passage, segment=segment, k=k, tau=self._tau(tau)
        )

    def budget(self, query: str) -> BudgetCurve:
        """Say at which budget each segment enters."""
        return self.searcher.budget(query)

    def normalize(self, query: str) -> Query:
        """Turn a question or claim into typed, weighted literals."""
        return self.searcher.normalize(query)

    def clauses(
        self, query: str, *, tau: float | None = None, most: int = 20
    ) -> tuple[Clause, ...]:
        """Return the cheapest alternatives of a query within a budget."""
        return self.searcher.clauses(query, tau=self._tau(tau), most=most)

    def support(self, query: str, *, k: int = DEFAULT_K, tau: float | None = None) -> SupportSet:
        """Return the fewest hits that together meet a query: for what needs more than one place."""
        return self.searcher.support(query, k=k, tau=self._tau(tau))

    def document_score(
        self, query: str, *, aggregation: str = "top_k_mean", tau: float | None = None
    ) -> float:
        """Return how relevant the whole document is."""
        return self.searcher.document_score(query, aggregation=aggregation, tau=self._tau(tau))

    def ask(
        self,
        query: str,
        *,
        k: int | None = None,
        tau: float | None = None,
        asked: Asked | None = None,
        generator: Generator | None = None,
        verdicts: Verdicts | None = None,
    ) -> Answer:
        """Answer a question with exact quotations, or give a verdict on a claim.

        A generator writes, the one given or that of the workspace's models; without any the
        answer is quoted from the document and says so, and claims are judged by the verdicts
        given, by those of the workspace or by the shipped ones.
        """
        from abstrag.answers.answer import answer
        from abstrag.answers.verdicts import installed_verdicts

        writer = generator or self.workspace.generator
        if writer is None:
            verdicts = verdicts or self.workspace.verdicts or installed_verdicts()
        return answer(
            self.searcher,
            query,
            k=k,
            tau=self._tau(tau),
            asked=asked,
            generator=writer,
            verdicts=None if writer else verdicts,
        )

    def refine(
        self, query: str, *, gold: Sequence[str] = (), options: RefineOptions | None = None
    ) -> Refinement:
        """Find out why a query fails, and mend what failed if no other query gets worse.

        What is accepted is in force for whoever opens the document from then on.
        """
        from abstrag.workspace.refining import refiner_of

        with self.workspace.refining:  # each has to see what the one before left
            return refiner_of(self, options).refine(query, gold=gold)

    def refine_all(
        self, episodes: Sequence[Episode], *, options: RefineOptions | None = None
    ) -> Run:
        """Refine on several queries until none of them gains from another patch."""
        from abstrag.workspace.refining import refiner_of

        with self.workspace.refining:
            return refiner_of(self, options).run(episodes)

    def feedback(
        self,
        query: str,
        *,
        good: Sequence[str] = (),
        bad: Sequence[str] = (),
        right: Sequence[SaidStep] = (),
        wrong: Sequence[SaidStep] = (),
    ) -> Noted:
        """Note what a person says: which segments are evidence or not, which steps are right.

        It is an episode that refinement goes by, and a control once it is solved. A step that is
        called wrong costs all there is from now on; one that is called right costs little.
        """
        from abstrag.refine.feedback import Feedback

        given = Feedback(query, tuple(good), tuple(bad), tuple(right), tuple(wrong))
        names = {name for s in self.index.segments for name in (s.id, s.text)}
        if unknown := [name for name in (*good, *bad) if name not in names]:
            document = self.index.document.id
            raise InputError(
                f"{document!r} has no segment {unknown[0]!r}", hint=f"abstrag show {document}"
            )
        with self.workspace.refining:
            patch_log = self.workspace.patches.patch_log
            noted = patch_log.note_feedback(given, self.index)
            if good or bad:
                self._show(query)
            return noted

    def _show(self, query: str) -> None:
        """Note what people's word on a query shows documents of the same genre."""
        from abstrag.engine.refinement import precedent_of
        from abstrag.refine.patch_log import text_hash

        patch_log = self.workspace.patches.patch_log
        said = [e for e in patch_log.feedback(text_hash(self.index)) if e.query == query]
        shown = precedent_of(self.searcher, query, said[-1].gold if said else ())
        if shown is not None:
            patch_log.note_precedent(shown, self.index, "a person called it evidence")

    def report(self, queries: Sequence[str], *, k: int = 5, tau: float | None = None) -> str:
        """Return the evidence for some questions as one HTML page that needs nothing else."""
        from importlib.metadata import version

        document = self.index.document
        return report(
            document.title or document.id,
            sections_of(self.searcher, queries, k=k, tau=self._tau(tau)),
            labels={term.id: term.label for term in self.map.terms},
            source=Path(document.metadata.source or "").name,
            made=f"made with abstrag {version('abstrag')}",
        )
