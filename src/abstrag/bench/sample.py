"""Seeded subsets of a data set: the first few cases, or as many of each group as of any other."""

from __future__ import annotations

import random
from collections.abc import Sequence

from abstrag.bench.case import Case
from abstrag.errors import InputError


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
