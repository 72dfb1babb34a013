"""Fit the numbers of the presets `aligned` and `general` to cases, several data sets at once.

    python -m tools.tune_prices dump --data DATA --source scifact:tune … --output FILE
    python -m tools.tune_prices fit FILE

`dump` has the package index each case's document and writes, for every segment, the prices of the
query's words, of the whole, of its bridges, its utility, its gap and what the judge says. `fit`
searches the weights that make the mean of nDCG@10 over the data sets highest.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from abstrag.bench.abstrag_system import Indexer
from abstrag.bench.case import Case
from abstrag.bench.datasets.load import load_dataset
from abstrag.config import COST_UNIT, MAX_GAP
from abstrag.errors import InputError
from abstrag.neural.judge import default_judge
from abstrag.search.match import LEAST_JUDGEMENT
from abstrag.search.relevance import ALIGNED
from abstrag.workspace.options import SearchOptions
from training.sources import SOURCES

READ: Final = 48  # segments the judge reads of a document, the best ones without it


@dataclass(frozen=True, slots=True)
class Features:
    """A case with everything that its score is made of, by segment."""

    source: str
    gold: np.ndarray  # 1 where a segment is evidence
    groups: np.ndarray  # the element each segment belongs to
    prices: np.ndarray  # words, segments
    bridged: np.ndarray  # words, segments: the price of the literal of each word
    direct: np.ndarray  # words, segments
    weights: np.ndarray
    rarity: np.ndarray
    gist: np.ndarray
    gap: np.ndarray
    utility: np.ndarray
    said: np.ndarray  # by the judge; 0 where it has not read
    limit: float


def features(source: str, case: Case, indexer: Indexer, judged: int) -> Features | None:
    """Compute all about one case."""
    pooled, made = indexer(case.document)
    elements = pooled.element_ids(made)
    options = SearchOptions(preset=ALIGNED, patched=False)
    searcher = indexer.workspace.document(made, options).searcher
    try:
        scoring = searcher.scoring(case.query)
    except InputError:
        return None
    found, alignment = scoring.everything, scoring.alignment
    assert alignment is not None
    at = found.positions
    costs = np.full((len(scoring.query.literals), len(made.records)), MAX_GAP)
    costs[:, scoring.lookup.segments] = np.minimum(scoring.lookup.distances / COST_UNIT, MAX_GAP)
    bridged = np.array(
        [costs[j] if j >= 0 else np.full(costs.shape[1], MAX_GAP) for j in alignment.literal_of]
    )
    promise = found.score(ALIGNED, np.zeros(len(at)), np.arange(len(at)))
    read = np.argsort(-promise, kind="stable")[:judged]
    said = np.zeros(len(at))
    if judged:
        judge = default_judge()
        said[read] = judge(scoring.query, [made.segments[int(p)] for p in at[read]])
    names = [elements[int(p)] for p in at]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return Features(
        source,
        np.array([name in set(case.gold) for name in names], float),
        np.array([numbers[name] for name in names]),
        alignment.prices[:, at].astype(np.float32),
        bridged[:, at].astype(np.float32) if len(bridged) else np.zeros((0, len(at)), np.float32),
        alignment.direct[:, at],
        alignment.asked.weights,
        alignment.rarity,
        alignment.gist[at],
        found.gap,
        found.utility,
        said,
        alignment.constants.limit,
    )


def ndcg(scores: np.ndarray, one: Features, k: int = 10) -> float:
    """Return nDCG@10 of the elements, each as good as its best segment."""
    order = np.argsort(-scores, kind="stable")
    _, first = np.unique(one.groups[order], return_index=True)
    ranked = order[np.sort(first)][:k]
    gains = one.gold[ranked] / np.log2(np.arange(2, len(ranked) + 2))
    count = len({g for g, yes in zip(one.groups, one.gold, strict=True) if yes})
    return float(gains.sum() / (1 / np.log2(np.arange(2, min(count, k) + 2))).sum())


@dataclass(frozen=True, slots=True)
class Numbers:
    """What is fitted."""

    alpha: float = 8.0
    share: float = 0.26
    rarity: float = 0.5
    unmet: float = 0.3
    utility: float = 0.15
    gap: float = 0.3
    judge: float = 1.0
    judged: int = 24
    links: bool = True  # learned ones
    bridges: bool = True  # any
    limit: float = 0.0  # as in the manifest


def score(one: Features, n: Numbers) -> np.ndarray:
    """Return the score of all segments, as the package computes it but for rounding."""
    prices = np.minimum(one.prices, one.bridged) if n.bridges else one.prices
    if not n.links or not n.bridges:
        learned = np.where(one.direct, 0.0, MAX_GAP)
        prices = np.minimum(learned, one.bridged) if n.bridges else learned
    weights = one.weights * one.rarity**n.rarity
    weights = weights / (weights.sum() or 1)
    limit = n.limit or one.limit
    charged = np.where(prices <= limit, prices, n.unmet * MAX_GAP + (1 - n.unmet) * prices)
    most = MAX_GAP * (1 - n.share) / n.share if n.share else MAX_GAP
    gist = np.minimum(one.gist, most)
    total = n.alpha * ((1 - n.share) * (weights @ charged) + n.share * gist)
    total = total - n.utility * np.log(np.maximum(one.utility, 1e-9)) + n.gap * one.gap
    if n.judge:
        read = np.argsort(total, kind="stable")[: n.judged]
        said = np.full(len(total), LEAST_JUDGEMENT)
        said[read] = np.maximum(one.said[read], LEAST_JUDGEMENT)
        total = total - n.judge * np.log(said)
    found: np.ndarray = -total
    return found


def means(cases: Sequence[Features], n: Numbers) -> dict[str, float]:
    """Return nDCG@10 × 100 of each data set."""
    found: dict[str, list[float]] = {}
    for one in cases:
        found.setdefault(one.source, []).append(ndcg(score(one, n), one))
    return {source: 100 * float(np.mean(some)) for source, some in found.items()}


GRID: Final[dict[str, Sequence[Any]]] = {
    "alpha": (2, 4, 6, 8, 12, 16, 24),
    "share": (0.0, 0.1, 0.2, 0.26, 0.35, 0.45, 0.6, 0.75),
    "rarity": (0.0, 0.25, 0.5, 0.75, 1.0),
    "unmet": (0.0, 0.15, 0.3, 0.6, 1.0),
    "utility": (0.0, 0.15, 0.3, 0.6),
    "gap": (0.0, 0.1, 0.3, 0.6, 1.0),
    "judge": (0.25, 0.5, 1.0, 1.5, 2.5, 4.0),
    "limit": (0.0, 0.2, 0.4, 0.7, 1.2, 2.0),
}


def fit(cases: Sequence[Features], start: Numbers, fixed: Sequence[str]) -> Numbers:
    """Return the best numbers that changing one at a time finds."""
    best, value = start, float(np.mean(list(means(cases, start).values())))
    changed = True
    while changed:
        changed = False
        for name, values in GRID.items():
            if name in fixed:
                continue
            for one in values:
                tried = replace(best, **{name: one})
                found = float(np.mean(list(means(cases, tried).values())))
                if found > value + 0.02:
                    best, value, changed = tried, found, True
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    dump = commands.add_parser("dump")
    dump.add_argument("--data", type=Path, required=True)
    dump.add_argument("--source", nargs="+", required=True)
    dump.add_argument("--most", type=int, default=100)
    dump.add_argument("--judged", type=int, default=READ, help="how many the judge reads; 0: none")
    dump.add_argument("--output", type=Path, required=True)
    fitted = commands.add_parser("fit")
    fitted.add_argument("file", type=Path, nargs="+")
    given = parser.parse_args()
    if given.command == "dump":
        made: list[Features] = []
        for name in given.source:
            source, _, part = name.partition(":")
            started = time.time()
            cases = [c for c in load_cases(given.data, source, part) if c.gold]
            step = max(1, len(cases) // given.most)
            indexer = Indexer()
            for case in cases[::step][: given.most]:
                one = features(source, case, indexer, given.judged)
                if one is not None:
                    made.append(one)
            print(name, len(cases), f"{time.time() - started:.0f} s", flush=True)
            given.output.write_bytes(pickle.dumps(made))
        return
    read: list[Features] = [x for file in given.file for x in pickle.loads(file.read_bytes())]
    unjudged = not any(one.said.any() for one in read)
    for label, start, fixed in (
        ("aligned", Numbers(judge=0.0), ("judge",)),
        ("general", Numbers(), ()),
        ("no gist", Numbers(judge=0.0, share=0.0), ("judge", "share")),
        ("no bridges", Numbers(judge=0.0, bridges=False), ("judge",)),
        ("no bridges, no gist", Numbers(judge=0.0, bridges=False, share=0.0), ("judge", "share")),
    ):
        if label == "general" and unjudged:
            continue
        best = fit(read, start, fixed)
        found = means(read, best)
        print(label, best)
        print(
            "  ",
            {k: round(v, 1) for k, v in found.items()},
            round(float(np.mean(list(found.values()))), 2),
        )


def load_cases(data: Path, source: str, part: str) -> Sequence[Case]:
    """Return the cases of one data set."""
    name, split = SOURCES[source]
    return load_dataset(name, data, f"{split}:{part}" if part else split).cases


if __name__ == "__main__":
    main()
