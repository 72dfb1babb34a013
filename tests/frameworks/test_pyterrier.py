from collections.abc import Iterator
from typing import Any

import pandas as pd
import pyterrier as pt
import pytest

from abstrag import AbstRAG
from abstrag.integrations.pyterrier import AbstragReranker, AbstragTransformer
from tests.frameworks.ferries import BOUGHT, FERRIES, QUERY, WEATHER, ferry_store


@pytest.fixture(scope="module")
def rag() -> Iterator[AbstRAG]:
    with ferry_store() as made:
        yield made


QUERIES = pd.DataFrame([["1", QUERY], ["2", "Where did it rain?"]], columns=["qid", "query"])


def test_queries_become_results_with_quote_and_trace(rag: AbstRAG) -> None:
    found = AbstragTransformer(rag, k=1).transform(QUERIES)
    assert list(found["qid"]) == ["1", "2"]
    assert list(found["document"]) == ["ferries", "weather"]
    first = found.iloc[0]
    assert first["docno"] == f"ferries:{first['segment']}"
    assert (first["rank"], first["quote"], first["query"]) == (0, BOUGHT, QUERY)
    assert first["trace"]["literals"]
    assert first["score"] > 0


def test_a_pipeline_cuts_and_reranks_and_java_is_never_started(rag: AbstRAG) -> None:
    best_two: Any = AbstragTransformer(rag, k=5) % 2
    pipeline = best_two >> AbstragReranker(k=1)
    found = pipeline.search(QUERY)
    assert list(found["text"]) == [BOUGHT]
    assert not pt.java.started()


def test_an_experiment_measures_it(rag: AbstRAG) -> None:
    best = AbstragTransformer(rag, k=1).search(QUERY).iloc[0]["docno"]
    qrels = pd.DataFrame([["1", best, 1]], columns=["qid", "docno", "label"])
    table = pt.Experiment([AbstragTransformer(rag)], QUERIES[:1], qrels, ["recip_rank"])
    assert list(table["recip_rank"]) == [1.0]


def test_pyterrier_can_tell_the_columns_without_asking(rag: AbstRAG) -> None:
    columns = pt.inspect.transformer_outputs(AbstragTransformer(rag), ["qid", "query"])
    assert {"docno", "score", "rank", "quote", "trace"} <= set(columns)


def test_the_reranker_orders_by_evidence() -> None:
    given = pd.DataFrame(
        [["1", QUERY, "w", WEATHER, 2.0, 0], ["1", QUERY, "f", FERRIES, 1.0, 1]],
        columns=["qid", "query", "docno", "text", "score", "rank"],
    )
    found = AbstragReranker().transform(given)
    assert found.iloc[0]["docno"] == "f"
    assert found.iloc[0]["quote"] == BOUGHT
