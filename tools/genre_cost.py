"""Measure what a wrong genre costs in ranking, and what the schedules of layout roles bring.

    python tools/genre_cost.py --data ../shared/data --sets legal report plain [--cases 40]

For each set, whose genre is known, a sample of questions of its held-out part is asked twice over:

    genre      each document is indexed as what it is, then as each other genre, all the way: cut
               into segments, weighed and ranked as that genre is
    schedule   the index stays, its utility U is made otherwise: without roles (every role weighs
               the same), without statements (roles alone), with roles calibrated on the other part
               of the set (a role weighs by how often its segments are evidence), without U

Printed are nDCG@10 of the shipped way and, for each other one, the paired difference with the 95 %
interval of a bootstrap over questions.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from math import log2
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from abstrag.indexing.pipeline import index
from abstrag.indexing.utility import layout_weight
from abstrag.model.document import Genre
from abstrag.model.index import DocumentIndex, Utility
from abstrag.model.segment import SegmentRole
from abstrag.search.relevance import DEFAULT_PRESET
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import PooledDocument, to_document
from abstrag_bench.baselines.system import Pool
from abstrag_bench.case import Case
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.stats import differences, intervals

DEPTH: Final = 10
MOST_OF_ONE: Final = 5  # questions of one document, so that a sample has many documents


class Set(NamedTuple):
    """A set of one genre: where it is, and which genres it might be taken for."""

    genre: Genre
    name: str
    split: str
    wrong: tuple[Genre, ...]


SETS: Final = {
    "legal": Set(Genre.LEGAL, "contractnli", "dev", (Genre.PLAIN, Genre.REPORT, Genre.SCIENTIFIC)),
    "report": Set(Genre.REPORT, "tatqa", "tune", (Genre.PLAIN, Genre.PAGE_LOCAL, Genre.LEGAL)),
    "plain": Set(
        Genre.PLAIN, "packs", "xquad", (Genre.SCIENTIFIC, Genre.ABSTRACT_ONLY, Genre.NEWS)
    ),
    "paper": Set(Genre.SCIENTIFIC, "qasper", "train", (Genre.PLAIN, Genre.ENGINEERING)),
    "abstract": Set(Genre.ABSTRACT_ONLY, "scifact", "train", (Genre.PLAIN, Genre.SCIENTIFIC)),
}
Way = Callable[[DocumentIndex], DocumentIndex]


def sample(cases: Sequence[Case], most: int) -> list[Case]:
    """Return some questions that have evidence, spread over the documents."""
    taken: Counter[str] = Counter()
    kept: list[Case] = []
    for case in cases:
        if case.gold and taken[case.document.id] < MOST_OF_ONE:
            taken[case.document.id] += 1
            kept.append(case)
    step = max(1, len(kept) // most)
    return kept[::step][:most]


def ndcg(ranked: Sequence[str], gold: Sequence[str]) -> float:
    """Return what the ranks of the evidence are worth, against the best order."""
    gain = sum(1 / log2(i + 2) for i, name in enumerate(ranked) if name in gold)
    return gain / sum(1 / log2(i + 2) for i in range(min(DEPTH, len(gold))))


@lru_cache(maxsize=16)
def made_as(document: Pool, genre: Genre) -> tuple[PooledDocument, DocumentIndex]:
    """Index a document as one of a genre."""
    pooled = to_document(replace(document, genre=genre))
    return pooled, index(pooled.document)


def score(
    workspace: Workspace,
    pooled: PooledDocument,
    made: DocumentIndex,
    case: Case,
    options: SearchOptions,
) -> float:
    """Return nDCG@10 of the elements that a search ranks."""
    elements = pooled.element_ids(made)
    hits = workspace.document(made, options).search(case.query, k=4 * DEPTH, fill=True).hits
    ranked = list(dict.fromkeys(elements[hit.position] for hit in hits))[:DEPTH]
    return ndcg(ranked, case.gold)


def with_utility(
    made: DocumentIndex, weigh: Callable[[Utility, SegmentRole], float]
) -> DocumentIndex:
    """Return an index whose segments have another U."""
    records = tuple(
        replace(one, utility=replace(one.utility, value=weigh(one.utility, one.segment.role)))
        for one in made.records
    )
    return replace(made, records=records)


def ways(calibrated: Mapping[SegmentRole, float]) -> dict[str, Way]:
    """Return the other ways to make U, by name."""
    mean = sum(calibrated.values()) / max(1, len(calibrated))

    def statements(utility: Utility) -> float:
        return utility.novelty * utility.assertedness

    return {
        "without roles": lambda made: with_utility(made, lambda u, _: 0.5 + statements(u)),
        "without statements": lambda made: with_utility(made, lambda u, _: u.layout),
        "roles calibrated": lambda made: with_utility(
            made, lambda u, role: calibrated.get(role, mean) + statements(u)
        ),
        "plain's schedule": lambda made: with_utility(
            made, lambda u, role: layout_weight(role, Genre.PLAIN) + statements(u)
        ),
        "without U": lambda made: with_utility(made, lambda _u, _r: 1.0),
    }


def calibrate(cases: Sequence[Case], genre: Genre) -> dict[SegmentRole, float]:
    """Weigh each role by how much more often its segments are evidence than segments are."""
    of_role: Counter[SegmentRole] = Counter()
    evidence: Counter[SegmentRole] = Counter()
    for case in cases:
        pooled, made = made_as(case.document, genre)
        gold = set(case.gold)
        for element, one in zip(pooled.element_ids(made), made.records, strict=True):
            of_role[one.segment.role] += 1
            evidence[one.segment.role] += element in gold
    rates = {role: (evidence[role] + 1) / (of_role[role] + 20) for role in of_role}
    top = max(rates.values(), default=1.0)
    return {role: round(rate / top, 3) for role, rate in sorted(rates.items())}


def measured(chosen: Set, data: Path, most: int) -> Iterator[str]:
    """Ask the questions of a set in every way, and write the figures."""
    report = load_dataset(chosen.name, data, f"{chosen.split}:report").cases
    tune = load_dataset(chosen.name, data, f"{chosen.split}:tune").cases
    asked = sample(report, most)
    calibrated = calibrate(sample(tune, most), chosen.genre)
    others = ways(calibrated)
    names = [f"as {genre.value}" for genre in chosen.wrong] + list(others)
    options = SearchOptions(preset=DEFAULT_PRESET)
    rows: list[list[float]] = []
    with Workspace(WorkspaceConfig(":memory:")) as workspace:
        for case in asked:
            pooled, made = made_as(case.document, chosen.genre)
            indexes = [(pooled, made), *(made_as(case.document, genre) for genre in chosen.wrong)]
            indexes += [(pooled, way(made)) for way in others.values()]
            values = [score(workspace, *one, case, options) for one in indexes]
            rows.append(values)
    columns = 100 * np.array(rows)
    (whole,) = intervals(columns[:, :1])
    shown = f"{whole.mean:.1f} [{whole.low:.1f}, {whole.high:.1f}]"
    documents = len({case.document.id for case in asked})
    size = f"{len(asked)} of {documents} documents"
    yield f"| {chosen.genre.value} ({chosen.name}) | shipped | {size} | {shown} | |"
    for name, one in zip(names, differences(columns[:, 1:] - columns[:, :1]), strict=True):
        yield f"| | {name} | | | {one.mean:+.1f} [{one.low:+.1f}, {one.high:+.1f}] |"
    yield f"| | roles | | {', '.join(f'{r.value} {w:g}' for r, w in calibrated.items())} | |"


def main() -> None:
    """Print the table of the sets that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--sets", nargs="+", choices=sorted(SETS), default=sorted(SETS))
    parser.add_argument("--cases", type=int, default=40)
    given = parser.parse_args()
    print("| genre | way | questions | nDCG@10 | difference |\n|---|---|---|---|---|")
    for name in given.sets:
        for line in measured(SETS[name], given.data, given.cases):
            print(line, flush=True)


if __name__ == "__main__":
    main()
