"""Schemas cut down to what a very small model can fill before it loses the thread.

A user may do the same: a file in the policy folder takes the place of any slot of a program.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from abstrag.llm.prompt import Program
from abstrag.policy.load import load_programs

_CAPS = {"maxLength": 20, "maxItems": 2}


def brief_programs() -> Mapping[str, Program]:
    """Return the shipped programs with short replies, and without rules and examples to read."""
    return {
        name: replace(one, output_schema=_brief(one.output_schema), rules=(), few_shot=())
        for name, one in load_programs().items()
    }


def brief_policy(folder: Path) -> Path:
    """Write those programs into a policy folder, as the baseline of every family."""
    base = folder / "_base"
    base.mkdir(parents=True)
    for name, one in brief_programs().items():
        slots = {"output_schema": one.output_schema, "rules": [], "few_shot": []}
        (base / f"{name}.json").write_text(json.dumps(slots), "utf-8")
    return folder


def _brief(schema: Any) -> Any:
    if isinstance(schema, Mapping):
        return {
            key: min(value, _CAPS[key]) if key in _CAPS else _brief(value)
            for key, value in schema.items()
        }
    return [_brief(one) for one in schema] if isinstance(schema, list) else schema
