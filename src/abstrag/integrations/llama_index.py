"""LlamaIndex: a retriever over documents, and a postprocessor for what another retriever found.

AbstragLlamaIndexRetriever(AbstRAG("library.db"), k=5).retrieve("Who bought the company?")
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from pydantic import Field

from abstrag.collection.filters import Filters
from abstrag.engine.searcher import DEFAULT_K
from abstrag.integrations.evidence import (
    SHOWN_TO_MODELS,
    RetrievedPassage,
    SearchScope,
    TextReading,
    missing,
    ranked,
)
from abstrag.workspace.facade import AbstRAG

try:
    from llama_index.core.postprocessor.types import BaseNodePostprocessor
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise missing("LlamaIndex", "llama-index", error) from error


class AbstragLlamaIndexRetriever(BaseRetriever):
    """Finds evidence in one document, or in all documents of a store.

    The metadata of a node are all fields of a hit: quote, span, page, section, trace, reading and
    the rest; a language model is shown document, title, section and page. `aretrieve` asks in a
    thread.
    """

    def __init__(
        self,
        rag: AbstRAG,
        *,
        document: str | None = None,
        folder: str | Path | None = None,
        filters: Filters | None = None,
        k: int = DEFAULT_K,
        tau: float | None = None,
        **options: Any,
    ) -> None:
        """Take what is asked; without a document, all documents of the store.

        `options` are those of LlamaIndex's `BaseRetriever`.
        """
        super().__init__(**options)
        self.rag = rag
        self.scope = SearchScope(document, folder, filters, k, tau)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return [_node(each) for each in self.scope.find(self.rag, query_bundle.query_str)]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


class AbstragPostprocessor(BaseNodePostprocessor):
    """Orders nodes by the evidence they hold for the query, and drops those without any.

    Texts stay whole; the passages that are evidence are in the metadata, with quote and trace. Each
    text is read by itself; nothing is kept of it.
    """

    k: int = Field(default=DEFAULT_K, ge=1)  # nodes
    passages: int = Field(default=3, ge=1)  # of each node
    tau: float | None = None
    preset: str | None = None
    background: Any = None  # a Background, or the path of one

    def _postprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        if query_bundle is None:
            return nodes
        reading = TextReading.of(tau=self.tau, preset=self.preset, background=self.background)
        texts = [each.node.get_content() for each in nodes]
        kept = ranked(texts, query_bundle.query_str, reading, k=self.k, passages=self.passages)
        return [_scored(nodes[each.position], each.score, each.metadata) for each in kept]

    async def _apostprocess_nodes(
        self, nodes: list[NodeWithScore], query_bundle: QueryBundle | None = None
    ) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._postprocess_nodes, nodes, query_bundle)


def _node(passage: RetrievedPassage) -> NodeWithScore:
    hidden = [name for name in passage.metadata if name not in SHOWN_TO_MODELS]
    node = TextNode(
        id_=passage.id,
        text=passage.text,
        metadata=passage.metadata,
        excluded_llm_metadata_keys=hidden,
        excluded_embed_metadata_keys=list(passage.metadata),
    )
    return NodeWithScore(node=node, score=passage.score)


def _scored(given: NodeWithScore, score: float, metadata: dict[str, Any]) -> NodeWithScore:
    node = given.node.model_copy(deep=True)
    node.metadata.update(metadata)
    node.excluded_llm_metadata_keys = [*node.excluded_llm_metadata_keys, *metadata]
    node.excluded_embed_metadata_keys = [*node.excluded_embed_metadata_keys, *metadata]
    return NodeWithScore(node=node, score=score)
