"""What the sources say of documents, and how a shortlist is made of it."""

from collections.abc import Iterator
from pathlib import Path

import bm25s
import numpy as np
import pytest

from abstrag.collection.card_table import K1, B, CardTable, ShortlistSource
from abstrag.collection.cards import all_cards
from abstrag.collection.filters import Filters
from abstrag.collection.postings import CollectionPostings
from abstrag.collection.shortlist import Shortlist
from abstrag.search.lexical import words
from abstrag.stores.open import open_store
from tests.unit.collection.small_library import TEXTS, Topics, fill, indexes, put


@pytest.fixture(scope="module")
def card_table(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CardTable]:
    with open_store(tmp_path_factory.mktemp("shelf") / "library.db") as store:
        yield CardTable.of(all_cards(fill(store), encoder=Topics()))


def best(card_table: CardTable, scores: np.ndarray) -> str:
    assert np.count_nonzero(scores == scores.max()) == 1
    return card_table.documents[int(scores.argmax())].id


def typed_scores(card_table: CardTable, text: str) -> np.ndarray:
    return card_table.vocabulary.scores(card_table.query(text))


def shortlist(
    card_table: CardTable, text: str, filters: Filters | None = None, size: int = 5
) -> Shortlist:
    return Shortlist.of(card_table, text, encoder=Topics(), filters=filters or Filters(), size=size)


def test_postings_hold_what_the_rows_hold() -> None:
    random = np.random.default_rng(3)
    rows = [np.unique(random.integers(0, 40, size=9).astype(np.uint64)) for _ in range(30)]
    values = [random.integers(0, 255, size=len(row)).astype(np.uint8) for row in rows]
    made = CollectionPostings.of(rows, values)
    for wanted in range(45):
        expected = [
            (i, int(value))
            for i, (row, own) in enumerate(zip(rows, values, strict=True))
            for key, value in zip(row, own, strict=True)
            if key == wanted
        ]
        found = zip(*(part.tolist() for part in made.column(wanted)), strict=True)
        assert list(found) == expected
        assert (wanted in made) == bool(expected)


