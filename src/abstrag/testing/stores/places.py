"""What a store promises about documents whose bytes lie at several paths."""
# ruff: noqa: D102 - the name of a test is its sentence

from __future__ import annotations

import pytest

from abstrag.errors import UnknownDocument
from abstrag.stores.protocol import Store
from abstrag.testing.sample_index import sample_index
from abstrag.testing.stores.opening import Opening


class PlaceRules(Opening):
    """One document, several known paths."""

    def test_a_document_is_found_by_every_path_it_lies_at(self, store: Store) -> None:
        name = store.put(sample_index(), source_path="/a", source_hash="s1")
        store.add_place(name, "/c")
        store.add_place(name, "/b")
        assert store.find_source("/b") == store.find_source("/a") == store.find(name)
        assert store.places(name) == ("/b", "/c")

    def test_a_document_is_found_by_its_bytes(self, store: Store) -> None:
        name = store.put(sample_index(), source_path="/a", source_hash="s1")
        assert store.find_bytes("s1") == (store.find(name),)
        assert store.find_bytes("s2") == ()

    def test_what_is_put_at_a_place_takes_it(self, store: Store) -> None:
        first = store.put(sample_index(), source_path="/a", source_hash="s1")
        store.add_place(first, "/b")
        second = store.put(sample_index(), source_path="/b", source_hash="s2")
        found = store.find_source("/b")
        assert second != first
        assert found is not None
        assert (found.id, store.places(first)) == (second, ())

    def test_the_path_a_document_was_read_from_is_no_place_of_another(self, store: Store) -> None:
        first = store.put(sample_index(), source_path="/a", source_hash="s1")
        store.put(sample_index(), source_path="/b", source_hash="s2")
        store.add_place(first, "/b")
        assert store.places(first) == ()

    def test_a_place_belongs_to_the_document_it_was_added_to_last(self, store: Store) -> None:
        first = store.put(sample_index(), source_path="/a", source_hash="s1")
        second = store.put(sample_index(), source_path="/b", source_hash="s2")
        store.add_place(first, "/c")
        store.add_place(second, "/c")
        assert (store.places(first), store.places(second)) == ((), ("/c",))

    def test_places_go_with_their_document(self, store: Store) -> None:
        name = store.put(sample_index(), source_path="/a", source_hash="s1")
        store.add_place(name, "/b")
        store.remove(name)
        assert store.find_source("/b") is None
        with pytest.raises(UnknownDocument):
            store.places(name)
