import asyncio
from pathlib import Path

import pytest
from haystack import Document, Pipeline
from haystack.components.builders import PromptBuilder

from abstrag.errors import InputError
from abstrag.integrations.haystack import AbstragHaystackRetriever, AbstragRanker
from tests.frameworks.ferries import BOUGHT, FERRIES, QUERY, WEATHER, ferry_store

MODULE = "abstrag.integrations.haystack"  # who reads a file says what it may load
TEMPLATE = "{% for each in documents %}{{ each.content }}{% endfor %}"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("store") / "library.db"
    ferry_store(str(path)).close()
    return str(path)


def pipeline(store: str) -> Pipeline:
    made = Pipeline()
    made.add_component("retriever", AbstragHaystackRetriever(store, k=1))
    made.add_component("prompt", PromptBuilder(TEMPLATE, required_variables=["documents"]))
    made.connect("retriever.documents", "prompt.documents")
    return made


def test_a_pipeline_builds_its_prompt_from_the_evidence(store: str) -> None:
    made = pipeline(store).run({"retriever": {"query": QUERY}}, {"retriever"})
    best = made["retriever"]["documents"][0]
    assert made["prompt"]["prompt"] == best.content == BOUGHT
    assert best.meta["quote"] == BOUGHT
    assert best.meta["trace"]["literals"]
    assert best.score == best.meta["score"] > 0


def test_a_pipeline_is_saved_and_read_back(store: str) -> None:
    again = Pipeline.loads(pipeline(store).dumps(), allowed_modules=[MODULE])
    assert again.run({"retriever": {"query": QUERY}})["prompt"]["prompt"] == BOUGHT


def test_an_open_abstrag_is_not_written_into_a_file() -> None:
    with ferry_store() as rag, pytest.raises(InputError, match="cannot be written into a file"):
        AbstragHaystackRetriever(rag).to_dict()


def test_awaited_it_finds_the_same(store: str) -> None:
    retriever = AbstragHaystackRetriever(store, document="ferries")
    found = asyncio.run(retriever.run_async(QUERY, 2))["documents"]
    assert [each.id for each in found] == [each.id for each in retriever.run(QUERY, 2)["documents"]]


def test_the_ranker_orders_by_evidence_and_leaves_contents_whole() -> None:
    given = [Document(content=WEATHER), Document(content=FERRIES)]
    ranker = Pipeline.loads(_alone(AbstragRanker(k=1)), allowed_modules=[MODULE])
    kept = ranker.run({"ranker": {"query": QUERY, "documents": given}})["ranker"]["documents"]
    assert [each.content for each in kept] == [FERRIES]
    assert kept[0].meta["quote"] == BOUGHT
    assert given[1].meta == {}


def _alone(ranker: AbstragRanker) -> str:
    made = Pipeline()
    made.add_component("ranker", ranker)
    return str(made.dumps())
