"""How a record is made, written to JSON and read back.

A record is a frozen, slotted standard dataclass: cheap enough to make by the hundred thousand.
pydantic checks it only where it crosses a border, that is in `from_json`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Self, TypeVar, dataclass_transform

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


class Result:
    """A record that users are given: it can be turned into plain data and back."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain dicts, lists, strings and numbers, as `--json` prints it."""
        made: dict[str, Any] = to_data(self)
        return made

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Make it from what `to_dict` returned.

        Raises:
            InputError: Something does not fit; the message names the field.
        """
        return from_json(cls, json.dumps(data))


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


def json_schema(*kinds: type) -> dict[str, Any]:
    """Return the JSON schema of records as they are written, all of them under `$defs`."""
    asked = [(kind.__name__, "serialization", _adapter(kind)) for kind in kinds]
    _, made = TypeAdapter.json_schemas(asked)  # type: ignore[arg-type]
    return made
