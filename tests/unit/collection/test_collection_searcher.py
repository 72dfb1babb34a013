"""One question over many documents ranks as each document by itself would, and says more."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from abstrag.collection.filters import Filters
from abstrag.collection.results import CollectionRanking
from abstrag.collection.searcher import CollectionSearcher
from abstrag.engine.searcher import Searcher
from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag.model.record import from_json, to_json
from abstrag.search.relevance import AGGREGATIONS, FAST, GENERAL, SMOOTH, Preset
from abstrag.stores.open import open_store
from abstrag.stores.protocol import DocumentInfo, Store
from tests.unit.collection.small_library import (
    TEXTS,
    Counted,
    Topics,
    fill,
    indexed,
    indexes,
    put,
    searcher,
)

QUERIES = (
    "Who visited the fabrication division?",
    "Mercury is toxic",
    "ships passing the lock at dawn",
    "How long does a puppy sleep?",
    "Mercury and its craters in 2023",
)
JUDGED = Preset("judged", judge_weight=1.0, judged=None)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with open_store(tmp_path_factory.mktemp("many") / "library.db") as store:
        yield fill(store)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "library.db") as opened:
        yield opened


def names(ranking: CollectionRanking) -> list[tuple[str, str]]:
    return [(found.hit.document, found.hit.segment) for found in ranking.hits]


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("preset", [FAST, SMOOTH], ids=lambda p: p.name)
def test_with_everything_shortlisted_hits_are_the_merged_rankings(
    library: Store, preset: Preset, query: str
) -> None:
    many = searcher(library, preset, shortlist=99, prior_power=0.0)
    found = many.search(query, k=99)
    order = {d.document: d.rank for d in found.documents}
    merged = [
        (-hit.relevance, order[name], hit.position, hit)
        for name in order
        for hit in Searcher(indexes()[name], preset=preset).search(query, k=99).hits
    ]
    merged.sort(key=lambda each: each[:3])
    assert [each.hit for each in found.hits] == [hit for *_, hit in merged]
    assert found.hits


@pytest.mark.parametrize("query", QUERIES)
def test_a_hit_counts_for_as_much_as_its_document(library: Store, query: str) -> None:
    found = searcher(library, shortlist=99, prior_power=2.0).search(query, k=99)
    best = max(document.prior for document in found.documents)
    for each in found.hits:
        assert each.score == pytest.approx(each.hit.relevance * (each.prior / best) ** 2)
    scores = [each.score for each in found.hits]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("query", QUERIES)
def test_documents_are_scored_by_the_three_aggregations(library: Store, query: str) -> None:
    found = searcher(library, shortlist=99, prior_power=0.0).search(query)
    for document in found.documents:
        alone = Searcher(indexes()[document.document], preset=FAST)
        for aggregation in AGGREGATIONS:
            expected = alone.document_score(query, aggregation=aggregation)
            assert getattr(document, aggregation) == pytest.approx(expected)
    scores = [document.score for document in found.documents]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize("preset", [JUDGED, replace(GENERAL, judged=None)], ids=lambda p: p.name)
def test_exact_judging_is_judging_everything(library: Store, preset: Preset) -> None:
    judge = Counted("lock")
    many = searcher(library, preset, shortlist=99, judge=judge)
    found = many.search("ships passing the lock at dawn", k=2)
    everything = sum(len(index.records) for index in indexes().values())
    assert found.judgements == len(judge.asked)
    assert found.judgements + found.judgements_avoided <= everything
    all_of_it = searcher(library, preset, shortlist=99, judge=Counted("lock"))
    assert names(all_of_it.search("ships passing the lock at dawn", k=99))[:2] == names(found)
    assert all("lock" in each.hit.text for each in found.hits)


def test_a_judge_that_reads_little_reads_the_likeliest_of_all_documents(library: Store) -> None:
    judge = Counted("lock")
    few = replace(JUDGED, judged=1)  # a paragraph's worth: four sentences
    found = searcher(library, few, shortlist=99, judge=judge).search("the lock at dawn", k=9)
    assert len(judge.asked) == found.judgements == 4
    assert found.hits[0].hit.judgement == 0.9
    assert found.hits[0].hit.document == "harbour"


def test_the_judge_reads_six_paragraphs_of_all_documents(store: Store) -> None:
    for name in ("north", "south", "west"):
        own = "".join(f"Boat {i} of the {name} waits at the lock. " for i in range(14))
        put(store, indexed(name, f"# The {name} harbour\n\n{own}\n"), f"/library/{name}.md")
    judge = Counted("nothing at all")
    found = searcher(store, GENERAL, judge=judge).search("boats that wait at the lock")
    sentences = 4 * 6  # short ones; four of them cost as much as a paragraph
    assert sentences < 3 * 14
    assert len(judge.asked) == found.judgements == sentences


def test_documents_are_ordered_by_their_own_score_and_the_judge(store: Store) -> None:
    texts = {"said": "The sluice is shut at noon.", "told": "At noon the lock is shut."}
    for name, text in texts.items():
        put(store, indexed(name, f"# Water\n\n{text} Rain falls.\n"), f"/library/{name}.md")
    scores = {}
    for word in ("sluice", "lock"):
        many = searcher(store, GENERAL, judge=Counted(word))
        found = many.search("Is it shut at noon?").documents
        best = max(document.prior for document in found)
        for document in found:
            said = 0.9 if word in texts[document.document] else 0.1
            own = (document.prior / best) ** 72
            assert document.score == pytest.approx(said**3 * own, rel=1e-4)
        scores[word] = {document.document: document.score for document in found}
    assert scores["sluice"]["said"] > scores["lock"]["said"]
    assert scores["lock"]["told"] > scores["sluice"]["told"]


def test_a_document_of_which_nothing_can_be_a_hit_comes_last_without_a_score(
    store: Store,
) -> None:
    for name, text in (("near", "Boats wait at the lock."), ("far", "# Lock\n\nRain falls.")):
        put(store, indexed(name, f"{text}\n"), f"/library/{name}.md")
    found = searcher(store, SMOOTH).search("boats at the lock").documents
    assert [document.document for document in found] == ["near", "far"]
    assert found[0].score > found[1].score == 0


def test_hits_name_document_page_quote_and_trace(library: Store) -> None:
    found = searcher(library).search("Who visited the fabrication division?", k=1).hits[0]
    assert (found.hit.document, found.title) == ("visit", "Visit to Hsinchu")
    text = indexes()["visit"].document.text
    assert text[found.hit.span.start : found.hit.span.end] == found.hit.quote
    assert any(literal.met for literal in found.hit.trace.literals)


def test_documents_of_one_title_are_told_apart(library: Store) -> None:
    found = searcher(library).search("Mercury is toxic to nerves", k=3)
    assert found.hits[0].hit.document == "metal"
    assert {d.document for d in found.documents if d.title == "Mercury"} == {"planet", "metal"}


def test_two_documents_of_one_text_are_one_hit_that_names_both(store: Store) -> None:
    fill(store, "visit", "metal")
    other = put(store, indexes()["visit"], "/copies/visit.md")
    assert other != "visit"
    found = searcher(store).search("Who visited the fabrication division?", k=9)
    first = found.hits[0]
    assert {first.hit.document, *first.also} == {"visit", other}
    assert len({(h.hit.quote) for h in found.hits}) == len(found.hits)


def test_filters_leave_documents_out(library: Store) -> None:
    many = searcher(library)
    found = many.search("Mercury", filters=Filters(source="/other"))
    assert {each.hit.document for each in found.hits} == {"metal"}
    assert (found.passed, found.collection) == (1, len(TEXTS))
    none = many.search("Mercury", filters=Filters(genre=Genre.LEGAL))
    assert (none.hits, none.documents, none.passed) == ((), (), 0)


def test_an_empty_store_has_no_hits(store: Store) -> None:
    found = searcher(store).search("Who visited TSMC?")
    assert (found.hits, found.documents, found.collection) == ((), (), 0)


def test_removed_and_changed_documents_are_seen_after_a_reload(store: Store) -> None:
    fill(store)
    many = searcher(store)
    query = "Who visited the fabrication division?"
    assert many.search(query).hits[0].hit.document == "visit"
    store.remove("visit")
    changed = TEXTS["metal"].replace("Old", "The head of fabrication was visited. Old")
    put(store, indexed("metal", changed), "/other/metal.md")
    many.reload()
    found = many.search(query)
    assert "visit" not in {d.document for d in found.documents}
    assert found.hits[0].hit.quote == "The head of fabrication was visited."


def test_an_empty_query_is_refused(library: Store) -> None:
    with pytest.raises(InputError, match="empty"):
        searcher(library).search(" ")


def test_words_that_one_document_knows_lose_no_other(store: Store) -> None:
    fill(store, "visit")
    put(store, indexed("berlin", "# Берлин\n\nКанцлер открыл выставку в Берлине.\n"), "/b.md")
    assert searcher(store).search("Канцлер").hits[0].hit.document == "berlin"


def test_an_error_in_one_document_is_not_taken_for_nothing_found(
    library: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scoring(*_: object, **__: object) -> None:
        raise InputError("a patch of the policy cannot be read")

    monkeypatch.setattr(Searcher, "scoring", scoring)
    with pytest.raises(InputError, match="policy"):
        searcher(library).search("the council paid for a lock")


def test_a_shortlist_or_k_of_nothing_is_refused(library: Store) -> None:
    with pytest.raises(InputError):
        searcher(library, shortlist=0)
    with pytest.raises(InputError):
        searcher(library).search("Mercury", k=0)


def test_only_the_shortlist_is_opened(library: Store) -> None:
    opened: list[str] = []

    def note(info: DocumentInfo) -> Searcher:
        searching = Searcher(library.get(info.id), preset=FAST)
        opened.append(searching.index.document.id)
        return searching

    many = CollectionSearcher(
        library, preset=FAST, encoder=Topics(), shortlist=2, open_document=note
    )
    found = many.search("Mercury is a planet")
    assert sorted(opened) == ["metal", "planet"]
    many.search("Mercury is a metal")
    assert len(opened) == 2  # and stays open
    assert len(found.documents) == 2


def test_a_ranking_goes_through_json(library: Store) -> None:
    found = searcher(library).search("Mercury", filters=Filters(since="2001", until="2030"))
    assert from_json(CollectionRanking, to_json(found)) == found


def test_explain_and_standing_name_one_document(library: Store) -> None:
    many = searcher(library)
    hit = many.search("Mercury poisons", k=1).hits[0].hit
    assert many.explain("Mercury poisons", "metal", hit.segment) == hit
    ranks = {each.rank for each in many.standing("Mercury poisons", "metal")}
    assert ranks == {1}


@pytest.mark.parametrize("judged", [1, 3, None])
@pytest.mark.parametrize("query", QUERIES)
def test_explaining_a_hit_gives_the_hit(library: Store, query: str, judged: int | None) -> None:
    # the judge reads a few segments of all documents together, fewer than of each by itself
    many = searcher(library, judge=Counted("lock"), preset=replace(GENERAL, judged=judged))
    for found in many.search(query, k=12).hits:
        assert many.explain(query, found.hit.document, found.hit.segment) == found.hit
