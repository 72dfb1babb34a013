import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnableLambda, RunnablePassthrough

from abstrag import AbstRAG, Hit
from abstrag.integrations.langchain import AbstragCompressor, AbstragRetriever
from tests.frameworks.ferries import BOUGHT, FERRIES, QUERY, WEATHER, ferry_store


@pytest.fixture(scope="module")
def rag() -> Iterator[AbstRAG]:
    with ferry_store() as made:
        yield made


def test_a_document_carries_score_page_quote_and_trace(rag: AbstRAG) -> None:
    best = AbstragRetriever(rag=rag, document="ferries", k=2).invoke(QUERY)[0]
    assert best.page_content == BOUGHT
    assert best.metadata["quote"] == BOUGHT
    assert best.metadata["score"] == best.metadata["relevance"] > 0
    assert best.metadata["trace"]["literals"]
    assert {each.name for each in fields(Hit)} <= set(best.metadata)


def test_the_framework_gets_what_a_search_finds(rag: AbstRAG) -> None:
    found = AbstragRetriever(rag=rag, document="ferries", k=3).invoke(QUERY)
    assert [each.metadata["segment"] for each in found] == [
        hit.segment for hit in rag.search(QUERY, k=3, document="ferries").hits
    ]


def test_without_a_document_all_documents_are_asked(rag: AbstRAG) -> None:
    found = AbstragRetriever(rag=rag, k=1).invoke("Where did it rain?")
    assert [each.metadata["document"] for each in found] == ["weather"]


def test_a_chain_answers_from_the_evidence(rag: AbstRAG) -> None:
    seen: list[str] = []

    def noted(prompt: object) -> object:
        seen.append(str(prompt))
        return prompt

    retriever = AbstragRetriever(rag=rag, k=1)
    prompt = ChatPromptTemplate.from_template("{evidence}\n\n{question}")
    join = RunnableLambda(lambda found: found[0].page_content)
    model = FakeListChatModel(responses=["Tarn Marine"])
    chain = (
        {"evidence": retriever | join, "question": RunnablePassthrough()} | prompt | noted | model
    )
    assert chain.invoke(QUERY).content == "Tarn Marine"
    assert BOUGHT in seen[0]


def test_eight_threads_and_an_event_loop_get_the_same_from_one_abstrag(rag: AbstRAG) -> None:
    retriever = AbstragRetriever(rag=rag, document="ferries", k=2)
    expected = [each.page_content for each in retriever.invoke(QUERY)]

    async def awaited() -> list[list[Document]]:
        return list(await asyncio.gather(*(retriever.ainvoke(QUERY) for _ in range(8))))

    with ThreadPoolExecutor(8) as threads:
        asked = [threads.submit(retriever.invoke, QUERY) for _ in range(16)]
        found = [*asyncio.run(awaited()), *(each.result() for each in asked)]
    assert len(found) == 24
    assert all([each.page_content for each in one] == expected for one in found)


def test_the_compressor_keeps_the_evidence_and_drops_the_rest() -> None:
    given = [
        Document(page_content=WEATHER, metadata={"source": "weather"}),
        Document(page_content=FERRIES, metadata={"source": "ferries"}),
    ]
    kept = AbstragCompressor(passages=1).compress_documents(given, QUERY)
    assert [each.metadata["source"] for each in kept] == ["ferries"]
    assert kept[0].page_content == BOUGHT
    assert kept[0].metadata["quote"] == BOUGHT
    assert kept[0].metadata["trace"]["literals"]
    assert "quote" not in given[1].metadata


def test_the_compressor_can_be_awaited_and_an_empty_text_is_no_evidence() -> None:
    given = [Document(page_content=" "), Document(page_content=FERRIES)]
    kept = asyncio.run(AbstragCompressor().acompress_documents(given, QUERY))
    assert len(kept) == 1
    assert BOUGHT in kept[0].page_content
