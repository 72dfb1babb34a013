"""Hypothesis strategies for records: values of any type that a field may have."""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import StrEnum
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from abstrag.model.document import Span
from abstrag.model.record import Unit

TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
COUNT: Final = st.integers(-(2**40), 2**40)
# adding 0.0 turns -0.0 into 0.0: SQLite keeps whole numbers as integers, which have no such sign
_FINITE: Final = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
UNIT: Final = st.floats(0.0, 1.0)
_LEAVES: Final[dict[Any, st.SearchStrategy[Any]]] = {
    str: TEXT,
    int: COUNT,
    float: _FINITE,
    bool: st.booleans(),
    type(None): st.none(),
    Unit: UNIT,
    Span: st.tuples(st.integers(0, 999), st.integers(0, 999)).map(lambda p: Span(*sorted(p))),
}


def values(kind: Any) -> st.SearchStrategy[Any]:
    """Generate values of any type a record's field may have, so that no field is forgotten."""
    if kind in _LEAVES:
        return _LEAVES[kind]
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
