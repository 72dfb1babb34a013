"""What any store knows of the models that made what it holds."""
# ruff: noqa: D102 - the name of a test is its sentence

from __future__ import annotations

import struct
from typing import Final

import pytest

from abstrag.errors import InputError
from abstrag.stores.protocol import Store
from abstrag.testing.stores.opening import Opening

_ONE: Final = "one model:0123456789abcdef"  # a name may have blanks in it
_TWO: Final = "two:0123456789abcdef"
_VECTOR: Final = {_ONE: struct.pack("<2f", 1, 0), _TWO: struct.pack("<3f", 0, 1, 0)}
_LAYERS: Final = (("vectors", "250 1"), ("sentence vectors", "1 sentence"))


class ModelRules(Opening):
    """What one model made is never taken for what another made, and can be told and dropped."""

    @pytest.fixture
    def mixed(self, store: Store) -> Store:
        """A store in which two models spoke of the same keys of one content."""
        for model, vector in _VECTOR.items():
            store.remember("embeddings", "c1", model, {b"k": vector, b"l": vector})
            store.remember("judgements", "c1", model, {b"k": vector[:4]})
            for layer, how in _LAYERS:
                store.put_layer("c1", layer, f"{how} {model}", vector)
        store.remember("embeddings", "c2", _TWO, {b"k": _VECTOR[_TWO]})
        store.put_layer("c1", "card", f"2 {_TWO}", b"no vectors")
        store.put_layer("c1", "eigenvectors", f"1 1 {_TWO}", b"not ours")
        return store

    def test_each_model_gets_back_its_own_and_nothing_else(self, mixed: Store) -> None:
        for model, vector in _VECTOR.items():
            known = mixed.recall("embeddings", "c1", model, [b"k", b"l", b"m"])
            assert known == {b"k": vector, b"l": vector}
            assert mixed.recall("judgements", "c1", model, [b"k"]) == {b"k": vector[:4]}
            for layer, how in _LAYERS:
                assert mixed.get_layer("c1", layer, f"{how} {model}") == vector
        assert mixed.recall("embeddings", "c1", "three", [b"k", b"l"]) == {}
        assert mixed.recall("embeddings", "c1", "", [b"k", b"l"]) == {}
        by_model = mixed.remembered("embeddings", "c1")
        assert by_model == {name: {b"k": v, b"l": v} for name, v in _VECTOR.items()}

    def test_a_store_says_which_models_made_what_it_holds(self, mixed: Store) -> None:
        assert mixed.models() == {
            "embeddings": {_ONE: 2, _TWO: 3},
            "judgements": {_ONE: 1, _TWO: 1},
            "vectors": {_ONE: 2, _TWO: 2},
        }

    def test_an_empty_store_was_made_by_no_model(self, store: Store) -> None:
        assert store.models() == {"embeddings": {}, "judgements": {}, "vectors": {}}
        assert store.forget_models("vectors", keep=[]) == 0
        assert store.forget_models("embeddings", keep=[]) == 0

    @pytest.mark.parametrize(("kind", "count"), [("embeddings", 3), ("judgements", 1)])
    def test_what_other_models_said_is_dropped_of_one_kind(
        self, mixed: Store, kind: str, count: int
    ) -> None:
        before = mixed.models()
        assert mixed.forget_models(kind, keep=[_ONE, "three"]) == count
        assert mixed.recall(kind, "c1", _TWO, [b"k", b"l"]) == {}
        assert mixed.models() == {**before, kind: {_ONE: before[kind][_ONE]}}
        assert mixed.forget_models(kind, keep=[_ONE]) == 0
        mixed.remember(kind, "c1", _TWO, {b"k": b"back"})
        assert mixed.recall(kind, "c1", _TWO, [b"k"]) == {b"k": b"back"}
        mixed.check()

    def test_vectors_of_other_models_are_dropped_and_other_layers_stay(self, mixed: Store) -> None:
        before = mixed.models()
        assert mixed.forget_models("vectors", keep=[_TWO]) == 2
        assert mixed.models() == {**before, "vectors": {_TWO: 2}}
        for layer, how in _LAYERS:
            assert mixed.get_layer("c1", layer, f"{how} {_ONE}") is None
            assert mixed.get_layer("c1", layer, f"{how} {_TWO}") == _VECTOR[_TWO]
        assert mixed.forget_models("vectors", keep=[]) == 2
        assert mixed.get_layer("c1", "card", f"2 {_TWO}") == b"no vectors"
        assert mixed.get_layer("c1", "eigenvectors", f"1 1 {_TWO}") == b"not ours"

    def test_a_slip_drops_nothing(self, mixed: Store) -> None:
        before = mixed.models()
        with pytest.raises(InputError, match="made by models"):
            mixed.forget_models("layers", keep=[])
        with pytest.raises(InputError, match="are several"):
            mixed.forget_models("embeddings", keep=_ONE)
        assert mixed.models() == before
