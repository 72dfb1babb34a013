"""Prompt programs: read from a family, then the baseline, then what is shipped.

A file has four slots. It is read with the fault named, written back, hashed and replaced whole.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from pydantic import TypeAdapter, ValidationError

from abstrag.errors import InputError, PolicyError, ResourceMissing
from abstrag.llm.prompt import Example, Program
from abstrag.llm.shape import misfit
from abstrag.model.record import to_data
from abstrag.policy.files import DurableFiles
from abstrag.policy.location import (
    BACKUP,
    BASE,
    MUTABLE,
    PROGRAMS,
    family_folder,
    known,
    policy_root,
    shipped_program,
)

Layer = tuple[str, bytes]  # what to call a file in an error, and what it holds


def load_program(stage: str, family: str | None = None, root: Path | None = None) -> Program:
    """Load one program of `PROGRAMS` as a family has it, by default the baseline.

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
    """Return the files that every family overrides: the shipped one, and the user's if any."""
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


# A program file that people edit too: read whole, and replaced only if it is what we think it is.
#
# A person's editor knows nothing of our lock, and there is no rename that looks first. So the
# file is moved aside, looked at, and its successor put in place only where the name is still
# free. Whoever saves in between, before or after, keeps the name; nothing they wrote is ever
# overwritten.


@dataclass(frozen=True, slots=True)
class MainFile:
    """The file of one program in one family."""

    folder: Path
    stage: str

    @property
    def path(self) -> Path:
        """Where the program stands."""
        return self.folder / f"{self.stage}.json"

    @property
    def pending(self) -> Path:
        """The backup of a change that was accepted and has not landed yet."""
        return self.folder / BACKUP / f"{self.stage}.pending.json"

    @property
    def aside(self) -> Path:
        """Where the file is while it is replaced."""
        return self.folder / BACKUP / f"{self.stage}.aside.json"

    def saved(self, content_hash: str) -> Path:
        """Where a version of the file is kept for good."""
        return self.folder / BACKUP / f"{self.stage}.{content_hash}.json"

    def read(self) -> bytes | None:
        """Return what the file holds, without a lock; None when there is none."""
        found = _bytes(self.path)
        if found is None and self.pending.exists():
            found = _bytes(self.aside)  # it is being replaced at this moment
        if found is None:
            found = _bytes(self.path)  # or it has just been
        return found

    def restore(self, files: DurableFiles) -> None:
        """Restore the file if a crash interrupted its replacement."""
        if self.aside.exists():
            files.place(self.aside, self.path)
            files.remove(self.aside)

    def replace(self, files: DurableFiles, expected: bytes | None, new: bytes | None) -> bool:
        """Replace the expected content by the new one; None stands for no file.

        False means that somebody else's content was there, and still is.
        """
        draft = None if new is None else files.draft(self.path, new)
        done = self._vacate(files, expected)
        if done:
            done = not self.path.exists() if draft is None else files.place(draft, self.path)
        for leftover in (draft, self.aside):
            if leftover is not None:
                files.remove(leftover)
        return done

    def _vacate(self, files: DurableFiles, expected: bytes | None) -> bool:
        if expected is None:
            return True
        # from here until the name is taken again there is nothing to slow us down
        if not files.move(self.path, self.aside):
            return False
        if _bytes(self.aside) != expected:
            self.restore(files)
            return False
        return True


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def canonical(data: Any) -> bytes:
    """Write data as canonical JSON, of which hashes are taken."""
    text = json.dumps(data, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")  # half a surrogate pair has no bytes


def base_hash(program: Program) -> str:
    """Hash the four slots of a program; the layout of its file makes no difference."""
    return content_hash(canonical(to_data(program)))


def content_hash(content: bytes) -> str:
    """Hash the bytes of a file."""
    return sha256(content).hexdigest()


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
    """Read the slots a file fills, in its order; errors call it `name`.

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
