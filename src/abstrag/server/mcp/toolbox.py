"""The tools an agent is given, as plain methods: one workspace, asked; files only by leave."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from abstrag.collection.filters import Filters
from abstrag.collection.listing import Sort, listing
from abstrag.errors import FileMissing, InputError
from abstrag.model.answer import Answer
from abstrag.refine.feedback import Noted, parse_step
from abstrag.server.asking import asked_options
from abstrag.server.mcp.results import (
    CollectionResult,
    DocumentsFound,
    Factors,
    Indexed,
    Listing,
    Missed,
    SearchResult,
    SetResult,
    collection_result,
    documents_found,
    factors,
    missed,
    missed_in_all,
    search_result,
    set_result,
)
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.workspace import Workspace

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
        return set_result(query, self._opened(document, preset, judge, tau).support(query, k=k))

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
        options = asked_options(self._workspace, preset=preset, judge=judge, tau=tau)
        many = self._workspace.collection(Filters(**filters), options)
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
        options = asked_options(self._workspace, preset=preset, judge=judge, tau=tau)
        many = self._workspace.collection(options=options)
        return missed_in_all(many.why_not(query, passage=passage, k=k))

    def ask(self, document: str, question: str) -> Answer:
        """Answer a question or judge a claim from the document, every quotation verified."""
        return self._workspace.stored(document).ask(question)

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
        options = asked_options(self._workspace, preset=preset, judge=judge, tau=tau)
        return self._workspace.stored(document, options)

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
