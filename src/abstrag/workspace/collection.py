"""A collection, opened: the documents of a store that pass some filters, asked as one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from abstrag.collection.card_table import CollectionCards
from abstrag.collection.filters import Filters
from abstrag.collection.results import (
    CollectionRanking,
    CollectionWhyNot,
    DocumentFound,
    Standing,
    file_name,
)
from abstrag.collection.searcher import CollectionSearcher
from abstrag.collection.why_not import SoughtPassage, why_not
from abstrag.config import GIVEN_PASSAGES
from abstrag.engine.searcher import DEFAULT_K, Searcher
from abstrag.errors import InputError, UnknownDocument
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Hit, SupportSet
from abstrag.search.relevance import Preset
from abstrag.stores.open import shown
from abstrag.telemetry import span
from abstrag.workspace.document import Searchable, SearchableDocument
from abstrag.workspace.options import SearchOptions

if TYPE_CHECKING:
    from abstrag.answers.generator import GenerationTask, Generator
    from abstrag.answers.verdicts import Verdicts
    from abstrag.collection.map import CollectionMap
    from abstrag.llm.budget import Estimate
    from abstrag.model.answer import Answer, Asked
    from abstrag.workspace.refining import CollectionRefinement, RefineOptions
    from abstrag.workspace.workspace import Workspace


@dataclass(frozen=True)
class SearchableCollection(Searchable):
    """The documents of a store that pass some filters, ready to be asked as one."""

    workspace: Workspace
    options: SearchOptions
    searcher: CollectionSearcher
    filters: Filters

    @property
    def preset(self) -> Preset:
        """How the factors are weighed; a model that judges has its say in any preset."""
        return self.searcher.preset

    @property
    def notes(self) -> tuple[str, ...]:
        """What of the models' answers could not be used so far, by document, in words."""
        return self.searcher.notes

    @property
    def map(self) -> CollectionMap:
        """What the documents name, which of it may be one thing at what cost, what stays apart."""
        return self.workspace.map()

    def search(
        self, query: str, *, k: int = DEFAULT_K, tau: float | None = None
    ) -> CollectionRanking:
        """Rank the segments of all documents as evidence for a question or a claim."""
        known: dict[str, str | int] = {"abstrag.preset": self.preset.name, "abstrag.k": k}
        with span("abstrag.search_all", known) as recorded:
            found = self.searcher.search(query, k=k, tau=self._tau(tau), filters=self.filters)
            recorded.note({"abstrag.hits": len(found.hits), "abstrag.documents": found.passed})
        return found

    def support(self, query: str, *, k: int = DEFAULT_K, tau: float | None = None) -> SupportSet:
        """Return the fewest hits of all documents that together meet a query."""
        return self.searcher.support(query, k=k, tau=self._tau(tau), filters=self.filters)

    def explain(self, query: str, segment: str, *, tau: float | None = None) -> Hit:
        """Return the full trace of one segment, named as DOCUMENT:SEGMENT."""
        document, colon, name = segment.rpartition(":")
        if not colon:
            raise InputError(
                f"{segment!r} names no segment of a collection",
                hint="a rank such as 1, or document and segment: report:s12",
            )
        return self.searcher.explain(
            query, document, name, tau=self._tau(tau), filters=self.filters
        )

    def why_not(
        self,
        query: str,
        *,
        passage: str | None = None,
        segment: str | None = None,
        k: int = DEFAULT_K,
        tau: float | None = None,
        document: str | None = None,
    ) -> CollectionWhyNot:
        """Say the one first reason why a passage is not among the first k hits of all."""
        meant = SoughtPassage(passage, segment, document)
        return why_not(self.searcher, query, meant, k=k, tau=self._tau(tau), filters=self.filters)

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
        """Answer a question from all documents, or say what they make of a claim.

        A generator is given the best passages of all of them. Without one, the documents that come
        first answer as each would alone, and those that say something else are beside the best.
        """
        from abstrag.answers.answer import AskedDocument, answer_of_many, passages_for, wording_of
        from abstrag.answers.verdicts import installed_verdicts

        writer = generator or self.workspace.generator
        asked = asked or wording_of(query)
        if writer is None:
            verdicts = verdicts or self.workspace.verdicts or installed_verdicts()
        found = self.search(query, k=k or passages_for(asked, writer), tau=tau)
        best = max((one.score for one in found.documents), default=0.0) or 1.0
        return answer_of_many(
            found.query,
            [AskedDocument(self._opened(d.document), d.score / best) for d in found.documents],
            self._passages(found),
            k=k,
            tau=self._tau(tau),
            asked=asked,
            generator=writer,
            verdicts=None if writer else verdicts,
        )

    def generation_task(
        self, query: str, *, k: int | None = None, asked: Asked | None = None
    ) -> GenerationTask | None:
        """Return what a generator would be given after a search without any language model."""
        from abstrag.answers.answer import task_of_many

        local = replace(self, searcher=self.searcher.local())
        found = local.search(query, k=k or GIVEN_PASSAGES)
        return task_of_many(found.query, local._passages(found), asked)

    def refine(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        gold: Sequence[str] = (),
        options: RefineOptions | None = None,
    ) -> CollectionRefinement:
        """Refine each document that a search opens, as if it were the one that was asked.

        `gold` names segments that are evidence, as DOCUMENT:SEGMENT or by their exact words; then
        only their documents are refined.
        """
        from abstrag.workspace.refining import CollectionRefinement

        before = self.search(query, k=k)
        named = self._named(gold, before) or {one.document: [] for one in before.documents}
        made = tuple(
            self.workspace.stored(name, self.options).refine(query, gold=own, options=options)
            for name, own in named.items()
        )
        self.searcher.forget()  # what was opened before has none of what is kept now
        return CollectionRefinement(query, made, before, self.search(query, k=k))

    def estimate(self, query: str) -> Estimate:
        """Say what a search would ask of the models at most; nothing is asked for that."""
        from abstrag.llm.budget import Estimate

        prompting = self.workspace.prompting
        if prompting is None:
            return Estimate(most=True)
        listed = self.searcher.shortlist(query, filters=self.filters)
        opened = [self.workspace.index(listed.cards.documents[row]) for row in listed.rows]
        return prompting.estimate_search(
            *opened, singly=True, paragraphs=self.searcher.joint_preset.judged
        )

    def standing(self, query: str, document: str) -> tuple[Standing, ...]:
        """Say where a document stands with each source of the shortlist."""
        return self.searcher.standing(query, document, filters=self.filters)

    def find_documents(self, query: str, *, k: int = DEFAULT_K) -> tuple[DocumentFound, ...]:
        """Find the documents that are about something, by their content; none is opened."""
        if k < 1:
            raise InputError(f"k is {k}", hint="ask for at least one document")
        shortlist = self.searcher.shortlist(query, filters=self.filters)
        every = shortlist.cards.documents
        return tuple(
            DocumentFound(
                document=every[row].id,
                title=every[row].title,
                date=every[row].date,
                file=file_name(every[row].source_path),
                also=shortlist.copies(row),
                prior=float(shortlist.prior[row]),
                standings=shortlist.standings(row),
            )
            for row in shortlist.order[:k].tolist()
        )

    def document(self, name: str) -> SearchableDocument:
        """Open one of the documents, under the same options."""
        return self.workspace.document(name, self.options)

    def _opened(self, name: str) -> Searcher:
        """Return what searches a document, as this was opened with it."""
        return self.searcher.open(self.workspace.store.find(name))

    def _passages(self, found: CollectionRanking) -> list[tuple[DocumentIndex, Hit]]:
        return [(self._opened(one.hit.document).index, one.hit) for one in found.hits]

    def _named(self, gold: Sequence[str], found: CollectionRanking) -> dict[str, list[str]]:
        """Return which segments gold names, by document: those that were opened, or any by id."""
        named: dict[str, list[str]] = {}
        for one in gold:
            document, _, segment = one.rpartition(":")
            if document and segment and self.workspace.store.holders([document]):
                named.setdefault(document, []).append(segment)
                continue
            texts = {
                each.document: [
                    s.id for s in self._opened(each.document).index.segments if s.text == one
                ]
                for each in found.documents
            }
            holders = [name for name, ids in texts.items() if ids]
            if not holders:
                raise InputError(
                    f"no document that was opened has a segment {one!r}",
                    hint="name it by document and segment: report:s12",
                )
            named.setdefault(holders[0], []).append(one)
        return named


