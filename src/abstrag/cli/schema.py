"""`abstrag schema`: the JSON schema of what commands print with --json, made from the records."""

from __future__ import annotations

from typing import Any, Final

import click

from abstrag.cli.output import print_json
from abstrag.errors import InputError

_DRAFT: Final = "https://json-schema.org/draft/2020-12/schema"
_REPORT: Final = {  # what a result carries besides, as cli/opened.py makes it
    "patches": {"type": "array", "items": {"type": "string"}},
    "notes": {"type": "array", "items": {"type": "string"}},
    "ledger": {"anyOf": [{"$ref": "#/$defs/ModelUsage"}, {"type": "null"}]},
}


@click.command("schema")
@click.argument("command", required=False)
def schema_command(command: str | None) -> None:
    """Print the JSON schema of what COMMAND prints with --json.

    COMMAND is search, explain, why-not, budget, ask, refine or store-list; without it, the schema
    of every result is printed, under its name in Python.
    """
    every = _definitions()
    if command is None:
        print_json({"$schema": _DRAFT, "$defs": every})
        return
    printed = _printed(every)
    if command not in printed:
        raise InputError(f"no schema is kept for {command!r}", hint=f"one of: {', '.join(printed)}")
    print_json({"$schema": _DRAFT, **printed[command], "$defs": every})


def _definitions() -> dict[str, Any]:
    """Return the schemas of all results, and of what they are made of, by name."""
    from abstrag.collection.results import CollectionHit, CollectionRanking, CollectionWhyNot
    from abstrag.llm.usage import ModelUsage
    from abstrag.model.answer import Answer, AnswerEvent
    from abstrag.model.query import Clause
    from abstrag.model.ranking import BudgetCurve, Hit, Ranking, SupportSet, WhyNot
    from abstrag.model.record import json_schema
    from abstrag.refine.outcome import Refinement, Run
    from abstrag.stores.protocol import DocumentInfo
    from abstrag.workspace.refining import CollectionRefinement

    made = json_schema(
        *(Hit, Ranking, SupportSet, BudgetCurve, WhyNot, Clause),
        *(CollectionHit, CollectionRanking, CollectionWhyNot, CollectionRefinement),
        *(Answer, AnswerEvent, Refinement, Run, DocumentInfo, ModelUsage),
    )
    definitions: dict[str, Any] = made["$defs"]
    return definitions


def _listed(info: dict[str, Any]) -> dict[str, Any]:
    """Return a stored document as it is listed: with the name and size of its file."""
    kinds = {"file": "string", "bytes": "integer"}
    more = {name: {"anyOf": [{"type": kind}, {"type": "null"}]} for name, kind in kinds.items()}
    return {
        **info,
        "properties": {**info["properties"], **more},
        "required": [*info["required"], *more],
    }


def _printed(every: dict[str, Any]) -> dict[str, Any]:
    """Return what each command prints, by its name."""
    one_hit = {"hit": _ref("Hit")}
    clauses = {"type": "array", "items": _ref("Clause")}
    standings = {"type": "array", "items": _ref("Standing")}
    return {
        "search": _either(
            _reported(every["Ranking"], refinement=_ref("Refinement")),
            _reported(every["CollectionRanking"]),
        ),
        "explain": _either(
            _object({**one_hit, "alternatives": clauses, **_REPORT}, ["hit", "alternatives"]),
            _object({**one_hit, "standings": standings, **_REPORT}, ["hit", "standings"]),
        ),
        "why-not": _either(_reported(every["WhyNot"]), _reported(every["CollectionWhyNot"])),
        "budget": _reported(every["BudgetCurve"]),
        "ask": _reported(every["Answer"]),
        "refine": _either(
            _ref("Refinement"),
            _ref("CollectionRefinement"),
            {"type": "array", "items": _ref("Run")},
        ),
        "store-list": {"type": "array", "items": _listed(every["DocumentInfo"])},
    }


def _reported(result: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the schema of a result as it is printed, with patches and models."""
    return {**result, "properties": {**result["properties"], **_REPORT, **more}}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    closed = {"additionalProperties": False}
    return {"type": "object", "properties": properties, "required": required, **closed}


def _either(*printed: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of what is printed of one document, or of many."""
    return {"anyOf": list(printed)}


def _ref(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}
