"""The raw contract: what a run saves about a case, whatever is computed from it later (J.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from abstrag.model.record import record


@record
class CaseRecord:
    """One case under one system, on one line of `records.jsonl`.

    `ranked` holds span ids, best first: at least ten where the pool has them, in the document's
    order behind what the system ranked. `hits` are those that a user is shown, in their order;
    without it, they are the first `retrieved` of `ranked`, which is what the system returned.
    `bridge_cost` and `clause` are those of the best-ranked segment that meets the whole query
    within `tau`; `utility` is the first hit's. `answer` and `label` are what the system said,
    `gold_answers` and `gold_label` what people did. `preserved` says of a case that was solved
    before an accepted update whether it still is. None means that the system has no such thing.
    """

    dataset: str
    split: str
    case_id: str
    system: str
    query: str
    ranked: tuple[str, ...]
    scores: tuple[float, ...]
    gold: tuple[str, ...]
    gold_sets: tuple[tuple[str, ...], ...]
    group: str | None = None
    bridge_cost: float | None = None
    clause: tuple[str, ...] | None = None
    utility: float | None = None
    tau: float | None = None
    preserved: bool | None = None
    answer: str | None = None
    label: str | None = None
    seconds: float | None = None
    judgements: int | None = None
    llm_calls: int | None = None
    # more than the contract asks for
    document: str = ""
    groups: Mapping[str, str] = field(default_factory=dict)
    gold_label: str | None = None
    leaning: str | None = None  # the label of a judge that may not be silent; `label` may be None
    gold_answers: tuple[str, ...] = ()
    pool: int = 0  # candidates there were
    retrieved: int = 0  # how many spans the system itself returned as hits
    hits: tuple[str, ...] | None = None  # what a user is shown, where that is not the first ranks
    index_seconds: float | None = None  # of the document, shared by all its cases
    ranked_before: tuple[str, ...] | None = None  # the ranking before any patch
    patched: tuple[str, ...] | None = None  # spans whose bridges a patch added
    details: Mapping[str, Any] = field(default_factory=dict)  # whatever else the system tells
    error: str | None = None  # why there is no ranking, or no answer beside it

    @property
    def key(self) -> tuple[str, str]:
        """What a record is unique by within a run."""
        return self.system, self.case_id

    @property
    def shown(self) -> tuple[str, ...]:
        """The spans that a user is shown, best first."""
        return self.ranked[: self.retrieved] if self.hits is None else self.hits