def open_collection(
    workspace: Workspace,
    filters: Filters,
    options: SearchOptions,
    *,
    embeddings: bool,
    shortlist: int,
    prior_power: float,
    card_table: CollectionCards,
) -> SearchableCollection:
    """Open the documents of a workspace's store that pass some filters."""
    prompting = workspace.prompting if workspace.judge is None else None
    preset = options.preset
    if prompting is not None:
        preset = prompting.preset(preset, judge=options.judge)
    _see_that_there_are_some(card_table, workspace, filters)
    searcher = CollectionSearcher(
        workspace.store,
        preset=preset,
        encoder=workspace.encoder,
        embeddings=embeddings,
        shortlist=shortlist,
        prior_power=prior_power,
        open_document=lambda info: workspace.stored(info, options).searcher,
        card_table=card_table,
        threads=1 if prompting is None else prompting.models.concurrency,
    )
    return SearchableCollection(workspace, options, searcher, filters)


def _see_that_there_are_some(
    card_table: CollectionCards, workspace: Workspace, filters: Filters
) -> None:
    if not card_table.size:
        raise UnknownDocument(
            f"the store {shown(workspace.target)!r} is empty",
            hint="abstrag index FOLDER puts documents into it",
        )
    if filters.folder is not None and not card_table.any_passes(Filters(folder=filters.folder)):
        raise UnknownDocument(
            f"no document of the store comes from the folder {filters.folder!r}",
            hint=f"abstrag index {filters.folder}",
        )
