"""How to put a question to one model: endpoints that call themselves compatible differ in this.

A dialect begins with everything we would like, and gives up one thing after another as the endpoint
refuses it. What was given up is written into the record of the call.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from abstrag.llm.model import ModelRequest

# Limits for a schema that has none, so that a small model cannot loop inside a string or a list.
#
# A server that enforces schemas compiles them into a grammar, and a limit is spelled out there:
# the limits of nested lists and of the strings in them multiply, and a large product takes a
# server minutes. So what lies inside a list gets less room than what does not.

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


class ReplyFormat(StrEnum):
    """How the shape of a reply is asked for, from the most binding to the least."""

    JSON_SCHEMA = "json_schema"  # the server enforces the schema
    JSON_OBJECT = "json_object"  # the server enforces JSON, the prompt shows the schema
    TEXT = "text"  # the prompt shows the schema, and we look for JSON in what comes


_RANK: Final = {mode: rank for rank, mode in enumerate(ReplyFormat)}
_SHOW: Final = "Reply with one JSON value that fits this JSON schema, and with nothing else:\n"
_AGAIN: Final = "That reply cannot be used: {problem}. Reply again, and correct that."
_SHOWN_OF_A_BAD_REPLY: Final = 4000


@dataclass(frozen=True, slots=True)
class Dialect:
    """What is asked for, and what is left out because the endpoint refuses it."""

    mode: ReplyFormat = ReplyFormat.JSON_SCHEMA
    dropped: frozenset[str] = frozenset()  # of strict, seed, temperature, max_tokens

    def payload(
        self, model: str, request: ModelRequest, repair: tuple[str, str] | None
    ) -> dict[str, Any]:
        """Write the body of a request.

        Args:
            model: The name the endpoint knows the model by.
            request: The question.
            repair: A reply that cannot be used and why; asks to do it again.
        """
        made: dict[str, Any] = {"model": model, "messages": list(self._messages(request, repair))}
        # OpenAI's newer models want the other name, everybody else knows only this one
        limit = "max_completion_tokens" if "max_tokens" in self.dropped else "max_tokens"
        made[limit] = request.max_tokens
        if "temperature" not in self.dropped:
            made["temperature"] = request.temperature
        if request.temperature > 0 and "seed" not in self.dropped:
            made["seed"] = request.sample  # so that a local model repeats its samples
        if request.schema is not None and self.mode is ReplyFormat.JSON_SCHEMA:
            shape: dict[str, Any] = {
                "name": _name(request.stage),
                "schema": bounded(request.schema),
            }
            if self._strict(request):
                shape["strict"] = True
            made["response_format"] = {"type": "json_schema", "json_schema": shape}
        elif request.schema is not None and self.mode is ReplyFormat.JSON_OBJECT:
            made["response_format"] = {"type": "json_object"}
        return made

    def without(self, complaint: str | None, request: ModelRequest) -> tuple[Dialect, str] | None:
        """Give up what a complaint is about, or else the most demanding thing left.

        Returns:
            The humbler dialect and what was given up; None when nothing is left to give up.
        """
        for name in ("max_tokens", "temperature", "seed"):
            sent = name != "seed" or request.temperature > 0
            if sent and complaint and name in complaint and name not in self.dropped:
                return replace(self, dropped=self.dropped | {name}), name
        if request.schema is None or self.mode is ReplyFormat.TEXT:
            return None
        if complaint and self._strict(request):
            return replace(self, dropped=self.dropped | {"strict"}), "strict"
        return self.humbler(request), self.mode.value

    def humbler(self, request: ModelRequest) -> Dialect:
        """Return the next mode; JSON objects only where the schema describes an object."""
        about_object = request.schema is not None and request.schema.get("type") == "object"
        below = self.mode is ReplyFormat.JSON_SCHEMA and about_object
        return replace(self, mode=ReplyFormat.JSON_OBJECT if below else ReplyFormat.TEXT)

    def _strict(self, request: ModelRequest) -> bool:
        return (
            self.mode is ReplyFormat.JSON_SCHEMA
            and "strict" not in self.dropped
            and request.schema is not None
            and _closed(request.schema)
        )

    def _messages(self, request: ModelRequest, repair: tuple[str, str] | None) -> Iterator[Any]:
        system = request.system
        if request.schema is not None and (repair or self.mode is not ReplyFormat.JSON_SCHEMA):
            shown = json.dumps(request.schema, ensure_ascii=False)
            system = f"{system}\n\n{_SHOW}{shown}"
        if system:
            yield {"role": "system", "content": system}
        yield {"role": "user", "content": request.user}
        if repair:
            said, problem = repair
            yield {"role": "assistant", "content": said[:_SHOWN_OF_A_BAD_REPLY] or "(nothing)"}
            yield {"role": "user", "content": _AGAIN.format(problem=problem)}


class Fluency:
    """What is known about how to talk to one model; shared by the threads that do.

    A mode that has worked stays, and a later refusal of it concerns the stage that met it: its
    schema must be too much for the endpoint. Otherwise the refusal concerns all.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._all = Dialect()
        self._stages: dict[str, ReplyFormat] = {}
        self._fitting: set[ReplyFormat] = set()

    def dialect(self, stage: str) -> Dialect:
        """Return what to begin with at a stage."""
        with self._lock:
            return replace(self._all, mode=self._stages.get(stage, self._all.mode))

    def unsure(self, dialect: Dialect) -> bool:
        """True when the mode may be why an endpoint fails: it never worked, and others are left."""
        with self._lock:
            return dialect.mode is not ReplyFormat.TEXT and dialect.mode not in self._fitting

    def answered(self, dialect: Dialect, request: ModelRequest, *, only_here: bool = False) -> None:
        """Note that a request was accepted in this dialect.

        Args:
            dialect: What was asked for.
            request: The question.
            only_here: The endpoint failed on other wordings and did not refuse them, so this says
                nothing about other stages.
        """
        with self._lock:
            self._all = replace(self._all, dropped=self._all.dropped | dialect.dropped)
            if request.schema is None or _RANK[dialect.mode] <= _RANK[self._all.mode]:
                return
            if only_here or self._all.mode in self._fitting:
                self._stages[request.stage] = dialect.mode
            else:
                self._all = replace(self._all, mode=dialect.mode)

    def fitted(self, dialect: Dialect, request: ModelRequest) -> None:
        """Note that a reply in this dialect had the shape that was asked for."""
        if request.schema is not None:
            with self._lock:
                self._fitting.add(dialect.mode)


def _name(stage: str) -> str:
    """Return a stage as the name of a schema, which allows few characters."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in stage)
    return kept[:64] or "reply"


def _closed(schema: Mapping[str, Any]) -> bool:
    """Tell whether all objects list all their properties: only then may `strict` be asked for."""
    if "properties" in schema and (
        schema.get("additionalProperties") is not False
        or set(schema.get("required", ())) != set(schema["properties"])
    ):
        return False
    return all(_closed(one) for one in _parts(schema))


def _parts(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for key in ("properties", "$defs"):
        yield from (one for one in schema.get(key, {}).values() if isinstance(one, Mapping))
    for key in ("anyOf", "allOf", "oneOf"):
        yield from schema.get(key, ())
    if isinstance(schema.get("items"), Mapping):
        yield schema["items"]
