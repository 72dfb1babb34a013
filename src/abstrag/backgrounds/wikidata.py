"""Wikidata-style JSON: one entity a line, with labels, aliases, P31 and P279."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from abstrag.backgrounds.fact import BackgroundName, ClassMembership, Fact
from abstrag.backgrounds.lines import fault, lines

_CLASSES: Final = ("P31", "P279")  # instance of, subclass of
_ANY_LANGUAGE: Final = "mul"
_HINT: Final = "one entity a line, as in the JSON dumps of Wikidata"


def read_wikidata(path: Path, language: str) -> Iterator[Fact]:
    """Go through the names of entities in a language, and through their classes."""
    for number, text in lines(path):
        body = text.strip().removesuffix(",")
        if body in ("", "[", "]"):
            continue
        try:
            entity = json.loads(body)
        except json.JSONDecodeError as error:
            column = text.index(body[:1]) + error.colno
            raise fault(path, number, column, f"not JSON: {error.msg}", hint=_HINT) from error
        if not isinstance(entity, dict) or not isinstance(entity.get("id"), str):
            raise fault(path, number, 1, "an entity without an id", hint=_HINT)
        try:
            yield from _facts(entity, language, number)
        except (AttributeError, KeyError, TypeError) as error:
            what = f"entity {entity['id']!r} is not laid out as Wikidata's are: {error!r}"
            raise fault(path, number, 1, what, hint=_HINT) from error


def _facts(entity: Mapping[str, Any], language: str, line: int) -> Iterator[Fact]:
    thing = f"wikidata:{entity['id']}"
    labels, aliases = entity.get("labels") or {}, entity.get("aliases") or {}
    for code in (language, _ANY_LANGUAGE):
        if code in labels:
            yield BackgroundName(thing, labels[code]["value"], preferred=True, line=line)
        for alias in aliases.get(code, ()):
            yield BackgroundName(thing, alias["value"], line=line)
    claims = entity.get("claims") or {}
    for prop in _CLASSES:
        for claim in claims.get(prop, ()):
            value = claim["mainsnak"].get("datavalue")  # none for "unknown" and "no value"
            if value is not None and claim.get("rank") != "deprecated":
                yield ClassMembership(thing, f"wikidata:{value['value']['id']}", line=line)
