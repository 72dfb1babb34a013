"""Limits for a schema that has none, so that a small model cannot loop inside a string or a list.

A server that enforces schemas compiles them into a grammar, and a limit is spelled out there: the
limits of nested lists and of the strings in them multiply, and a large product takes a server
minutes. So what lies inside a list gets less room than what does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

MAX_LENGTH: Final = (1000, 400, 120)  # of a string in no list, in one, in a list of lists
MAX_ITEMS: Final = (48, 12, 6)

_SCHEMAS: Final = ("items", "additionalProperties", "contains", "not", "if", "then", "else")
_LISTS: Final = ("anyOf", "oneOf", "allOf", "prefixItems")
_TABLES: Final = ("properties", "$defs", "definitions", "patternProperties")


def bounded(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema whose strings and arrays all end; limits that are there stay."""
    return _bounded(schema, 0)


def _bounded(schema: Mapping[str, Any], depth: int) -> dict[str, Any]:
    made = dict(schema)
    fixed = "enum" in made or "const" in made
    if _allows(made, "string") and not fixed:
        made.setdefault("maxLength", MAX_LENGTH[min(depth, 2)])
    if _allows(made, "array") and not fixed:
        made.setdefault("maxItems", max(MAX_ITEMS[min(depth, 2)], made.get("minItems", 0)))
    inside = depth + _allows(made, "array")
    for key in _SCHEMAS:
        if isinstance(made.get(key), Mapping):
            made[key] = _bounded(made[key], inside if key == "items" else depth)
    for key in _LISTS:
        if key in made:
            below = inside if key == "prefixItems" else depth
            made[key] = [_bounded(one, below) for one in made[key]]
    for key in _TABLES:
        if key in made:
            # what a definition is used in cannot be seen from here; lists are where they serve
            below = max(depth, 1) if key in ("$defs", "definitions") else depth
            made[key] = {name: _bounded(one, below) for name, one in made[key].items()}
    return made


def _allows(schema: Mapping[str, Any], kind: str) -> bool:
    allowed = schema.get("type")
    return allowed == kind or (isinstance(allowed, list) and kind in allowed)
