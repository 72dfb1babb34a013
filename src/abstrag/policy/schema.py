"""What a reply's schema must be: closed, complete and bounded.

Closed objects with every field required are what endpoints with strict structured output ask for;
bounds on texts and lists keep a small model from running on until its tokens are spent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

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
