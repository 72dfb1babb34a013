"""A small report to refine on, what counts as evidence in it, and short ways to write patches."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from abstrag.documents.load import load
from abstrag.engine.refinement import Refiner, local_judges
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.model.patch import Patch, Stage
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.model.term import Licence, LicenceKind
from abstrag.refine.evaluator import Evaluator
from abstrag.refine.patch_log import PatchLog
from abstrag.refine.propose import Delta, patch_cost
from abstrag.search.relevance import Preset

TEXT = """---
title: The harbour in 2023
date: 2023-12-01
---

# The harbour in 2023

The harbour has two piers and a lighthouse. Children fish from the north pier in summer. The harbour
master counts the boats every morning. A new crane arrived at the harbour in 2021.

## Water

Untreated wastewater ran into the basin below the fish market. Divers found no damage to the pier.
The council paid for a new lock. The lock opens at dawn. The lock was painted blue. Nobody may swim
near the lock.

## People

A worker found the broken gate at night. Workers mend nets on the quay. Workers drink tea at ten.
The chair of the harbour company resigned on 3 February 2024. The ferry company sold two ships to
a firm in Malta.
"""
PRESET = Preset("harbour", utility_power=0.25, lexical_weight=1.0)  # tuning moves the shipped ones
SEWAGE = "Is there sewage in the harbour?"
EMPLOYEE = "Which employee raised the alarm?"
SECOND = "Is there sewage at the lock?"
LOCK = "Who paid for the lock?"
EVIDENCE: Mapping[str, str] = {
    SEWAGE: "Untreated wastewater ran into the basin below the fish market.",
    SECOND: "Untreated wastewater ran into the basin below the fish market.",
    EMPLOYEE: "A worker found the broken gate at night.",
    LOCK: "The council paid for a new lock.",
}


class Labels:
    """A judge that knows the evidence for each question, and counts what it is asked."""

    def __init__(self, evidence: Mapping[str, str] = EVIDENCE, *, wrong: bool = False) -> None:
        self.evidence = evidence
        self.wrong = wrong
        self.asked = 0

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        self.asked += len(segments)
        return [float((s.text == self.evidence.get(query.text)) != self.wrong) for s in segments]


@cache
def searcher(text: str = TEXT) -> Searcher:
    """Return a searcher of the report, indexed once for all tests."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "harbour.md"
        path.write_text(text, encoding="utf-8")
        return Searcher(index(load(path)), preset=PRESET)


def evaluator(k: int = 3) -> Evaluator:
    return Evaluator(Labels(), k=k, name="labels")


def refiner(patch_log: PatchLog | None = None, *, k: int = 3) -> Refiner:
    """Return a refiner of the report that looks at the first three hits."""
    return Refiner(searcher(), local_judges(searcher(), evaluator(k)), patch_log=patch_log)


def patch(stage: Stage, delta: Delta, *, size: int = 1) -> Patch:
    licence = Licence(LicenceKind.TEXT, "by hand")
    return Patch(stage, delta, licence, round(patch_cost(delta), 4), size)
