"""One document, opened: everything that can be asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from abstrag.engine.searcher import DEFAULT_K, Searcher
from abstrag.errors import InputError
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Clause, Query
from abstrag.model.ranking import BudgetCurve, Hit, Ranking, SupportSet, WhyNot
from abstrag.model.term import AbstractionMap
from abstrag.refine.sufficiency import LOOKED_AT, sufficiency
from abstrag.search.relevance import Preset
from abstrag.telemetry import span
from abstrag.workspace.options import SearchOptions
from abstrag.workspace.searchable import Searchable

if TYPE_CHECKING:
    from abstrag.engine.generator import Generator
    from abstrag.engine.verdicts import Verdicts
    from abstrag.model.answer import Answer, Asked
    from abstrag.refine.episode import Episode
    from abstrag.refine.feedback import Noted, SaidStep
    from abstrag.refine.ledger import PatchInForce
    from abstrag.refine.outcome import Refinement, Run
    from abstrag.workspace.refining import RefineOptions
    from abstrag.workspace.workspace import Workspace


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
        from abstrag.neural.preload import preload_for

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
        from abstrag.engine.answer import answer
        from abstrag.engine.generator import TOP
        from abstrag.engine.verdicts import installed_verdicts

        writer = generator or self.workspace.generator
        if writer is None:
            verdicts = verdicts or self.workspace.verdicts or installed_verdicts()
        return answer(
            self.searcher,
            query,
            k=k or TOP,
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
            ledger = self.workspace.patches.ledger
            noted = ledger.note_feedback(given, self.index)
            if good or bad:
                self._show(query)
            return noted

    def _show(self, query: str) -> None:
        """Note what people's word on a query shows documents of the same genre."""
        from abstrag.engine.precedents import precedent_of
        from abstrag.refine.ledger import text_hash

        ledger = self.workspace.patches.ledger
        said = [e for e in ledger.feedback(text_hash(self.index)) if e.query == query]
        shown = precedent_of(self.searcher, query, said[-1].gold if said else ())
        if shown is not None:
            ledger.note_precedent(shown, self.index, "a person called it evidence")

    def presume(self, query: str) -> bool:
        """Take the first hits for evidence, for others to learn from, where the critic is sure.

        Returns whether it is.
        """
        from abstrag.engine.precedents import presumed

        shown = presumed(self.searcher, query)
        if shown is not None:
            with self.workspace.refining:
                reason = "the critic is sure of the first hits"
                self.workspace.patches.ledger.note_precedent(shown, self.index, reason)
        return shown is not None

    def report(self, queries: Sequence[str], *, k: int = 5, tau: float | None = None) -> str:
        """Return the evidence for some questions as one HTML page that needs nothing else."""
        from importlib.metadata import version

        from abstrag.workspace.report import report, sections_of

        document = self.index.document
        return report(
            document.title or document.id,
            sections_of(self.searcher, queries, k=k, tau=self._tau(tau)),
            labels={term.id: term.label for term in self.map.terms},
            source=Path(document.metadata.source or "").name,
            made=f"made with abstrag {version('abstrag')}",
        )
