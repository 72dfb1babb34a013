"""The read path: a program from its family, over the user's baseline, over what is shipped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from abstrag.errors import InputError, PolicyError, ResourceMissing
from abstrag.llm.prompt import Program
from abstrag.llm.shape import misfit
from abstrag.policy.location import (
    BASE,
    MUTABLE,
    PROGRAMS,
    family_folder,
    known,
    policy_root,
    shipped_program,
)
from abstrag.policy.slots import SLOTS, MainFile, canonical, read_slots

Layer = tuple[str, bytes]  # what to call a file in an error, and what it holds


def load_program(stage: str, family: str | None = None, root: Path | None = None) -> Program:
    """Load one program.

    Args:
        stage: its name, one of `PROGRAMS`.
        family: whose rules and examples to use; none means the baseline.
        root: the policy folder; none means `ABSTRAG_POLICY` or the user's data folder.

    Raises:
        PolicyError: There is no such program, or a file cannot be used; it names file and field.
    """
    folder = policy_root(root)
    layers = baseline(stage, folder)
    if family is not None and family != BASE:
        layers += _layer(family_folder(folder, family), stage)
    return compose(stage, layers)


def load_programs(family: str | None = None, root: Path | None = None) -> Mapping[str, Program]:
    """Load every program, by name."""
    return {stage: load_program(stage, family, root) for stage in PROGRAMS}


def baseline(stage: str, root: Path) -> list[Layer]:
    """Return the files that lie under every family's: the shipped one, and the user's if any."""
    return [shipped(stage), *_layer(family_folder(root, BASE), stage)]


def shipped(stage: str) -> Layer:
    """Return a program's file as it comes with the package."""
    try:
        return f"{BASE}/{stage}.json as shipped", shipped_program(known(stage)).read_bytes()
    except OSError as error:
        raise ResourceMissing(
            f"program {stage!r} is missing from this installation", hint="reinstall abstrag"
        ) from error


def compose(stage: str, layers: Iterable[Layer]) -> Program:
    """Make a program of its files, the lowest first; a slot is taken from the last that has it."""
    slots: dict[str, Any] = {}
    origin: dict[str, str] = {}
    for name, text in layers:
        found = read_slots(text, name)
        slots |= found
        origin |= dict.fromkeys(found, name)
    if missing := [slot for slot in SLOTS if slot not in slots]:
        raise PolicyError(f"program {stage!r} has no {missing[0]}")
    schema = canonical(slots["output_schema"])
    try:
        wrong = [_misfit(canonical(example.output), schema) for example in slots["few_shot"]]
    except InputError as error:
        raise PolicyError(
            f"{origin['output_schema']!r} is wrong at output_schema: {error}"
        ) from error
    for number, fault in enumerate(wrong):
        if fault is not None:
            raise PolicyError(
                f"{origin['few_shot']!r} is wrong at few_shot.{number}.output: {fault}",
                hint="an example must show what the schema asks for",
            )
    return Program(stage=stage, **slots, mutable=stage in MUTABLE)


@lru_cache(maxsize=256)  # a schema takes longer to check than everything else in a file
def _misfit(value: bytes, schema: bytes) -> str | None:
    return misfit(json.loads(value), json.loads(schema))


def _layer(folder: Path, stage: str) -> list[Layer]:
    file = MainFile(folder, known(stage))
    text = file.read()
    return [] if text is None else [(str(file.path), text)]
