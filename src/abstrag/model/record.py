"""How a record is made, written to JSON and read back.

A record is a frozen, slotted standard dataclass: cheap enough to make by the hundred thousand.
pydantic checks it only where it crosses a border, that is in `from_json`.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar, dataclass_transform

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError

from abstrag.errors import InputError

T = TypeVar("T")

Unit = Annotated[float, Field(ge=0.0, le=1.0)]


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a class a frozen record that refuses unknown fields when it is read from JSON."""
    made = dataclass(frozen=True, slots=True)(cls)
    made.__pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[attr-defined]
    return made


_ADAPTERS: dict[Any, TypeAdapter[Any]] = {}


def _adapter(kind: Any) -> TypeAdapter[Any]:
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def to_json(value: object, *, indent: int | None = None, without: Collection[str] = ()) -> str:
    """Write a record as JSON, some fields left out; equal records give the same characters."""
    left_out = set(without) or None
    return _adapter(type(value)).dump_json(value, indent=indent, exclude=left_out).decode()


def to_data(value: object) -> Any:
    """Turn a record into plain dicts, lists, strings and numbers."""
    return _adapter(type(value)).dump_python(value, mode="json")


def from_json(kind: type[T], text: str | bytes) -> T:
    """Read a record back; what does not fit is an `InputError` that names the field."""
    try:
        made: T = _adapter(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "top level"
        raise InputError(f"not a {kind.__name__}: {where}: {first['msg']}") from error
    return made
