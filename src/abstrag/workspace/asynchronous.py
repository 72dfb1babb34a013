"""AbstRAG for an event loop: every question runs in a thread, and the loop goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from functools import partial, wraps
from typing import Any, Concatenate, Final, ParamSpec, TypeVar

from abstrag.workspace.facade import AbstRAG

THREADS: Final = 4

Given = ParamSpec("Given")
Result = TypeVar("Result")


def _awaited(
    method: Callable[Concatenate[AbstRAG, Given], Result],
) -> Callable[Concatenate[AsyncAbstRAG, Given], Coroutine[Any, Any, Result]]:
    """Return the method that calls one of `AbstRAG` in a thread."""

    @wraps(method)
    async def called(self: AsyncAbstRAG, /, *args: Given.args, **given: Given.kwargs) -> Result:
        own: Callable[Given, Result] = getattr(self.rag, method.__name__)
        return await self.run(own, *args, **given)

    return called


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

    index = _awaited(AbstRAG.index)
    index_many = _awaited(AbstRAG.index_many)
    documents = _awaited(AbstRAG.documents)
    search = _awaited(AbstRAG.search)
    search_all = _awaited(AbstRAG.search_all)
    explain = _awaited(AbstRAG.explain)
    why_not = _awaited(AbstRAG.why_not)
    support = _awaited(AbstRAG.support)
    support_all = _awaited(AbstRAG.support_all)
    budget = _awaited(AbstRAG.budget)
    ask = _awaited(AbstRAG.ask)
    ask_all = _awaited(AbstRAG.ask_all)
    refine = _awaited(AbstRAG.refine)
    refine_all = _awaited(AbstRAG.refine_all)
    feedback = _awaited(AbstRAG.feedback)

    async def close(self) -> None:
        """Wait for what runs, and let go of the store."""
        await self.run(self.rag.close)
        self._pool.shutdown()

    async def __aenter__(self) -> AsyncAbstRAG:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
