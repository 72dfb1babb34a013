"""The tools an agent is given, as plain methods: one store, asked, and written to only by leave."""

from __future__ import annotations

from pathlib import Path

from abstrag.config import TAU, Settings
from abstrag.errors import FileMissing, InputError
from abstrag.model.answer import Answer
from abstrag.server.aids import Aids
from abstrag.server.mcp.results import (
    Factors,
    Indexed,
    Listing,
    Missed,
    SearchResult,
    factors,
    listed,
    missed,
    search_result,
)
from abstrag.server.shelf import Shelf
from abstrag.stores.open import Target, beside
from abstrag.workspace.edits import EditStore
from abstrag.workspace.patches import Patches

MOST_HITS = 50


class Toolbox:
    """Answers an agent's calls over one store.

    Files are read only from inside `folders`; without any, nothing can be indexed and the store is
    only read.
    """

    def __init__(
        self,
        store: Target,
        *,
        aids: Aids | None = None,
        folders: tuple[Path, ...] = (),
        policy_root: Path | None = None,
        keep: int = 4,
    ) -> None:
        self._folders = tuple(folder.resolve() for folder in folders)
        self._aids = aids or Aids()
        edits = EditStore(beside(store, ".studio") / "edits")
        self._shelf = Shelf(store, edits, patches=Patches(policy_root), keep=keep)

    @property
    def may_index(self) -> bool:
        """True when there is a folder to index from."""
        return bool(self._folders)

    def documents(self) -> Listing:
        """List the documents that can be asked, with their ids."""
        return Listing(tuple(listed(info) for info in self._shelf.infos()))

    def search(self, document: str, query: str, k: int = 5, tau: float = TAU) -> SearchResult:
        """Find the evidence for a question or claim, with exact quotes and why they count."""
        if not 1 <= k <= MOST_HITS:
            raise InputError(f"k is {k}", hint=f"ask for 1 to {MOST_HITS} hits")
        return search_result(self._shelf.searcher(document).search(query, k=k, tau=tau))

    def explain(self, document: str, query: str, segment: str, tau: float = TAU) -> Factors:
        """Show what the score of one segment is made of, found or not."""
        return factors(self._shelf.searcher(document).explain(query, segment, tau=tau))

    def why_not(
        self, document: str, query: str, passage: str, k: int = 10, tau: float = TAU
    ) -> Missed:
        """Say why a passage, given in its own words, is not among the first k hits."""
        searcher = self._shelf.searcher(document)
        return missed(searcher.why_not(query, passage=passage, k=k, tau=tau))

    def ask(self, document: str, question: str) -> Answer:
        """Answer a question or judge a claim from the document, every quotation verified."""
        from abstrag.engine.answer import answer

        return answer(
            self._shelf.searcher(document),
            question,
            generator=self._aids.generator,
            verdicts=self._aids.verdicts(),
        )

    def index(self, path: str) -> Indexed:
        """Index a file inside the folders that were allowed; returns the id to ask with."""
        from abstrag.engine.library import Library

        file = self._allowed(path)
        with self._shelf.open_store() as store:
            outcome = Library(store, None, Settings()).index_file(file)
        assert outcome.document is not None
        return Indexed(outcome.document, outcome.status, outcome.segments)

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
