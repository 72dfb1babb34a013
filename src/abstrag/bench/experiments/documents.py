"""Work that goes document by document into a folder of records, and can be stopped anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path

from abstrag.bench.case import Case, Dataset
from abstrag.bench.record import CaseRecord
from abstrag.bench.run_folder import RunFolder, RunManifest, SystemInfo
from abstrag.bench.runner import DEPTH, Options, chosen, digest

Score = Callable[[Sequence[Case]], Sequence[CaseRecord]]


def score_documents(
    dataset: Dataset,
    place: Path,
    systems: Mapping[str, SystemInfo],
    score: Score,
    *,
    limit: int | None = None,
    on_progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> tuple[CaseRecord, ...]:
    """Score the documents that have not been scored; return the records of all of them."""
    cases = chosen(dataset, Options(limit=limit))
    folder = RunFolder(place)
    by_document: dict[str, list[Case]] = {}
    for case in cases:
        by_document.setdefault(case.document.id, []).append(case)
    with folder.locked():
        folder.begin(
            RunManifest(
                dataset=dataset.name,
                split=dataset.split,
                cases=len(cases),
                with_gold=sum(bool(case.gold) for case in cases),
                digest=digest(cases),
                depth=DEPTH,
                limit=limit,
                notes=dataset.notes,
                systems=systems,
                version=version("abstrag"),
            )
        )
        folder.repair()
        done = folder.done()
        with folder.appending() as appender:
            for number, some in enumerate(by_document.values(), 1):
                left = _open(some, systems, done, score)
                if left:
                    appender.write(left)
                on_progress(number, len(by_document))
    return folder.records()


def _open(
    cases: Sequence[Case],
    systems: Mapping[str, SystemInfo],
    done: set[tuple[str, str]],
    score: Score,
) -> Sequence[CaseRecord]:
    """Score a document unless all of it is there; a batch that a kill tore is completed."""
    if all((system, case.case_id) in done for system in systems for case in cases):
        return ()
    return [one for one in score(cases) if one.key not in done]
