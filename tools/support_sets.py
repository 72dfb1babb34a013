"""Sets of hits for questions that need two places, against the sets that people marked.

    python tools/support_sets.py DATA/training/hotpotqa.jsonl.gz … [--cases 60] [--preset aligned]

A pack has a line for each document (`doc`, `segments`) and one for each question (`id`, `doc`,
`query`, `gold`: the numbers of its segments). Of each pack so many cases are drawn, with a fixed
seed; the weights in `search/together.py` were fitted on every other one, and the rest are reported:
precision, recall and F1 of the set, and how often it is exactly the one marked, beside the plain
first two and three hits. Intervals are of 2,000 resamples of the cases.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from abstrag.config import Settings
from abstrag.documents.load import load_bytes
from abstrag.engine.searcher import Searcher
from abstrag.errors import AbstragError
from abstrag.indexing.pipeline import index
from abstrag.search.relevance import PRESETS

MOST_SEGMENTS = 60
KINDS = ("set", "first 2", "first 3")
MEASURES = ("precision", "recall", "F1", "exact")


@dataclass(frozen=True)
class Case:
    """One question: the segments of each kind of answer, and those that were marked."""

    found: dict[str, frozenset[int]]
    gold: frozenset[int]

    def measured(self, kind: str) -> tuple[float, float, float, float]:
        """Return precision, recall, F1 and whether the set is exactly the one marked."""
        found = self.found[kind]
        right = len(found & self.gold)
        precision, recall = right / max(len(found), 1), right / max(len(self.gold), 1)
        f1 = 2 * precision * recall / max(precision + recall, 1e-9)
        return precision, recall, f1, float(found == self.gold)


def drawn(path: Path, count: int) -> list[tuple[list[str], dict[str, Any]]]:
    """Return so many questions with the segments of their documents."""
    documents: dict[str, list[str]] = {}
    asked: list[dict[str, Any]] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if "segments" in row:
                documents[row["doc"]] = [" ".join(text.split()) for text in row["segments"]]
            else:
                asked.append(row)
    random.Random(0).shuffle(asked)
    fitting = [row for row in asked if len(documents[row["doc"]]) <= MOST_SEGMENTS]
    return [(documents[row["doc"]], row) for row in fitting[:count]]


def cases(path: Path, count: int, preset: str) -> Iterator[Case]:
    """Answer every other question that is drawn."""
    for texts, row in drawn(path, count)[1::2]:
        document = load_bytes("\n\n".join(texts).encode(), name="segments.txt")
        made = index(document, settings=Settings(granularity="paragraph"))
        number = {text: i for i, text in enumerate(texts)}
        place = [number.get(" ".join(s.text.split()), -1) for s in made.segments]
        searcher = Searcher(made, preset=PRESETS[preset])
        try:
            together = searcher.support(row["query"], k=10).hits
            plain = searcher.search(row["query"], k=3).hits
        except AbstragError:
            continue
        found = {"set": together, "first 2": plain[:2], "first 3": plain}
        yield Case(
            {kind: frozenset(place[h.position] for h in hits) for kind, hits in found.items()},
            frozenset(row["gold"]),
        )


def told(name: str, some: Sequence[Case]) -> None:
    """Print a table of one pack."""
    chance = np.random.default_rng(0)
    print(f"{name}: {len(some)} cases")
    for kind in KINDS:
        rows = np.array([case.measured(kind) for case in some])
        again = rows[chance.integers(0, len(rows), (2000, len(rows)))].mean(axis=1)
        low, high = np.quantile(again, (0.025, 0.975), axis=0)
        parts = [
            f"{measure} {mean:.1%} [{a:.1%}, {b:.1%}]"
            for measure, mean, a, b in zip(MEASURES, rows.mean(axis=0), low, high, strict=True)
        ]
        size = np.mean([len(case.found[kind]) for case in some])
        print(f"  {kind:<8} {'  '.join(parts)}  size {size:.1f}", flush=True)


def main() -> None:
    """Print a table for each pack, and for all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("packs", nargs="+", type=Path)
    parser.add_argument("--cases", type=int, default=60)
    parser.add_argument("--preset", default="aligned")
    given = parser.parse_args()
    every: list[Case] = []
    for path in given.packs:
        some = list(cases(path, given.cases, given.preset))
        told(path.name.partition(".")[0], some)
        every += some
    told("all", every)


if __name__ == "__main__":
    main()
