"""An index becomes rows, and rows become the same index."""

import gc
from dataclasses import replace

import pytest

from abstrag.stores.rows import pack, unpack
from abstrag.testing.sample_index import sample_index


def test_two_terms_with_one_id_both_come_back() -> None:
    index = sample_index()
    (first, *_) = index.map.terms
    doubled = replace(index, map=replace(index.map, terms=(first, first)))
    assert unpack(pack(doubled)) == doubled


def test_rows_name_terms_by_number_even_when_the_map_does_not_list_them() -> None:
    index = sample_index(edges=3)
    back = unpack(pack(index))
    assert [e.target for e in back.map.edges] == [f"concept:traveller {i}" for i in range(3)]
    assert back.map.terms == index.map.terms


def test_reading_leaves_the_garbage_collector_on() -> None:
    packed = pack(sample_index())
    unpack(packed)
    assert gc.isenabled()
    with pytest.raises(KeyError):
        unpack(replace(packed, rows={}))
    assert gc.isenabled()
