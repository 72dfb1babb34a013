"""A case: one query about one document, with its gold; subsets and parts of a data set."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final

from abstrag.errors import InputError
from abstrag_bench.baselines.system import Pool
from abstrag_bench.record import CaseRecord


@dataclass(frozen=True, slots=True)
class Case:
    """One query with its gold.

    `gold` is the union of what may count as evidence, `gold_sets` keeps the alternatives any one of
    which is enough. `group` is what the main breakdown goes by and `groups` holds the others by
    name; `label` and `answers` are what a generated verdict or answer is compared with.
    """

    dataset: str
    split: str
    case_id: str
    document: Pool
    query: str
    gold: tuple[str, ...] = ()
    gold_sets: tuple[tuple[str, ...], ...] = ()
    group: str | None = None
    groups: Mapping[str, str] = field(default_factory=dict)
    label: str | None = None
    answers: tuple[str, ...] = ()

    def record(
        self, system: str, ranked: Iterable[str], scores: Iterable[float], **more: Any
    ) -> CaseRecord:
        """Return the record of a ranking of this case, with what else is known of it."""
        known = {"group": self.group, **more}
        return CaseRecord(
            dataset=self.dataset,
            split=self.split,
            case_id=self.case_id,
            system=system,
            query=self.query,
            ranked=tuple(ranked),
            scores=tuple(scores),
            gold=self.gold,
            gold_sets=self.gold_sets,
            document=self.document.id,
            pool=len(self.document.elements),
            **known,
        )


def by_document(cases: Iterable[Case]) -> dict[str, list[Case]]:
    """Group cases by the id of their document, in order of appearance."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        found.setdefault(case.document.id, []).append(case)
    return found


@dataclass(frozen=True, slots=True)
class Dataset:
    """The cases of one split, in the file's order, and what the loader has to say about them."""

    name: str
    split: str
    cases: tuple[Case, ...]
    notes: tuple[str, ...] = ()


def union(sets: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """Return every id of the sets once, in order of appearance."""
    return tuple(dict.fromkeys(name for one in sets for name in one))


def sampled(
    cases: Sequence[Case], size: int, *, balance: str | None = None, seed: int = 0
) -> tuple[Case, ...]:
    """Draw cases at random, balanced over a group where one is named; the file's order is kept.

    Groups are drawn from in turn until there are enough cases, so that a small group gives all it
    has and the others share what is left.
    """
    queues: dict[str, list[int]] = {}
    for i, case in enumerate(cases):
        queues.setdefault(_group(case, balance), []).append(i)
    generator = random.Random(seed)
    for name in sorted(queues):
        generator.shuffle(queues[name])
    chosen: list[int] = []
    while len(chosen) < size and any(queues.values()):
        for name in sorted(queues):
            if queues[name] and len(chosen) < size:
                chosen.append(queues[name].pop())
    return tuple(cases[i] for i in sorted(chosen))


def _group(case: Case, balance: str | None) -> str:
    if balance is None:
        return ""
    if balance == "group":
        return case.group or ""
    if balance not in case.groups:
        known = ", ".join(["group", *sorted(case.groups)])
        raise InputError(
            f"case {case.case_id!r} belongs to no group {balance!r}", hint=f"one of: {known}"
        )
    return case.groups[balance]


# The report part: a fifth of every tuning set that no weight, preset or patch may ever see.
#
# Which part a document is in depends on its id alone, so it is the same for ever, for every query
# about it, and for anyone who computes it.

_FIFTHS: Final = 5
REPORT_PARTS: Final[Mapping[str, str]] = {  # what figures about explanations are measured on
    "scifact": "train:report",
    "qasper": "train:report",
    "tatqa": "tune:report",
    "contractnli": "dev:report",
    "fetaqa": "dev:report",
}


class SplitPart(StrEnum):
    """Which documents of a split are meant."""

    ALL = "all"
    TUNE = "tune"
    REPORT = "report"


def part_of(document_id: str) -> SplitPart:
    """Tell which part a document belongs to."""
    digest = int.from_bytes(sha256(document_id.encode()).digest()[:8], "big")
    return SplitPart.REPORT if digest % _FIFTHS == 0 else SplitPart.TUNE


def parse_split(split: str) -> tuple[str, SplitPart]:
    """Take `train`, `train:tune` or `train:report` apart."""
    name, colon, part = split.partition(":")
    if not name:
        raise InputError("--split is empty", hint="for instance: train, or train:report")
    if not colon:
        return name, SplitPart.ALL
    try:
        return name, SplitPart(part)
    except ValueError:
        choices = ", ".join(member.value for member in SplitPart)
        raise InputError(
            f"no part of a split is called {part!r}", hint=f"one of: {choices}"
        ) from None
