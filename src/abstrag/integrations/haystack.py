"""Haystack: a retriever over documents, and a ranker for what another retriever found.

AbstragHaystackRetriever("library.db", k=5).run(query="Who bought the company?")["documents"]
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

from abstrag.engine.searcher import DEFAULT_K
from abstrag.errors import InputError
from abstrag.integrations.evidence import SearchScope, TextReading, missing, ranked
from abstrag.workspace.facade import AbstRAG

try:
    from haystack import Document, component, default_to_dict
except ImportError as error:
    raise missing("Haystack", "haystack", error) from error


@component
class AbstragHaystackRetriever:
    """Finds evidence in one document, or in all documents of a store.

    The meta of what it returns are all fields of a hit: quote, span, page, section, trace, reading
    and the rest. A pipeline with it can be saved when it was given a store by name.
    """

    def __init__(
        self,
        rag: AbstRAG | str,
        *,
        document: str | None = None,
        folder: str | None = None,
        k: int = DEFAULT_K,
        tau: float | None = None,
    ) -> None:
        """Take an AbstRAG or the name of a store; without a document, all of them are asked."""
        self.rag = AbstRAG(rag) if isinstance(rag, str) else rag
        self._given = rag
        self.scope = SearchScope(document, folder, k=k, tau=tau)

    @component.output_types(documents=list[Document])
    def run(self, query: str, k: int | None = None) -> dict[str, list[Document]]:
        """Return the evidence for a question or a claim, best first."""
        scope = self.scope if k is None else replace(self.scope, k=k)
        found = scope.find(self.rag, query)
        return {
            "documents": [
                Document(id=each.id, content=each.text, meta=each.metadata, score=each.score)
                for each in found
            ]
        }

    @component.output_types(documents=list[Document])
    async def run_async(self, query: str, k: int | None = None) -> dict[str, list[Document]]:
        """Do the same in a thread, while the event loop goes on."""
        return await asyncio.to_thread(self.run, query, k)

    def to_dict(self) -> dict[str, Any]:
        """Return what Haystack writes into a file of a pipeline."""
        if not isinstance(self._given, str):
            raise InputError(
                "an AbstRAG that is open cannot be written into a file",
                hint="give the retriever the name of its store instead",
            )
        scope = self.scope
        made: dict[str, Any] = default_to_dict(
            self,
            rag=self._given,
            document=scope.document,
            folder=scope.folder,
            k=scope.k,
            tau=scope.tau,
        )
        return made


@component
class AbstragRanker:
    """Orders documents by the evidence they hold for the query, and drops those without any.

    Contents stay whole; the passages that are evidence are in the meta, with quote and trace. Each
    text is read by itself; nothing is kept of it.
    """

    def __init__(
        self,
        *,
        k: int = DEFAULT_K,
        passages: int = 3,
        tau: float | None = None,
        preset: str | None = None,
        background: str | Path | None = None,
    ) -> None:
        """Take how many documents are kept, how many passages of each, and how they are read."""
        self.k = k
        self.passages = passages
        self._options = {
            "tau": tau,
            "preset": preset,
            "background": None if background is None else str(background),
        }
        self._reading = TextReading.of(tau=tau, preset=preset, background=background)

    @component.output_types(documents=list[Document])
    def run(
        self, query: str, documents: list[Document], k: int | None = None
    ) -> dict[str, list[Document]]:
        """Return the documents that hold evidence, best first."""
        texts = [document.content or "" for document in documents]
        kept = ranked(texts, query, self._reading, k=k or self.k, passages=self.passages)
        return {
            "documents": [
                replace(
                    documents[each.position],
                    score=each.score,
                    meta={**documents[each.position].meta, **each.metadata},
                )
                for each in kept
            ]
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what Haystack writes into a file of a pipeline."""
        made: dict[str, Any] = default_to_dict(
            self, k=self.k, passages=self.passages, **self._options
        )
        return made
