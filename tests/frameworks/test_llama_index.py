import asyncio
from collections.abc import Iterator

import pytest
from llama_index.core import PromptTemplate
from llama_index.core.llms import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.response_synthesizers import get_response_synthesizer
from llama_index.core.schema import MetadataMode, NodeWithScore, TextNode

from abstrag import AbstRAG
from abstrag.integrations.llama_index import AbstragLlamaIndexRetriever, AbstragPostprocessor
from tests.frameworks.ferries import BOUGHT, FERRIES, QUERY, WEATHER, ferry_store


@pytest.fixture(scope="module")
def rag() -> Iterator[AbstRAG]:
    with ferry_store() as made:
        yield made


def test_a_node_carries_score_quote_and_trace(rag: AbstRAG) -> None:
    best = AbstragLlamaIndexRetriever(rag, document="ferries", k=2).retrieve(QUERY)[0]
    assert best.node.get_content() == BOUGHT
    assert best.score == best.node.metadata["relevance"] > 0
    assert best.node.metadata["quote"] == BOUGHT
    assert best.node.metadata["trace"]["literals"]


def test_a_model_is_shown_where_a_passage_stands_and_no_trace(rag: AbstRAG) -> None:
    best = AbstragLlamaIndexRetriever(rag, k=1).retrieve(QUERY)[0].node
    shown = best.get_content(metadata_mode=MetadataMode.LLM)
    assert "document: ferries" in shown
    assert "trace" not in shown
    assert best.get_content(metadata_mode=MetadataMode.EMBED) == BOUGHT


def test_awaited_it_finds_the_same(rag: AbstRAG) -> None:
    retriever = AbstragLlamaIndexRetriever(rag, k=2)
    found = asyncio.run(retriever.aretrieve(QUERY))
    assert [each.node.node_id for each in found] == [
        each.node.node_id for each in retriever.retrieve(QUERY)
    ]


def test_a_query_engine_answers_from_the_evidence(rag: AbstRAG) -> None:
    synthesizer = get_response_synthesizer(
        llm=MockLLM(), text_qa_template=PromptTemplate("{context_str}\n{query_str}")
    )
    engine = RetrieverQueryEngine(
        retriever=AbstragLlamaIndexRetriever(rag, k=1),
        response_synthesizer=synthesizer,
        node_postprocessors=[AbstragPostprocessor(k=1)],
    )
    answer = engine.query(QUERY)
    assert BOUGHT in str(answer)  # the mock model repeats its prompt
    assert [each.node.metadata["document"] for each in answer.source_nodes] == ["ferries"]


def test_the_postprocessor_orders_by_evidence_and_leaves_texts_whole() -> None:
    given = [
        NodeWithScore(node=TextNode(text=WEATHER), score=0.9),
        NodeWithScore(node=TextNode(text=FERRIES), score=0.1),
    ]
    kept = AbstragPostprocessor().postprocess_nodes(given, query_str=QUERY)
    assert kept[0].node.get_content() == FERRIES
    assert kept[0].node.metadata["quote"] == BOUGHT
    assert "quote" not in given[1].node.metadata
    again = asyncio.run(AbstragPostprocessor().apostprocess_nodes(given, query_str=QUERY))
    assert [each.score for each in again] == [each.score for each in kept]
