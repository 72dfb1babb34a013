"""AbstRAG for an event loop: every question runs in a thread, and the loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Final, ParamSpec, TypeVar

from abstrag.engine.searcher import DEFAULT_K
from abstrag.engine.source_files import IndexOutcome
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import BudgetCurve, Hit, Ranking, SupportSet, WhyNot
from abstrag.stores.protocol import DocumentInfo
from abstrag.workspace.facade import AbstRAG

if TYPE_CHECKING:
    from abstrag.collection.filters import Filters
    from abstrag.collection.results import CollectionRanking
    from abstrag.model.answer import Answer
    from abstrag.refine.feedback import Noted, SaidStep
    from abstrag.refine.outcome import Refinement
    from abstrag.workspace.refining import RefineOptions

THREADS: Final = 4

Given = ParamSpec("Given")
Result = TypeVar("Result")


class AsyncAbstRAG:
    """An `AbstRAG` whose methods are awaited.

        async with AsyncAbstRAG(AbstRAG("library.db")) as rag:
            ranking = await rag.search("Who bought the company?", document="report")

    `document=` says which document is asked; without it, the last one that was opened is, and
    tasks that run side by side may have opened another one meanwhile.
    """

    def __init__(self, rag: AbstRAG, *, threads: int = THREADS) -> None:
        """Take what is asked, which may be asked directly as well, and how many threads ask."""
        self.rag = rag
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="abstrag")

    async def run(
        self, method: Callable[Given, Result], *args: Given.args, **given: Given.kwargs
    ) -> Result:
        """Call anything of the `AbstRAG`, or of what it opened, in a thread."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(method, *args, **given))

    async def index(self, source: str | Path | Document) -> DocumentIndex:
        """Index a file or a document, unless nothing about it has changed, and open it."""
        return await self.run(self.rag.index, source)

    async def index_many(
        self, paths: Iterable[str | Path], *, workers: int = 1
    ) -> tuple[IndexOutcome, ...]:
        """Index files and everything inside folders, and say what became of each file."""
        return await self.run(self.rag.index_many, paths, workers=workers)

    async def documents(self) -> tuple[DocumentInfo, ...]:
        """Describe what is in the store."""
        return await self.run(self.rag.documents)

    async def search(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        tau: float | None = None,
        document: str | None = None,
    ) -> Ranking:
        """Rank the segments of a document as evidence for a question or a claim."""
        return await self.run(self.rag.search, query, k=k, tau=tau, document=document)

    async def search_all(
        self,
        query: str,
        *,
        k: int = DEFAULT_K,
        tau: float | None = None,
        folder: str | Path | None = None,
        filters: Filters | None = None,
    ) -> CollectionRanking:
        """Rank the segments of all documents, or of those that filters let through."""
        return await self.run(
            self.rag.search_all, query, k=k, tau=tau, folder=folder, filters=filters
        )

    async def explain(
        self, query: str, segment: str, *, tau: float | None = None, document: str | None = None
    ) -> Hit:
        """Return the full trace of one segment: literals, bridges, costs, licences."""
        return await self.run(self.rag.explain, query, segment, tau=tau, document=document)

    async def why_not(
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
        return await self.run(
            self.rag.why_not, query, text=text, segment=segment, k=k, tau=tau, document=document
        )

    async def support(
        self, query: str, *, k: int = 10, tau: float | None = None, document: str | None = None
    ) -> SupportSet:
        """Return the fewest hits that together meet a query, each with why it joined the others."""
        return await self.run(self.rag.support, query, k=k, tau=tau, document=document)

    async def budget(self, query: str, *, document: str | None = None) -> BudgetCurve:
        """Say at which budget τ each segment meets the whole query."""
        return await self.run(self.rag.budget, query, document=document)

    async def ask(
        self,
        query: str,
        *,
        k: int | None = None,
        tau: float | None = None,
        document: str | None = None,
    ) -> Answer:
        """Answer a question with exact quotations, or give a verdict on a claim."""
        return await self.run(self.rag.ask, query, k=k, tau=tau, document=document)

    async def refine(
        self,
        query: str,
        *,
        gold: Sequence[str] = (),
        document: str | None = None,
        options: RefineOptions | None = None,
    ) -> Refinement:
        """Find out why a query fails, and mend what failed if no other query gets worse."""
        return await self.run(self.rag.refine, query, gold=gold, document=document, options=options)

    async def feedback(
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
        return await self.run(
            self.rag.feedback,
            query,
            good=good,
            bad=bad,
            right=right,
            wrong=wrong,
            document=document,
        )

    async def close(self) -> None:
        """Wait for what runs, and let go of the store."""
        await self.run(self.rag.close)
        self._pool.shutdown()

    async def __aenter__(self) -> AsyncAbstRAG:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()
