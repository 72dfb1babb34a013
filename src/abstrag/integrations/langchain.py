"""LangChain: a retriever over documents, and a compressor for what another retriever found.

AbstragRetriever(rag=AbstRAG("library.db"), k=5).invoke("Who bought the company?")
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from abstrag.collection.filters import Filters
from abstrag.engine.searcher import DEFAULT_K
from abstrag.integrations.evidence import SearchScope, TextReading, missing, ranked, shown_text
from abstrag.workspace.facade import AbstRAG

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun, Callbacks
    from langchain_core.documents import BaseDocumentCompressor, Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise missing("LangChain", "langchain", error) from error


class AbstragRetriever(BaseRetriever):
    """Finds evidence in one document, or in all documents of a store.

    The metadata of what it returns are all fields of a hit: quote, span, page, section, trace,
    reading and the rest; and the score. `ainvoke` asks in a thread.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    rag: AbstRAG
    document: str | None = None  # None: all documents of the store
    folder: str | Path | None = None
    filters: Filters | None = None
    k: int = Field(DEFAULT_K, ge=1)
    tau: float | None = None

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun | None = None
    ) -> list[Document]:
        del run_manager  # nothing is reported on the way
        scope = SearchScope(self.document, self.folder, self.filters, self.k, self.tau)
        return [
            Document(id=each.id, page_content=each.text, metadata=each.metadata)
            for each in scope.find(self.rag, query)
        ]


class AbstragCompressor(BaseDocumentCompressor):
    """Keeps of each document the passages that are evidence for the query, best document first.

    Documents without any are dropped. Each text is read by itself; nothing is kept of it.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    k: int = Field(DEFAULT_K, ge=1)  # documents
    passages: int = Field(3, ge=1)  # of each document
    tau: float | None = None
    preset: str | None = None
    background: Any = None  # a Background, or the path of one

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the documents that hold evidence, each cut down to it in the order of its text."""
        del callbacks  # nothing is reported on the way
        reading = TextReading.of(tau=self.tau, preset=self.preset, background=self.background)
        texts = [document.page_content for document in documents]
        return [
            Document(
                id=documents[each.position].id,
                page_content="\n".join(
                    map(shown_text, sorted(each.hits, key=lambda hit: hit.position))
                ),
                metadata={**documents[each.position].metadata, **each.metadata},
            )
            for each in ranked(texts, query, reading, k=self.k, passages=self.passages)
        ]
