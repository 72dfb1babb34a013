"""The card table of a store in one file: the same table, found only for what it was made of."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from abstrag.collection.card_table import CardTable
from abstrag.collection.card_table_file import open_card_table, save_card_table
from abstrag.stores.open import open_store
from abstrag.stores.protocol import Store
from tests.unit.collection.small_library import TEXTS, Topics, fill, indexed, put


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "library.db") as opened:
        yield fill(opened)


def files(store: Store) -> list[Path]:
    assert store.mapped is not None
    assert store.mapped.folder is not None
    return sorted(store.mapped.folder.rglob("*.shelf"))


def without_cards(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """See that nobody reads the cards from here on."""
    monkeypatch.setattr(store, "layers_named", lambda _name: pytest.fail("the cards were read"))


def same(one: CardTable, other: CardTable) -> bool:
    assert one.documents == other.documents
    assert one.arrays.keys() == other.arrays.keys()
    return all(np.array_equal(one.arrays[name], other.arrays[name]) for name in one.arrays)


@pytest.mark.parametrize("encoder", [None, Topics()])
def test_the_file_gives_the_shelf_of_the_cards(
    store: Store, encoder: Topics | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = open_card_table(store, encoder=encoder)
    assert files(store) == []  # a search writes none
    assert save_card_table(store, encoder=encoder) == (0, len(TEXTS))
    without_cards(store, monkeypatch)
    again = open_card_table(store, encoder=encoder)
    assert same(made, again)
    asked = None if encoder is None else encoder.embed(["a visit in May 2024"])[0]
    query = made.query("a visit in May 2024")
    for source, scores in made.scores(query, asked).items():
        assert np.array_equal(scores, again.scores(query, asked)[source])
    assert again.query("a visit in May 2024") == query


def test_what_is_prepared_is_not_prepared_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert save_card_table(store) == (len(TEXTS), len(TEXTS))
    without_cards(store, monkeypatch)
    assert save_card_table(store) == (0, len(TEXTS))


def test_a_changed_document_is_on_no_old_shelf(store: Store) -> None:
    save_card_table(store)
    changed = indexed("visit", TEXTS["visit"].replace("accelerators", "submarines"))
    put(store, changed, "/library/visit.md")
    card_table = open_card_table(store)
    row = [info.id for info in card_table.documents].index("visit")
    assert card_table.bm25("submarines").argmax() == row
    store.remove("visit")
    assert "visit" not in [info.id for info in open_card_table(store).documents]


def test_a_shelf_with_vectors_is_not_one_without(store: Store) -> None:
    save_card_table(store, encoder=Topics())
    assert open_card_table(store).vectors is None
    other = Topics()
    other.fingerprint = "other"
    assert same(open_card_table(store, encoder=Topics()), open_card_table(store, encoder=other))
    assert len(files(store)) == 1


def test_old_shelves_make_room(store: Store) -> None:
    for name in ("visit", "metal", "planet"):
        save_card_table(store)
        store.remove(name)
    save_card_table(store)
    assert len(files(store)) == 2


@pytest.mark.parametrize("left", [0, 10, -64])
def test_a_file_that_was_cut_off_is_passed_over(store: Store, left: int) -> None:
    save_card_table(store)
    made = open_card_table(store)
    (file,) = files(store)
    whole = file.read_bytes()
    file.unlink()  # it is mapped
    file.write_bytes(whole[:left])
    assert same(open_card_table(store), made)


def test_a_store_in_memory_has_no_file() -> None:
    with open_store(":memory:") as store:
        fill(store)
        assert save_card_table(store) == (len(TEXTS), len(TEXTS))
        assert save_card_table(store) == (0, len(TEXTS))
        assert len(open_card_table(store).documents) == len(TEXTS)
