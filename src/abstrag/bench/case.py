"""A case: one query about one document, with the evidence people marked for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from abstrag.baselines.pool import Pool


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
