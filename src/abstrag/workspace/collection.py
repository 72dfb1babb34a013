"""A collection, opened: the documents of a store that pass some filters, asked as one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from abstrag.collection.filters import Filters
from abstrag.collection.results import (
    CollectionRanking,
    CollectionWhyNot,
    DocumentFound,
    Standing,
    file_name,
)
from abstrag.collection.searcher import CollectionSearcher
from abstrag.collection.shelf import CollectionShelf
from abstrag.collection.why_not import SoughtPassage, why_not
from abstrag.engine.searcher import DEFAULT_K
from abstrag.errors import InputError, UnknownDocument
from abstrag.model.ranking import Hit
from abstrag.stores.open import shown
from abstrag.telemetry import span
from abstrag.workspace.document import Searchable, SearchableDocument
from abstrag.workspace.options import SearchOptions

if TYPE_CHECKING:
    from abstrag.collection.map import CollectionMap
    from abstrag.workspace.workspace import Workspace


@dataclass(frozen=True)
class SearchableCollection(Searchable):
    """The documents of a store that pass some filters, ready to be asked as one."""

    workspace: Workspace
    options: SearchOptions
    searcher: CollectionSearcher
    filters: Filters

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

    def standing(self, query: str, document: str) -> tuple[Standing, ...]:
        """Say where a document stands with each source of the shortlist."""
        return self.searcher.standing(query, document, filters=self.filters)

    def find_documents(self, query: str, *, k: int = DEFAULT_K) -> tuple[DocumentFound, ...]:
        """Find the documents that are about something, by their content; none is opened."""
        if k < 1:
            raise InputError(f"k is {k}", hint="ask for at least one document")
        shortlist = self.searcher.shortlist(query, filters=self.filters)
        every = shortlist.shelf.documents
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


def open_collection(
    workspace: Workspace,
    filters: Filters,
    options: SearchOptions,
    *,
    embeddings: bool,
    shortlist: int,
    prior_power: float,
    shelf: CollectionShelf,
) -> SearchableCollection:
    """Open the documents of a workspace's store that pass some filters."""
    if workspace.models is not None:
        raise InputError(
            "a collection is searched without a language model",
            hint="leave the model out, or name one document",
        )
    _see_that_there_are_some(shelf, workspace, filters)
    searcher = CollectionSearcher(
        workspace.store,
        preset=options.preset,
        encoder=workspace.encoder,
        embeddings=embeddings,
        shortlist=shortlist,
        prior_power=prior_power,
        open_document=lambda info: workspace.stored(info, options).searcher,
        shelf=shelf,
    )
    return SearchableCollection(workspace, options, searcher, filters)


def _see_that_there_are_some(
    shelf: CollectionShelf, workspace: Workspace, filters: Filters
) -> None:
    if not shelf.size:
        raise UnknownDocument(
            f"the store {shown(workspace.target)!r} is empty",
            hint="abstrag index FOLDER puts documents into it",
        )
    if filters.folder is not None and not shelf.any_passes(Filters(folder=filters.folder)):
        raise UnknownDocument(
            f"no document of the store comes from the folder {filters.folder!r}",
            hint=f"abstrag index {filters.folder}",
        )
