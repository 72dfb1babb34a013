"""AbstRAG: the one object most people need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from abstrag.config import Settings
from abstrag.documents.readers import DocumentReader
from abstrag.engine.searcher import DEFAULT_K
from abstrag.engine.source_files import IndexOutcome
from abstrag.errors import InputError
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import BudgetCurve, Hit, Ranking, SupportSet, WhyNot
from abstrag.model.term import AbstractionMap, Edge, Family, Relation
from abstrag.neural.encoder import TextEncoder
from abstrag.policy.location import DEFAULT_FAMILY
from abstrag.search.judging import Judge
from abstrag.search.relevance import DEFAULT_PRESET, Preset
from abstrag.stores.open import Target
from abstrag.stores.protocol import DocumentInfo, Store
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import (
    SearchOptions,
    WorkspaceConfig,
    chosen_preset,
    edge_id,
    hand_made,
)
from abstrag.workspace.workspace import Workspace

if TYPE_CHECKING:
    from abstrag.answers.generator import Generator
    from abstrag.collection.filters import Filters
    from abstrag.collection.map import CollectionMap
    from abstrag.collection.results import CollectionRanking, CollectionWhyNot, DocumentFound
    from abstrag.engine.library import Knowledge
    from abstrag.llm.connect import Models
    from abstrag.model.answer import Answer
    from abstrag.policy.audit import AuditEntry
    from abstrag.refine.feedback import Noted, SaidStep
    from abstrag.refine.outcome import Refinement
    from abstrag.refine.patch_log import PatchInForce
    from abstrag.workspace.collection import SearchableCollection
    from abstrag.workspace.refining import CollectionRefinement, RefineOptions


class AbstRAG:
    """Indexes documents and answers questions about them, on this machine and without a key.

    With `models` language models take part: in building the index, in reading queries, in judging.
    The last document indexed or opened is the one that is asked; `document=` names another. Threads
    may share one object; `AsyncAbstRAG` is its face for an event loop.

        rag = AbstRAG(":memory:")
        rag.index("report.pdf")
        for hit in rag.search("Who bought the company?", k=3).hits:
            print(hit.page, hit.quote, hit.reading)
    """

    def __init__(
        self,
        store: Target | Store | None = None,
        *,
        background: Knowledge | str | Path | None = None,
        settings: Settings | None = None,
        preset: Preset | str = DEFAULT_PRESET,
        judge: Judge | None = None,
        encoder: TextEncoder | None = None,
        readers: Mapping[str, DocumentReader] | None = None,
        models: Models | None = None,
        policy: str | Path | None = None,
        family: str = DEFAULT_FAMILY,
    ) -> None:
        """Open a store: a file, ":memory:", postgresql://…, or the one in your data folder.

        Args:
            store: Which store, or an open one of your own, which is closed with this.
            background: What you know and the documents do not say.
            settings: How documents are cut and read, and the default budget for bridges.
            preset: How the factors are weighed, by name or as a value.
            judge: Asked instead of the shipped judge.
            encoder: Embeds texts instead of the shipped embedder.
            readers: Read files by suffix, such as ".rst", before those of ours.
            models: Language models, by role.
            policy: The folder of what refinement has learnt; your own unless given.
            family: Whose patches hold.
        """
        known = settings or Settings()
        chosen = chosen_preset(preset) if isinstance(preset, str) else preset
        named = store if store is None or isinstance(store, str | Path) else ":memory:"
        own = store if not (store is None or isinstance(store, str | Path)) else None
        config = WorkspaceConfig(
            store=named,  # nothing is kept beside a store of the user's, as with one in memory
            background=background,
            settings=known,
            options=SearchOptions(preset=chosen, tau=known.tau),
            policy=Path(policy) if policy is not None else None,
            family=family,
        )
        self._readers = readers
        self.workspace = Workspace(
            config, models=models, judge=judge, encoder=encoder, readers=readers, store=own
        )
        self._current: str | None = None

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        name: str = "text",
        title: str = "",
        date: str | None = None,
        **options: Any,
    ) -> AbstRAG:
        """Return an AbstRAG over a store in memory that holds one text, read as Markdown.

        `options` are those of `AbstRAG`.
        """
        from abstrag.documents.load import load_bytes

        loaded = load_bytes(text.encode(), name=f"{name}.md")
        metadata = replace(loaded.metadata, date=date or loaded.metadata.date)
        document = replace(loaded, id=name, title=title or loaded.title, metadata=metadata)
        made = cls(":memory:", **options)
        made.index(document)
        return made

    def index(self, source: str | Path | Document) -> DocumentIndex:
        """Index a file or a document, unless nothing about it has changed, and open it."""
        return self.open(source).index

    def index_many(
        self, paths: Iterable[str | Path], *, workers: int = 1
    ) -> tuple[IndexOutcome, ...]:
        """Index files and everything inside folders, and say what became of each file.

        A failure is an outcome, not the end. Models and readers of yours work in this process.
        """
        wanted = [Path(path) for path in paths]
        if workers == 1 or self.workspace.models is not None or self._readers:
            return tuple(self.workspace.indexing().index_paths(wanted))
        from abstrag.workers.processes import Processes
        from abstrag.workspace.many_files import index_many

        return tuple(index_many(self.workspace, wanted, Processes(workers)))

    def prepare(self) -> int:
        """Make ahead what the first search over all documents would have to wait for.

        Only what is missing is made; returned is for how many documents that was.
        """
        from abstrag.workspace.upkeep import prepare

        return prepare(self.workspace)

    def documents(self) -> tuple[DocumentInfo, ...]:
        """Describe what is in the store."""
        return self.workspace.documents()

    def remove(self, document: str) -> DocumentInfo:
        """Forget a document and what was edited in it, and say what it was."""
        return self.workspace.remove(document)

    def open(self, document: str | Path | Document | None = None) -> SearchableDocument:
        """Open a document: a file, an id, or the last one that was opened."""
        wanted = document if document is not None else self._current
        if wanted is None:
            raise InputError("no document has been indexed yet", hint="call .index(path) first")
        opened = self.workspace.document(wanted)
        self._current = opened.index.document.id
        return opened

    def collection(
        self, folder: str | Path | None = None, *, filters: Filters | None = None
    ) -> SearchableCollection:
        """Open all documents of the store, those of a folder, or those that pass filters."""
        from abstrag.workspace.collection import SearchableCollection

        opened = self.workspace.open(folder, filters=filters)
        if not isinstance(opened, SearchableCollection):
            raise InputError(f"{str(folder)!r} is one document", hint="call .open instead")
        return opened

    def search(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        tau: float | None = None,
        document: str | None = None,
    ) -> Ranking:
        """Rank the segments of a document as evidence for a question or a claim."""
        return self.open(document).search(query, k=k, tau=tau)

    def search_all(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        tau: float | None = None,
        folder: str | Path | None = None,
        filters: Filters | None = None,
    ) -> CollectionRanking:
        """Rank the segments of all documents, or of those that filters let through."""
        return self.collection(folder, filters=filters).search(query, k=k, tau=tau)

    def find_documents(
        self, query: str, *, k: int = DEFAULT_K, filters: Filters | None = None
    ) -> tuple[DocumentFound, ...]:
        """Find the documents that are about something, by their content."""
        return self.collection(filters=filters).find_documents(query, k=k)

    def explain(
        self, query: str, segment: str, *, tau: float | None = None, document: str | None = None
    ) -> Hit:
        """Return the full trace of one segment: literals, bridges, costs, licences.

        `segment` is an id (s12) or a rank (1 is the best hit).
        """
        return self.open(document).hit(query, segment, tau=tau)

    def why_not(
        self,
        query: str,
        *,
        text: str | None = None,
        segment: str | None = None,
        k: int = DEFAULT_K,
        tau: float | None = None,
        document: str | None = None,
    ) -> WhyNot:
        """Say the one first cause why a passage is not among the first k hits."""
        return self.open(document).why_not(query, passage=text, segment=segment, k=k, tau=tau)

    def why_not_all(
        self, query: str, *, text: str, k: int = DEFAULT_K, tau: float | None = None
    ) -> CollectionWhyNot:
        """Say why a passage is not among the first k hits of all documents."""
        return self.collection().why_not(query, passage=text, k=k, tau=tau)

    def support(
        self, query: str, *, k: int = 10, tau: float | None = None, document: str | None = None
    ) -> SupportSet:
        """Return the fewest hits that together meet a query, each with why it joined the others."""
        return self.open(document).support(query, k=k, tau=tau)

    def support_all(
        self,
        query: str,
        *,
        k: int = 10,
        tau: float | None = None,
        folder: str | Path | None = None,
        filters: Filters | None = None,
    ) -> SupportSet:
        """Return the fewest hits of all documents that together meet the query."""
        return self.collection(folder, filters=filters).support(query, k=k, tau=tau)

    def budget(self, query: str, *, document: str | None = None) -> BudgetCurve:
        """Say at which budget τ each segment meets the whole query."""
        return self.open(document).budget(query)

    def ask(
        self,
        query: str,
        *,
        k: int | None = None,
        tau: float | None = None,
        document: str | None = None,
        generator: Generator | None = None,
    ) -> Answer:
        """Answer a question with exact quotations, or give a verdict on a claim.

        Without a model the answer is quoted from the document and says so.
        """
        return self.open(document).ask(query, k=k, tau=tau, generator=generator)

    def ask_all(
        self,
        query: str,
        *,
        k: int | None = None,
        tau: float | None = None,
        folder: str | Path | None = None,
        filters: Filters | None = None,
        generator: Generator | None = None,
    ) -> Answer:
        """Answer a question from all documents, or from those that filters let through.

        Every citation names its document; documents that say something else are under `others`.
        """
        many = self.collection(folder, filters=filters)
        return many.ask(query, k=k, tau=tau, generator=generator)

    def refine(
        self,
        query: str,
        *,
        gold: Sequence[str] = (),
        document: str | None = None,
        options: RefineOptions | None = None,
    ) -> Refinement:
        """Find out why a query fails, and mend what failed if no other query gets worse.

        What is accepted holds for every later search of the same text, in every front end.
        """
        return self.open(document).refine(query, gold=gold, options=options)

    def refine_all(
        self,
        query: str,
        *,
        gold: Sequence[str] = (),
        folder: str | Path | None = None,
        filters: Filters | None = None,
        options: RefineOptions | None = None,
    ) -> CollectionRefinement:
        """Refine each document that a search over all opens; gold is DOCUMENT:SEGMENT or words."""
        return self.collection(folder, filters=filters).refine(query, gold=gold, options=options)

    def feedback(
        self,
        query: str,
        *,
        good: Sequence[str] = (),
        bad: Sequence[str] = (),
        right: Sequence[SaidStep] = (),
        wrong: Sequence[SaidStep] = (),
        document: str | None = None,
    ) -> Noted:
        """Note what a person says of hits and steps; refinement goes by it, and prices do."""
        asked = self.open(document)
        return asked.feedback(query, good=good, bad=bad, right=right, wrong=wrong)

    def learn(self) -> tuple[AuditEntry, ...]:
        """Make lessons of what three documents of a genre ask for and no solved query loses by."""
        from abstrag.workspace.lessons import learn

        return learn(self.workspace)

    def patches(self, *, document: str | None = None) -> tuple[PatchInForce, ...]:
        """Return what refinement has kept for a document's text."""
        return self.open(document).patches

    def policy_log(self) -> tuple[AuditEntry, ...]:
        """Return everything that refinement tried, oldest first."""
        return self.workspace.patches.log()

    def revert(self, patch: str) -> AuditEntry:
        """Take back a patch, or a promoted edit of a program."""
        return self.workspace.patches.revert(patch)

    def map(self, *, document: str | None = None) -> AbstractionMap:
        """Return what a document calls the same, and what is a kind of what."""
        return self.open(document).map

    def map_all(self) -> CollectionMap:
        """Return the map of all documents together."""
        return self.collection().map

    def add_edge(
        self,
        source: str,
        target: str,
        *,
        family: Family,
        relation: Relation = Relation.IMPLIES,
        weight: float | None = None,
        distance: float | None = None,
        document: str | None = None,
    ) -> Edge:
        """Add an edge to a document's map by hand; its ends are term ids or labels."""
        index = self.workspace.index(self.open(document).index.document.id)
        edge = hand_made(
            index,
            source=source,
            target=target,
            relation=relation,
            family=family,
            weight=weight,
            distance=distance,
        )
        self.workspace.edits.add(index.document.id, edge)
        return edge

    def hide_edge(self, edge: Edge, *, document: str | None = None) -> None:
        """Leave an edge out of a document's map; one that was added by hand is gone."""
        index = self.workspace.index(self.open(document).index.document.id)
        known = map(edge_id, index.map.edges)
        self.workspace.edits.hide(index.document.id, edge_id(edge), known)

    def report(self, queries: Sequence[str], *, k: int = 5, document: str | None = None) -> str:
        """Return the evidence for some questions as one HTML page that needs nothing else."""
        return self.open(document).report(queries, k=k)

    def close(self) -> None:
        """Let go of the store."""
        self.workspace.close()

    def __enter__(self) -> AbstRAG:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
