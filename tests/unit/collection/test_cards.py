"""A card says of a document what a collection needs, and is made once for each content."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from abstrag.collection.card import COST_STEPS, card_of, hashed
from abstrag.collection.card_table import CardTable, VectorTable
from abstrag.collection.cards import WINDOW_WORDS, Cards, all_cards, windows
from abstrag.errors import StoreCorrupt, StoreReadOnly
from abstrag.neural.aligner import Aligner, default_aligner
from abstrag.neural.vectors import CachedAligner
from abstrag.search.document_words import DocumentWords
from abstrag.search.lexical import words
from abstrag.stores.cards import CARD, VECTORS, Card, QuantizedVectors, card_key
from abstrag.stores.memory import BestEffortMemory
from abstrag.stores.open import open_store
from abstrag.stores.protocol import LayerKey, Store
from tests.unit.collection.small_library import TEXTS, Topics, fill, indexed, indexes, put


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "library.db") as opened:
        yield opened


def cost(card: Card, term: str) -> float | None:
    """What a card says that a term costs in its document."""
    (found,) = np.nonzero(card.terms == hashed(term))
    return int(card.costs[found[0]]) / COST_STEPS if len(found) else None


def count(card: Card, word: str) -> int:
    (stem,) = words(word)
    (found,) = np.nonzero(card.stems == hashed(stem))
    return int(card.counts[found[0]]) if len(found) else 0


def test_a_card_comes_back_as_it_was() -> None:
    for made in map(card_of, indexes().values()):
        back = Card.from_bytes(made.to_bytes())
        assert back.to_bytes() == made.to_bytes()
        assert (back.text, back.length, back.segments) == (made.text, made.length, made.segments)
        assert back.times == made.times


def test_stems_are_counted_over_title_and_text() -> None:
    card = card_of(indexes()["metal"])
    assert count(card, "Mercury") == 4  # two of them for the title, which is the heading too
    assert count(card, "poisoning") == 1
    assert count(card, "harbour") == 0
    assert card.length == card.counts.sum()


def test_terms_have_the_price_of_getting_there() -> None:
    card = card_of(indexes()["harbour"])
    assert cost(card, "concept:lock") == 0.0
    assert cost(card, "concept:cargo vessel") == 0.0
    assert cost(card, "concept:hound") is None
    up = [cost(card, t.id) for t in indexes()["harbour"].map.terms if "." in t.id]
    assert min(c for c in up if c is not None) >= 0.65  # a WordNet sense is a step away


def test_the_date_of_the_header_is_there_at_the_price_of_the_context() -> None:
    card = card_of(indexes()["visit"])
    assert "time:2024-05-15" in card.times
    assert cost(card, "time:2024-05-14") == 0.0  # this Tuesday


@pytest.mark.parametrize("damage", [b"", b"x", b"\0" * 28 + b"more"])
def test_a_broken_card_is_a_broken_store(store: Store, damage: bytes) -> None:
    fill(store, "visit")
    info = store.documents()[0]
    content, fingerprint = card_key(info)
    store.put_layer(content, CARD, fingerprint, damage)
    with pytest.raises(StoreCorrupt, match="card"):
        CardTable.of(all_cards(store))


def test_broken_vectors_are_a_broken_store() -> None:
    with pytest.raises(StoreCorrupt, match="vectors"):
        QuantizedVectors.from_bytes(b"\1\0\0\0\1\0\0\0")


def test_cards_are_made_once_and_told_of(store: Store) -> None:
    fill(store)
    told: list[tuple[int, int]] = []
    first = all_cards(store, on_made=lambda done, of: told.append((done, of)))
    assert told == [(0, len(TEXTS)), (len(TEXTS), len(TEXTS))]
    assert [info.id for info in first.documents] == sorted(TEXTS)
    again = all_cards(store, on_made=lambda _done, _all: pytest.fail("made again"))
    assert again.made == 0
    assert same(first, again)


def test_cards_are_read_as_they_are_wanted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(store)
    monkeypatch.setattr("abstrag.collection.cards.LAYERS_AT_A_TIME", 2)
    read: list[int] = []
    get_layers = type(store).get_layers

    def noted(store: Store, keys: Sequence[LayerKey]) -> dict[LayerKey, bytes]:
        read.append(len(keys))
        return get_layers(store, keys)

    made = all_cards(store, encoder=Topics())
    monkeypatch.setattr(type(store), "get_layers", noted)
    parts = iter(made.parts)
    assert read == []
    next(parts)
    assert read == [4]  # card and vectors of two documents
    assert len(list(parts)) == len(TEXTS) - 1


def test_what_a_store_does_not_keep_is_used_all_the_same(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store)
    wanted = [card_of(indexes()[name]).to_bytes() for name in sorted(TEXTS)]

    def refuse(*_given: object) -> None:
        raise StoreReadOnly("the disk is full")

    monkeypatch.setattr(type(store), "put_layers", refuse)
    assert [card.to_bytes() for card in all_cards(store).cards] == wanted


def same(one: Cards, other: Cards) -> bool:
    pairs = zip(one.cards, other.cards, strict=True)
    return all(a.to_bytes() == b.to_bytes() for a, b in pairs)


def test_only_a_changed_document_gets_a_new_card(store: Store) -> None:
    fill(store)
    all_cards(store)
    changed = indexed("visit", TEXTS["visit"].replace("accelerators", "submarines"))
    put(store, changed, "/library/visit.md")
    cards = all_cards(store)
    assert cards.made == 1
    visit = cards.cards[[info.id for info in cards.documents].index("visit")]
    assert (count(visit, "submarines"), count(visit, "accelerators")) == (1, 0)
    assert len(list(store.layers_named(CARD))) == len(TEXTS)  # the old one went with its content


def test_the_card_of_another_index_is_not_used(store: Store) -> None:
    fill(store, "visit")
    content, _ = card_key(store.documents()[0])
    store.put_layer(content, CARD, "of an older version", b"unreadable")
    assert all_cards(store).made == 1


def test_vectors_are_made_when_somebody_embeds(store: Store) -> None:
    fill(store)
    assert all_cards(store).vectors is None
    encoder = Topics()
    cards = all_cards(store, encoder=encoder)
    assert cards.vectors is not None
    sentences = sum(len(index.segments) for index in indexes().values())
    assert len(encoder.embedded) == len(TEXTS) + sentences  # a window each
    assert len(list(store.layers_named(VECTORS))) == len(TEXTS)
    all_cards(store, encoder=encoder)
    assert len(encoder.embedded) == len(TEXTS) + sentences  # and kept


def test_vectors_of_another_model_are_left_alone(store: Store) -> None:
    fill(store, "visit")
    all_cards(store, encoder=Topics())
    other = Topics()
    other.fingerprint = "other"
    assert all_cards(store, encoder=other).made == 1


def test_windows_cover_all_words_under_the_title() -> None:
    long = indexed("long", "# Lists\n\n" + "One more sentence is here. " * 200)
    cut = windows(long)
    assert len(cut) > 1
    assert all(text.startswith("Lists. ") for text in cut)
    assert all(len(text.split()) <= WINDOW_WORDS for text in cut)
    said = " ".join(segment.text for segment in long.segments)
    assert " ".join(text.removeprefix("Lists. ") for text in cut) == said


def test_bytes_are_as_good_as_numbers() -> None:
    made = np.random.default_rng(1).normal(size=(50, 384)).astype(np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    coded = QuantizedVectors.from_bytes(QuantizedVectors.of(made).to_bytes())
    table = VectorTable.of(
        [QuantizedVectors(coded.codes[:20], coded.scales[:20]), *_rows(coded, 20)]
    )
    exact = np.maximum(made @ made[0], 0.0)
    assert np.abs(table(made[0])[1:] - exact[20:]).max() < 0.01
    assert table(made[0])[0] == pytest.approx(1.0, abs=0.01)  # the closest window counts


def _rows(coded: QuantizedVectors, first: int) -> list[QuantizedVectors]:
    size = len(coded.codes)
    return [
        QuantizedVectors(coded.codes[i : i + 1], coded.scales[i : i + 1])
        for i in range(first, size)
    ]


def test_the_words_of_a_document_are_read_with_its_vectors(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(store, "visit")
    all_cards(store)
    assert store.mapped is not None
    content = store.documents()[0].content_hash
    assert store.mapped.names(content) == []  # no model was asked for
    all_cards(store, encoder=Topics())
    (name,) = store.mapped.names(content)
    assert name.endswith(".words")
    monkeypatch.setattr(Aligner, "read", lambda *_given: pytest.fail("read again"))
    index = store.get("visit")
    aligner = CachedAligner(default_aligner(), BestEffortMemory(store), content_hash=content)
    words = DocumentWords(index.segments, aligner, [one.canonical for one in index.records])
    assert "accelerators" in words.words.vocabulary
