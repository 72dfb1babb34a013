"""Whatever an index holds, the store gives back an equal one."""

import gc
import types
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass, replace
from enum import StrEnum
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from abstrag.model.index import DocumentIndex
from abstrag.model.record import Unit, to_json
from abstrag.model.span import Span
from abstrag.stores.rows import pack, unpack
from abstrag.stores.sqlite import SqliteStore
from tests.unit.stores.samples import sample_index

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
COUNT = st.integers(-(2**40), 2**40)
# adding 0.0 turns -0.0 into 0.0: SQLite keeps whole numbers as integers, which have no such sign
FINITE = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
UNIT = st.floats(0.0, 1.0)

LEAVES: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: COUNT,
    float: FINITE,
    bool: st.booleans(),
    type(None): st.none(),
    Unit: UNIT,
    Span: st.tuples(st.integers(0, 999), st.integers(0, 999)).map(lambda p: Span(*sorted(p))),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Generate values of any type a record's field may have, so that no field is forgotten."""
    if kind in LEAVES:
        return LEAVES[kind]
    if get_origin(kind) is Annotated:
        return values(get_args(kind)[0])
    if get_origin(kind) is tuple:
        first, *rest = get_args(kind)
        if rest == [...]:
            return st.lists(values(first), max_size=2).map(tuple)
        return st.tuples(*(values(each) for each in get_args(kind)))
    if get_origin(kind) is dict:
        key, value = get_args(kind)
        return st.dictionaries(values(key), values(value), max_size=2)
    if get_origin(kind) in (Union, types.UnionType):
        return st.one_of([values(each) for each in get_args(kind)])
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return st.sampled_from(list(kind))
    assert is_dataclass(kind), f"no strategy for {kind!r}"
    hints = get_type_hints(kind, include_extras=True)
    build: Callable[..., Any] = kind  # type: ignore[assignment]
    return st.builds(build, **{field.name: values(hints[field.name]) for field in fields(kind)})


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path_factory.mktemp("store") / "store.db") as opened:
        yield opened


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(index=values(DocumentIndex))
def test_any_index_comes_back_equal(store: SqliteStore, index: DocumentIndex) -> None:
    name = store.put(index, source_path=None, source_hash="")
    back = store.get(name)
    assert back == index
    assert to_json(back) == to_json(index)
    assert store.background(name) == index.background
    for term_id in {m.term for m in index.mentions}:
        wanted = tuple(m for m in index.mentions if m.term == term_id)
        assert store.postings(name, [term_id])[term_id] == wanted


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
