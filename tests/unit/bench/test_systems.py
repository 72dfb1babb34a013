"""AbstRAG and its ablations behind the protocol of the baselines."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import InputError
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Ranking
from abstrag.search.query.operators import OPERATORS
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import (
    UNIFORM_WEIGHT,
    AbstragSystem,
    SharedIndexer,
    ablations,
    build_variant,
    to_document,
    uniform_edge,
    without_context,
)
from abstrag_bench.baselines.system import Element, ElementKind, Explained, Pool
from abstrag_bench.case import Dataset
from abstrag_bench.runner import Bench, ScoringUnit, run
from abstrag_bench.systems import Builder, SystemSpec, ranges_of, system_names
from tests.unit.bench.makers import make_cases

POOL = Pool(
    "page",
    "Acme Corporation",
    (
        Element("s0", "Acme Corporation opened a factory in Lyon in 2019.", ElementKind.SENTENCE),
        Element("s1", "The weather was fine.", ElementKind.SENTENCE),
        Element("c1", "42 million", ElementKind.TABLE_CELL, headers=("Revenue", "2020")),
        Element("s2", "The automobile was sold. Nobody knew to whom.", ElementKind.SENTENCE),
    ),
)


@pytest.fixture(scope="module")
def build() -> Builder:
    return Builder(keep=4)


@pytest.fixture(scope="module")
def made() -> DocumentIndex:
    return SharedIndexer()(POOL)[1]


def test_ids_of_elements_come_back_with_the_trace_of_the_best(build: Builder) -> None:
    system = build(SystemSpec.of("abstrag"))
    assert isinstance(system, Explained)
    system.index(POOL)
    ranked, told = system.search_explained("factory in Lyon", 3)
    assert ranked[0][0] == "s0"
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert told["bridge_cost"] == 0.0
    assert told["clause"] == ()
    assert told["tau"] == 1.5
    assert told["utility"] > 0
    assert len(told["details"]["gap"]) == len(ranked)


QUERIES = ("factory in Lyon", "revenue", "Who sold the car?", "Did Acme open anything in 2019?")


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    with Workspace(WorkspaceConfig(store=":memory:")) as opened:
        yield opened


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("name", ["abstrag", "abstrag@fast", "abstrag-exact", "abstrag-no-alias"])
def test_what_is_shown_is_what_a_user_of_the_workspace_gets(
    build: Builder, made: DocumentIndex, workspace: Workspace, name: str, query: str
) -> None:
    system = build(SystemSpec.of(name))
    assert isinstance(system, AbstragSystem)
    system.index(POOL)
    ranked, told = system.search_explained(query, 10)
    options = SearchOptions(preset=system.preset, without=system.without)
    hits = workspace.document(made, options).search(query).hits
    of = to_document(POOL).element_ids(made)
    assert told["hits"] == tuple(of[hit.position] for hit in hits)
    assert told["retrieved"] == len(hits)
    scores = dict(ranked)
    assert all(scores[of[hit.position]] == hit.relevance for hit in hits)


def test_ranks_are_all_segments_by_score_and_hits_keep_their_order_among_them(
    build: Builder,
) -> None:
    system = build(SystemSpec.of("abstrag"))
    assert isinstance(system, AbstragSystem)
    system.index(POOL)
    query = "factory in Lyon"
    ranked, told = system.search_explained(query, 10)
    every = [POOL.elements[h.position].id for h in system.document.search(query, fill=True).hits]
    assert [name for name, _ in ranked] == every
    assert 0 < len(told["hits"]) < len(POOL.elements)
    assert [name for name in every if name in told["hits"]] == list(told["hits"])
    assert len(told["details"]["gap"]) == len(ranked) == len(POOL.elements)


def test_a_record_says_how_many_of_its_ranks_are_shown() -> None:
    case = replace(make_cases(1)[0], document=POOL, query="factory in Lyon", gold=("s0",))
    spec = SystemSpec.of("abstrag")
    bench = Bench([spec])
    (record,) = bench.score(ScoringUnit({"abstrag": [case]}, 10))
    assert record.retrieved == len(record.shown) < len(record.ranked) == 4
    assert record.shown[0] == "s0"
    assert bench.info(spec).tells_shown
    (plain,) = Bench([SystemSpec.of("bm25")]).score(ScoringUnit({"bm25": [case]}, 10))
    assert plain.retrieved == 4


def test_an_element_of_several_segments_is_ranked_and_shown_once(build: Builder) -> None:
    long = " ".join(f"The factory in Lyon made {n} cars." for n in range(2, 5))
    texts = (long, "The weather was fine.", "A factory in Lyon closed.", "Lyon has a factory.")
    elements = tuple(Element(str(i), t, ElementKind.PARAGRAPH) for i, t in enumerate(texts))
    pool = Pool("long", "Notes", elements, granularity=type(POOL.granularity).SENTENCE)
    system = build(SystemSpec.of("abstrag"))
    assert isinstance(system, AbstragSystem)
    system.index(pool)
    assert len(system.document.index.segments) > len(texts) == 4
    ranked, told = system.search_explained("factory in Lyon", 3)
    three = system.document.search("factory in Lyon", k=3).hits
    of = to_document(pool).element_ids(system.document.index)
    assert told["hits"] == tuple(dict.fromkeys(of[hit.position] for hit in three))
    assert told["retrieved"] == len(told["hits"]) < 3
    assert len({name for name, _ in ranked}) == len(ranked) == 3


def test_seconds_are_those_of_the_search_a_user_makes(
    build: Builder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from abstrag_bench import abstrag_system

    system = build(SystemSpec.of("abstrag"))
    assert isinstance(system, AbstragSystem)
    system.index(POOL)
    now = 0.0
    asked: list[bool] = []
    original = SearchableDocument.search

    def search(document: SearchableDocument, query: str, **options: Any) -> Ranking:
        nonlocal now
        now += 5.0
        asked.append(bool(options.get("fill")))
        return original(document, query, **options)

    monkeypatch.setattr(SearchableDocument, "search", search)
    monkeypatch.setattr(abstrag_system, "perf_counter", lambda: now)
    _, told = system.search_explained("factory in Lyon", 10)
    assert asked == [False, True]
    assert told["seconds"] == 5.0


def test_what_models_said_about_a_document_goes_when_it_is_dropped() -> None:
    indexer = SharedIndexer(keep=2)
    system = AbstragSystem(indexer=indexer)
    said = []
    for number in range(4):
        pool = replace(POOL, id=f"p{number}", title=f"Title {number}")
        system.index(pool)
        system.search("factory in Lyon", 3)
        said.append(system.document.index.document.content_hash)
    kept = [bool(indexer.workspace.store.remembered("judgements", one)) for one in said]
    assert kept == [False, False, True, True]


def test_a_cell_is_found_by_its_headers(build: Builder) -> None:
    system = build(SystemSpec.of("abstrag"))
    system.index(POOL)
    assert system.search("revenue", 1)[0][0] == "c1"


def test_an_element_of_two_segments_is_ranked_once(build: Builder) -> None:
    finer = replace(POOL, id="finer", granularity=type(POOL.granularity).ELEMENT)
    system = build(SystemSpec.of("abstrag"))
    system.index(finer)
    names = [name for name, _ in system.search("Who knew that the automobile was sold?", 4)]
    assert names.count("s2") == 1


def test_there_is_an_ablation_for_every_operator_and_every_factor() -> None:
    names = set(ablations())
    assert {f"abstrag-no-{operator}" for operator in OPERATORS} <= names
    assert {
        "abstrag-no-utility",
        "abstrag-no-gap",
        "abstrag-uniform",
        "abstrag-no-context",
    } <= names
    assert "abstrag@paper" in system_names()


def test_an_ablation_takes_out_what_it_says() -> None:
    variants = {name: build_variant(name, name, {}, SharedIndexer()) for name in ablations()}
    assert variants["abstrag-no-utility"].preset.utility_power == 0
    assert variants["abstrag-no-gap"].preset.gap_rate == 0
    assert variants["abstrag-no-event"].without == {"event"}
    assert not variants["abstrag-no-context"].lifting
    assert variants["abstrag-uniform"].uniform
    assert len({one.fidelity for one in variants.values()}) == len(variants)


def test_without_lifting_no_segment_has_a_context(made: DocumentIndex) -> None:
    assert any(list(record.context.values()) for record in made.records)
    bare = without_context(made)
    assert not any(list(record.context.values()) for record in bare.records)


def test_in_the_uniform_variant_every_costed_edge_weighs_the_same(
    build: Builder, made: DocumentIndex
) -> None:
    for edge in made.map.edges:
        changed = uniform_edge(edge)
        assert changed.cost == 0 if edge.truth_preserving else changed.weight == UNIFORM_WEIGHT
    assert pytest.approx(0.70) == UNIFORM_WEIGHT
    system = build(SystemSpec.of("abstrag-uniform"))
    system.index(POOL)
    assert system.search("car", 4)[0][0] == "s2"  # over a synonym offered only while searching


def test_tuned_numbers_reach_the_preset_and_the_budget(build: Builder) -> None:
    spec = SystemSpec("mine", "abstrag", {"tau": 0.5, "utility_power": 0.25})
    system = build(spec)
    assert isinstance(system, AbstragSystem)
    assert (system.name, system.tau, system.preset.utility_power) == ("mine", 0.5, 0.25)
    assert set(ranges_of("abstrag")) >= {"tau", "utility_power", "gap_rate"}
    assert ranges_of("nobody") == {}


def test_variants_share_one_index_of_a_document(monkeypatch: pytest.MonkeyPatch) -> None:
    from abstrag_bench import abstrag_system

    made: list[str] = []
    original = abstrag_system.index  # type: ignore[attr-defined]

    def counting(document, **options):  # type: ignore[no-untyped-def]
        made.append(document.id)
        return original(document, **options)

    monkeypatch.setattr(abstrag_system, "index", counting)
    specs = [SystemSpec.of(name) for name in ("abstrag", "abstrag-no-gap", "abstrag-no-time")]
    cases = make_cases(1)[:2]
    records = Bench(specs).score(ScoringUnit({spec.name: cases for spec in specs}, 10))
    assert made == ["d0"]
    assert len(records) == 6
    assert [r.error for r in records] == [None] * 6


def test_a_run_is_not_continued_when_our_numbers_have_changed(tmp_path: Path) -> None:
    dataset = Dataset("plain", "dev", make_cases(1)[:2])
    spec = SystemSpec.of("abstrag")
    run(dataset, [spec], tmp_path)
    run(dataset, [spec], tmp_path)
    with pytest.raises(InputError, match="begun with 'abstrag' as another system"):
        run(dataset, [SystemSpec("abstrag", "abstrag", {"gap_rate": 0.5})], tmp_path)
    states = [build_variant(name, name, {}, SharedIndexer()).state for name in ablations()]
    assert len(set(states)) == len(states)


def test_a_system_nobody_knows_is_named_with_those_there_are(build: Builder) -> None:
    for name in ("bm26", "abstrag@best", "abstrag-no-nothing"):
        with pytest.raises(InputError, match=f"no system is called '{name}'") as caught:
            build(SystemSpec.of(name))
        assert "abstrag" in str(caught.value.hint)
