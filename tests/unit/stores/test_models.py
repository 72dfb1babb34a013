"""What a search of a collection keeps in a store is told by model, and never mixed."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest

from abstrag.collection.cards import all_cards
from abstrag.collection.sentences import SentenceReader
from abstrag.neural.encoder import Vectors
from abstrag.stores.cards import QuantizedVectors
from abstrag.stores.memory import is_of_vectors, model_in
from abstrag.stores.open import open_store
from abstrag.stores.protocol import Store
from tests.unit.neural.letters import Letters
from tests.unit.stores.samples import sample_index


class Turned(Letters):
    """Says of every text the opposite of what `Letters` says; its name has a blank in it."""

    fingerprint = "turned letters:1"

    def embed(self, texts: Sequence[str]) -> Vectors:
        return -super().embed(texts)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "store.db") as opened:
        for name in ("one", "two"):
            index = sample_index(name, title=f"abc {name}")
            opened.put(index, source_path=f"/{name}", source_hash="1")
        yield opened


def test_the_layers_of_a_collection_name_the_model_that_made_their_vectors(store: Store) -> None:
    made = {model.fingerprint: all_cards(store, encoder=model) for model in (Letters(), Turned())}
    counts = dict.fromkeys(made, 4)  # two documents, each with windows and sentences
    assert store.models()["vectors"] == counts
    content = store.documents()[0].content_hash
    named = [(layer, mark) for layer, mark, _ in store.layers(content) if is_of_vectors(layer)]
    assert sorted(model_in(mark) for _, mark in named) == sorted([*made] * 2)


def test_each_model_of_a_collection_gets_its_own_vectors(store: Store) -> None:
    models = (Letters(), Turned())
    first = [all_cards(store, encoder=model).vectors for model in models]
    for model, before in zip(models, first, strict=True):
        asked = len(model.asked)
        again = all_cards(store, encoder=model)
        assert len(model.asked) == asked  # from the store
        assert _codes(again.vectors) == _codes(before)
    assert _codes(first[0]) != _codes(first[1])
    info = store.documents()[0]
    (straight,), (turned,) = (SentenceReader(store, model).read([info]) for model in models)
    assert straight.vectors is not None
    assert turned.vectors is not None
    assert np.array_equal(straight.vectors.codes, -turned.vectors.codes)


def test_what_another_model_made_of_a_collection_is_dropped_and_made_again(store: Store) -> None:
    straight, turned = Letters(), Turned()
    for model in (straight, turned):
        all_cards(store, encoder=model)
    assert store.forget_models("vectors", keep=[straight.fingerprint]) == 4
    asked = (len(straight.asked), len(turned.asked))
    assert all_cards(store, encoder=straight).made == 0
    assert all_cards(store, encoder=turned).made == 2
    assert len(straight.asked) == asked[0]
    assert len(turned.asked) == 2 * asked[1]


def _codes(vectors: tuple[QuantizedVectors, ...] | None) -> list[bytes]:
    assert vectors is not None
    return [coded.to_bytes() for coded in vectors]
