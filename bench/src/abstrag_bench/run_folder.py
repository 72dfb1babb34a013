"""A run on disk: what it is about in `run.json`, and one line per case and system beside it.

Records are only ever appended, each batch is forced to disk, and a line that a kill tore off is cut
away when the run goes on.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

from abstrag.errors import InputError
from abstrag.files import file_locked
from abstrag.model.record import from_json, record, to_json
from abstrag_bench.record import CaseRecord

MANIFEST: Final = "run.json"
RECORDS: Final = "records.jsonl"
FORMAT: Final = 1
OURS: Final = "abstrag"  # how the names of our own systems begin


@record
class SystemInfo:
    """One system of a run: what it is made of and how faithful it is."""

    base: str
    fidelity: str
    given: Mapping[str, Any] = field(default_factory=dict)
    state: str = ""  # a hash of what its results depend on, where it has one
    # of ours: its records tell what a user is shown; those of earlier releases did not
    marks_shown: bool = False

    @property
    def tells_shown(self) -> bool:
        """Whether `retrieved` of its records is what a user is shown."""
        return self.marks_shown or not self.base.startswith(OURS)


@record
class RunManifest:
    """What a run is about; everything but the systems is fixed when it is begun."""

    dataset: str
    split: str
    cases: int
    with_gold: int
    digest: str  # of the cases, their gold and their pools
    depth: int
    sample: int | None = None
    balance: str | None = None
    limit: int | None = None
    seed: int = 0
    notes: tuple[str, ...] = ()
    systems: Mapping[str, SystemInfo] = field(default_factory=dict)
    version: str = ""
    generator: str = ""  # what writes answers, with a hash of its prompts; empty: nothing does
    format: int = FORMAT

    def tells_shown(self, system: str) -> bool:
        """Whether the records of a system tell what a user is shown."""
        info = self.systems.get(system)
        return info.tells_shown if info else not system.startswith(OURS)


class RunFolder:
    """Reads and extends the records of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records_path = path / RECORDS

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep a second run out of the folder."""
        self.path.mkdir(parents=True, exist_ok=True)
        with ExitStack() as held:
            try:
                held.enter_context(file_locked(self.path / ".lock", wait=False))
            except BlockingIOError:
                raise InputError(
                    f"another run is writing to {str(self.path)!r}", hint="wait, or use other --out"
                ) from None
            yield

    def begin(self, wanted: RunManifest) -> RunManifest:
        """Write the manifest, or check that the run to go on with is the same and add systems."""
        if (self.path / MANIFEST).exists():
            found = self.manifest()
            for name in ("dataset", "split", "digest", "depth", "generator"):
                if getattr(found, name) != getattr(wanted, name):
                    raise InputError(
                        f"{str(self.path)!r} holds a run with another {name}: "
                        f"{getattr(found, name)!r}, not {getattr(wanted, name)!r}",
                        hint="choose another --out",
                    )
            for name, info in wanted.systems.items():
                if name in found.systems and found.systems[name] != info:
                    raise InputError(
                        f"{str(self.path)!r} was begun with {name!r} as another system: "
                        f"{found.systems[name].fidelity}",
                        hint="its numbers or operators have changed; choose another --out",
                    )
            wanted = replace(found, systems={**found.systems, **wanted.systems})
        elif self.records_path.exists():
            raise InputError(
                f"{str(self.path)!r} has records but no {MANIFEST}", hint="choose another --out"
            )
        self.path.mkdir(parents=True, exist_ok=True)
        draft = self.path / f"{MANIFEST}.tmp"
        draft.write_text(to_json(wanted, indent=2) + "\n", "utf-8")
        draft.replace(self.path / MANIFEST)
        return wanted

    def manifest(self) -> RunManifest:
        """Read what the run is about."""
        path = self.path / MANIFEST
        if not path.is_file():
            raise InputError(
                f"{str(self.path)!r} is no run: it has no {MANIFEST}",
                hint="make one with: abstrag bench run … --out RUN",
            )
        try:
            return from_json(RunManifest, path.read_bytes())
        except InputError as error:
            raise InputError(f"{str(path)!r}: {error}") from None

    def repair(self) -> int:
        """Cut off a last line that was not written to its end; return how many bytes went."""
        if not self.records_path.exists():
            return 0
        with self.records_path.open("r+b") as handle:
            size = handle.seek(0, os.SEEK_END)
            end = size
            while end > 0:
                start = max(0, end - 65_536)
                handle.seek(start)
                at = handle.read(end - start).rfind(b"\n")
                if at >= 0:
                    end = start + at + 1
                    break
                end = start
            handle.truncate(end)
            os.fsync(handle.fileno())
        return size - end

    def done(self, *, with_failed: bool = True) -> set[tuple[str, str]]:
        """Return what has been scored already, as pairs of system and case."""
        return {
            (str(line["system"]), str(line["case_id"]))
            for _, line in self._lines()
            if with_failed or line.get("error") is None
        }

    def forget_failed(self) -> int:
        """Drop the records of cases that failed, so that they are scored again; say how many."""
        failed = {number for number, line in self._lines() if line.get("error") is not None}
        if failed:
            draft = self.path / f"{RECORDS}.tmp"
            with self.records_path.open("rb") as source, draft.open("wb") as handle:
                handle.writelines(
                    line for number, line in enumerate(source, 1) if number not in failed
                )
                handle.flush()
                os.fsync(handle.fileno())
            draft.replace(self.records_path)
        return len(failed)

    def records(self) -> tuple[CaseRecord, ...]:
        """Read every record; a line that is none, or a case scored twice, is an error."""
        found: dict[tuple[str, str], CaseRecord] = {}
        for number, line in self._lines():
            try:
                one = from_json(CaseRecord, json.dumps(line))
            except InputError as error:
                raise InputError(f"{str(self.records_path)!r}, line {number}: {error}") from None
            if one.key in found:
                raise InputError(
                    f"{str(self.records_path)!r}, line {number}: case {one.case_id!r} is scored "
                    f"twice for {one.system!r}"
                )
            found[one.key] = one
        return tuple(found.values())

    @contextmanager
    def appending(self) -> Iterator[Appender]:
        """Open the records for appending."""
        with self.records_path.open("ab") as handle:
            yield Appender(handle.fileno())

    def _lines(self) -> Iterator[tuple[int, dict[str, Any]]]:
        if not self.records_path.exists():
            return
        with self.records_path.open("r", encoding="utf-8") as handle:
            for number, line in enumerate(handle, 1):
                try:
                    value = json.loads(line)
                    value["system"], value["case_id"]
                except (json.JSONDecodeError, TypeError, KeyError):
                    raise InputError(
                        f"{str(self.records_path)!r}, line {number}: not a record",
                        hint="a torn last line is mended by running the same command again",
                    ) from None
                yield number, value


class Appender:
    """Writes batches of records so that each is on disk before the next is begun."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, records: Iterable[CaseRecord]) -> None:
        """Append a batch and force it to disk."""
        data = "".join(to_json(one) + "\n" for one in records).encode()
        while data:
            data = data[os.write(self._descriptor, data) :]
        os.fsync(self._descriptor)
