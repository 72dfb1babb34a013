"""What any store says when its documents change."""
# ruff: noqa: D102 - the name of a test is its sentence

from __future__ import annotations

from dataclasses import replace

import pytest

from abstrag.errors import AbstragError
from abstrag.model.term import Mention
from abstrag.stores.protocol import Store
from abstrag.testing.sample_index import sample_index
from abstrag.testing.stores.opening import Opening


class VersionRules(Opening):
    """The version is another one after each change of the documents, and only then."""

    def test_every_document_that_comes_or_goes_makes_another_version(self, store: Store) -> None:
        seen = [store.version()]
        name = store.put(sample_index(), source_path="/a", source_hash="1")
        seen.append(store.version())
        store.put(sample_index(title="Changed"), source_path="/a", source_hash="2")
        seen.append(store.version())
        store.put(sample_index(), source_path="/b", source_hash="1")
        seen.append(store.version())
        store.remove(name)
        seen.append(store.version())
        assert len(set(seen)) == 5

    def test_what_is_kept_along_the_way_makes_no_other_version(self, store: Store) -> None:
        name = store.put(sample_index(), source_path="/a", source_hash="1")
        before = store.version()
        store.put_layer("c1", "vectors", "1 1 m1", b"x")
        store.remember("judgements", "c1", "m1", {b"k": b"v"})
        store.forget_models("vectors", keep=[])
        store.get(name)
        store.documents()
        assert store.version() == before

    def test_a_document_that_cannot_be_kept_makes_no_other_version(self, store: Store) -> None:
        store.put(sample_index(), source_path="/a", source_hash="1")
        before, index = store.version(), sample_index("other")
        mentions = (*index.mentions, Mention("entity:anna", 2**70, 0, 1))  # no column holds that
        with pytest.raises((OverflowError, AbstragError)):
            store.put(replace(index, mentions=mentions), source_path="/b", source_hash="1")
        assert store.version() == before
