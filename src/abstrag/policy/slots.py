"""The four slots of a program file: reading them with the fault named, and writing them back.

A file of the baseline fills all four. A file that overrides it may leave slots out: those are then
taken from underneath, so that a family which only has rules of its own keeps up with the rest.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from abstrag.errors import PolicyError
from abstrag.llm.prompt import Example

# What a reply's schema must be: closed, complete and bounded.
#
# Closed objects with every field required are what endpoints with strict structured output ask
# for; bounds on texts and lists keep a small model from running on until its tokens are spent.

_SCALARS: Final = ("string", "number", "integer", "boolean", "null")


def schema_faults(schema: Mapping[str, Any]) -> list[str]:
    """Say where a schema is open, incomplete or unbounded; nothing when it is none of these."""
    faults = list(_faults(schema, "$"))
    if not faults and schema.get("type") != "object":
        faults.append("$: a reply is an object")
    return faults


def _faults(schema: Any, where: str) -> Iterator[str]:
    if not isinstance(schema, Mapping):
        yield f"{where}: not a schema"
    elif "anyOf" in schema:
        for number, choice in enumerate(schema["anyOf"]):
            yield from _faults(choice, f"{where}.anyOf[{number}]")
    elif schema.get("type") == "object":
        yield from _object_faults(schema, where)
    elif schema.get("type") == "array":
        if not isinstance(schema.get("maxItems"), int):
            yield f"{where}: a list needs maxItems"
        yield from _faults(schema.get("items"), f"{where}[]")
    elif schema.get("type") not in _SCALARS:
        yield f"{where}: unknown type {schema.get('type')!r}"
    elif schema["type"] == "string" and not ("enum" in schema or "maxLength" in schema):
        yield f"{where}: a text needs maxLength or enum"


def _object_faults(schema: Mapping[str, Any], where: str) -> Iterator[str]:
    properties = schema.get("properties", {})
    if schema.get("additionalProperties") is not False:
        yield f"{where}: an object needs additionalProperties false"
    if sorted(schema.get("required", [])) != sorted(properties):
        yield f"{where}: every field must be required"
    for name, field in properties.items():
        yield from _faults(field, f"{where}.{name}")


SLOTS: Final = ("instruction", "output_schema", "rules", "few_shot")
EDITABLE: Final = ("rules", "few_shot")

_KINDS: Final[Mapping[str, TypeAdapter[Any]]] = {
    "instruction": TypeAdapter(str),
    "output_schema": TypeAdapter(dict[str, Any]),
    "rules": TypeAdapter(tuple[str, ...]),
    "few_shot": TypeAdapter(tuple[Example, ...]),
}


def read_slots(text: str | bytes, name: str) -> dict[str, Any]:
    """Read the slots a file fills, in its order.

    Args:
        text: what the file holds.
        name: what to call the file in an error.

    Raises:
        PolicyError: It is not JSON, or a slot is unknown or does not hold what it must.
    """
    try:
        data = json.loads(text, object_pairs_hook=_once)
    except ValueError as error:  # also for bytes that are no UTF-8
        raise PolicyError(
            f"{name!r} cannot be read: {error}", hint="mend it, or move it away"
        ) from error
    if not isinstance(data, dict):
        raise PolicyError(f"{name!r} does not hold a JSON object", hint=f"with {', '.join(SLOTS)}")
    return {slot: _checked(slot, value, name) for slot, value in data.items()}


def write_slots(slots: Mapping[str, Any]) -> bytes:
    """Write slots as a file: the same slots always give the same bytes."""
    data = {slot: _KINDS[slot].dump_python(value, mode="json") for slot, value in slots.items()}
    return (json.dumps(data, indent=2, ensure_ascii=False) + "\n").encode()


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{twice!r} stands there twice")
    return made


def _checked(slot: str, value: Any, name: str) -> Any:
    if slot not in SLOTS:
        raise PolicyError(
            f"{name!r} has an unknown slot {slot!r}", hint=f"a program has {', '.join(SLOTS)}"
        )
    try:
        # through JSON, so that a list is taken as a tuple and a number never as a text
        made = _KINDS[slot].validate_json(json.dumps(value))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join([slot, *map(str, first["loc"])])
        raise PolicyError(f"{name!r} is wrong at {where}: {first['msg']}") from error
    if slot == "instruction" and not made.strip():
        raise PolicyError(f"{name!r} is wrong at instruction: it says nothing")
    if slot == "output_schema" and (faults := schema_faults(made)):
        raise PolicyError(
            f"{name!r} is wrong at output_schema: {faults[0]}",
            hint="a schema is closed and bounded, so that a small model cannot run on",
        )
    return made