def test_a_shelf_that_is_sorted_in_parts_and_files_is_the_same(
    card_table: CardTable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {name: array.tolist() for name, array in card_table.arrays.items()}
    monkeypatch.setattr("abstrag.collection.postings._SORTED", 50)
    monkeypatch.setattr("abstrag.files._HELD", 100)
    with open_store(tmp_path / "library.db") as store:
        made = CardTable.of(all_cards(fill(store), encoder=Topics()), folder=tmp_path)
        assert any(isinstance(array, np.memmap) for array in made.arrays.values())
        assert {name: array.tolist() for name, array in made.arrays.items()} == wanted
        kinds = {name: array.dtype for name, array in card_table.arrays.items()}
        assert {name: array.dtype for name, array in made.arrays.items()} == kinds


def test_postings_of_many_runs_hold_what_those_of_one_do(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(5)
    rows = [np.unique(random.integers(0, 2**64, size=9, dtype=np.uint64)) for _ in range(40)]
    rows += [np.array([0, 2**63, 2**64 - 1], np.uint64)] * 3 + [np.empty(0, np.uint64)]
    values = [random.integers(0, 255, size=len(row)).astype(np.uint8) for row in rows]
    one = CollectionPostings.of(rows, values)
    monkeypatch.setattr("abstrag.collection.postings._SORTED", 20)
    many = CollectionPostings.of(rows, values)
    for name in ("hashes", "starts", "rows", "values"):
        assert np.array_equal(getattr(many, name), getattr(one, name))
    assert many.column(2**63)[0].tolist() == [40, 41, 42]


def test_no_rows_have_no_postings() -> None:
    made = CollectionPostings.of([], [])
    assert 7 not in made
    assert len(made.column(7)[0]) == 0


def test_bm25_is_that_of_another_implementation(card_table: CardTable) -> None:
    texts = []
    for info in card_table.documents:
        index = indexes()[info.id]
        texts.append(words(" ".join([index.document.title] * 2 + [s.text for s in index.segments])))
    other = bm25s.BM25(method="lucene", k1=K1, b=B)
    other.index(texts, show_progress=False)
    for query in ("mercury poisoning", "long walks of a hound at dawn", "the planet Mercury"):
        known = [w for w in words(query) if any(w in text for text in texts)]
        assert card_table.bm25(query) == pytest.approx(other.get_scores(known), rel=1e-4)


def test_costed_postings_find_what_words_do_not(card_table: CardTable) -> None:
    query = "ships passing a lock"
    assert card_table.bm25("ships").max() == 0.0
    typed = typed_scores(card_table, "ships")
    assert best(card_table, typed) == "harbour"  # a cargo vessel is a kind of ship
    assert 0 < typed.max() < 1  # and the step is paid for
    assert typed_scores(card_table, query).max() > typed.max() * 0.5


def test_an_exact_term_is_worth_all_of_its_literal(card_table: CardTable) -> None:
    assert typed_scores(card_table, "craters").max() == pytest.approx(1.0)


def test_words_of_the_same_root_are_found(card_table: CardTable) -> None:
    assert best(card_table, typed_scores(card_table, "What is poisonous?")) == "metal"


def test_a_time_window_finds_dates_inside_it(card_table: CardTable) -> None:
    assert best(card_table, typed_scores(card_table, "in May 2024")) == "visit"


def test_a_document_that_only_embeddings_find_is_shortlisted(card_table: CardTable) -> None:
    text = "What barks?"
    found = shortlist(card_table, text)
    row = found.rows[0]
    assert card_table.documents[row].id == "hounds"
    scores = {each.source: each.score for each in found.standings(row)}
    assert scores[ShortlistSource.WORDS] == scores[ShortlistSource.TERMS] == 0.0
    assert scores[ShortlistSource.VECTORS] > 0.5
    blind = Shortlist.of(card_table, text, encoder=None, filters=Filters(), size=5)
    assert row not in blind.rows


def test_documents_of_one_title_stay_two(card_table: CardTable) -> None:
    found = shortlist(card_table, "Mercury")
    assert {card_table.documents[row].id for row in found.rows} >= {"planet", "metal"}
    assert found.copies(found.rows[0]) == ()


def test_a_filter_changes_no_score(card_table: CardTable) -> None:
    text = "long walks at dawn in 2023"
    whole, part = shortlist(card_table, text), shortlist(card_table, text, Filters(since="2023"))
    assert (whole.prior == part.prior).all()
    assert [r for r in whole.order if r in part.passed] == part.order.tolist()
    assert {card_table.documents[r].id for r in part.passed} == {"harbour", "visit"}


def test_standings_count_those_that_pass(card_table: CardTable) -> None:
    whole = shortlist(card_table, "hound and lock")
    row = next(i for i, info in enumerate(card_table.documents) if info.id == "harbour")
    ranks = {s.source: s.rank for s in whole.standings(row)}
    part = shortlist(card_table, "hound and lock", Filters(since="2022"))
    filtered = {s.source: s.rank for s in part.standings(row)}
    assert filtered.keys() == ranks.keys()
    assert all(rank <= ranks[source] for source, rank in filtered.items())
    assert filtered[ShortlistSource.WORDS] == 1 < ranks[ShortlistSource.WORDS]


def test_copies_are_searched_once(tmp_path: Path) -> None:
    with open_store(tmp_path / "library.db") as store:
        fill(store, "visit", "harbour")
        for path in ("/copies/b.md", "/copies/a.md"):
            put(store, indexes()["visit"], path)
        card_table = CardTable.of(all_cards(store))
        assert len(card_table.documents) == 4
        found = Shortlist.of(card_table, "Who visited?", encoder=None, filters=Filters(), size=9)
        names = [card_table.documents[row].id for row in found.rows]
        assert names[0] == "visit"
        assert len([n for n in names if n.startswith("visit")]) == 1
        assert len(found.copies(found.rows[0])) == 2
        copy = next(
            i for i, info in enumerate(card_table.documents) if info.source_path == "/copies/a.md"
        )
        assert found.rank(copy) == 1
        only = Shortlist.of(
            card_table, "Who visited?", encoder=None, filters=Filters(source="/copies"), size=9
        )
        assert [card_table.documents[row].source_path for row in only.rows] != ["/library/visit.md"]
        assert len(only.copies(only.rows[0])) == 1


def test_an_empty_shelf_can_be_asked(tmp_path: Path) -> None:
    with open_store(tmp_path / "library.db") as store:
        card_table = CardTable.of(all_cards(store, encoder=Topics()))
        assert shortlist(card_table, "Who visited?").rows == []


def test_memory_is_a_few_kilobytes_a_document(card_table: CardTable) -> None:
    assert card_table.nbytes / len(TEXTS) < 5_000
