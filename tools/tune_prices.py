"""Fit the numbers of the presets `aligned` and `general` to cases, several data sets at once.

    python -m tools.tune_prices dump --data DATA --source scifact:tune … --output FILE \
        [--aligner FOLDER] [--fold 0] [--logits z0.npz] [--workers 8]
    python -m tools.tune_prices fit FILE

`dump` has the package index each case's document and writes, for every segment, what its score is
made of: the prices of the query's words, of its bridges, of the whole, its utility, its gap, and
what a judge says. Models that have been trained on a document tell too much about it, so `--fold`
takes only the documents of one fold of training, `--aligner` an aligner that has not seen them, and
`--logits` what a judge that has not seen them says. `fit` searches the numbers that make the mean
of nDCG@10 over the data sets highest, with bridges and without.
"""

from __future__ import annotations

import argparse
import pickle
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final

import numpy as np

from abstrag.config import COST_UNIT, MAX_GAP
from abstrag.engine import searcher as searching
from abstrag.errors import InputError
from abstrag.neural.aligner import Aligner
from abstrag.search.relevance import ALIGNED, LEAST_JUDGEMENT
from abstrag.search.scoring import Scoring
from abstrag_bench.abstrag_system import AbstragSystem, SharedIndexer
from abstrag_bench.case import Case
from abstrag_bench.datasets.load import load_dataset
from training.sources import SOURCES, fold_of

SLOPE, OFFSET = 0.6787, -1.1312  # how logits of a judge become probabilities


@dataclass(frozen=True, slots=True)
class Features:
    """A case with everything that its score is made of, by segment."""

    source: str
    gold: np.ndarray  # 1 where a segment is evidence
    groups: np.ndarray  # the element each segment belongs to
    prices: np.ndarray  # words, segments
    bridged: np.ndarray  # words, segments: the price of the literal of each word
    weights: np.ndarray
    rarity: np.ndarray
    gist: np.ndarray
    gap: np.ndarray
    holds: np.ndarray  # whether a segment meets a literal at all
    utility: np.ndarray
    there: np.ndarray  # words, segments: whether the same word is there, without any bridge
    bare_gap: np.ndarray  # without any bridge
    said: np.ndarray  # by the judge; 0 where it has not read
    limit: float


@cache
def systems() -> tuple[AbstragSystem, AbstragSystem]:
    """Return the preset `aligned` with bridges and without, over one index."""
    indexer = SharedIndexer()
    whole = AbstragSystem(preset=ALIGNED, indexer=indexer)
    return whole, AbstragSystem(preset=ALIGNED, indexer=indexer, bridges=False)


def features(source: str, case: Case, said: np.ndarray | None) -> Features | None:
    """Compute all about one case; `said` are a judge's logits of the document's elements."""
    scorings: list[Scoring] = []
    for system in systems():
        system.index(case.document)
        try:
            scorings.append(system.document.searcher.scoring(case.query))
        except InputError:
            return None
    scoring, bare = scorings
    found, alignment = scoring.everything, scoring.alignment
    assert alignment is not None
    assert bare.alignment is not None
    at, size = found.positions, len(scoring.document.records)
    costs = np.full((len(scoring.query.literals), size), MAX_GAP)
    costs[:, scoring.lookup.segments] = np.minimum(scoring.lookup.distances / COST_UNIT, MAX_GAP)
    none = np.full(size, MAX_GAP)
    bridged = np.array([costs[j] if j >= 0 else none for j in alignment.literal_of])
    names = [systems()[0].element(int(p)) for p in at]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
    judged = np.zeros(len(at))
    if said is not None:
        place = {element.id: i for i, element in enumerate(case.document.elements)}
        logits = np.array([said[place[name]] for name in names])
        judged = 1 / (1 + np.exp(-(SLOPE * logits + OFFSET)))
    return Features(
        source,
        np.array([name in set(case.gold) for name in names], float),
        np.array([numbers[name] for name in names]),
        alignment.prices[:, at].astype(np.float32),
        bridged[:, at].astype(np.float32) if len(bridged) else np.zeros((0, len(at)), np.float32),
        alignment.asked.weights,
        alignment.rarity,
        alignment.gist[at],
        found.gap,
        scoring.holds[at],
        found.utility,
        bare.alignment.direct[:, at],
        bare.everything.gap,
        judged,
        alignment.constants.limit,
    )


def work(job: tuple[str, Sequence[tuple[Case, np.ndarray | None]], Path | None]) -> list[Features]:
    """Compute the features of cases about one document."""
    source, cases, folder = job
    if folder is not None:
        vars(searching)["default_aligner"] = partial(read_aligner, folder)
    made = (features(source, case, said) for case, said in cases)
    return [one for one in made if one is not None]


@cache
def read_aligner(folder: Path) -> Aligner:
    """Return an aligner other than the one that ships."""
    return Aligner.load(folder, threads=1)


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

    alpha: float = 4.0
    share: float = 0.35
    rarity: float = 0.5
    unmet: float = 0.0
    utility: float = 0.15
    gap: float = 0.3
    judge: float = 3.0
    judged: int = 24
    bridges: bool = True
    limit: float = 0.0  # as in the manifest


def score(one: Features, n: Numbers) -> np.ndarray:
    """Return the score of all segments, as the package computes it but for rounding."""
    if n.bridges:
        prices, gap = np.minimum(one.prices, one.bridged), one.gap
    else:
        prices, gap = np.where(one.there, 0.0, MAX_GAP), one.bare_gap
    weights = one.weights * one.rarity**n.rarity
    weights = weights / (weights.sum() or 1)
    limit = n.limit or one.limit
    charged = np.where(prices <= limit, prices, n.unmet * MAX_GAP + (1 - n.unmet) * prices)
    total = n.alpha * ((1 - n.share) * (weights @ charged) + n.share * one.gist) + n.gap * gap
    holds = one.holds if n.bridges else one.there.any(axis=0)
    free, nothing = (gap == 0) & holds, ~((prices <= limit).any(axis=0) | holds)
    if free.any():
        worst = total[free].max() - n.judge * np.log(LEAST_JUDGEMENT)
        total = np.where(nothing, np.maximum(total, worst), total)
    total = total - n.utility * np.log(np.maximum(one.utility, 1e-9))
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
    "alpha": (2, 3, 4, 6, 8, 12),
    "share": (0.0, 0.15, 0.25, 0.35, 0.45, 0.6),
    "rarity": (0.0, 0.25, 0.5, 0.75, 1.0),
    "unmet": (0.0, 0.15, 0.3, 0.6, 1.0),
    "utility": (0.0, 0.15, 0.3, 0.6),
    "gap": (0.0, 0.1, 0.2, 0.3, 0.6, 1.0),
    "judge": (0.5, 1.0, 1.5, 2.0, 3.0, 4.0),
    "limit": (0.0, 0.4, 0.7, 1.4, 2.0),
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
    dump.add_argument("--aligner", type=Path)
    dump.add_argument("--fold", type=int)
    dump.add_argument("--logits", type=Path)
    dump.add_argument("--workers", type=int, default=1)
    dump.add_argument("--output", type=Path, required=True)
    fitted = commands.add_parser("fit")
    fitted.add_argument("file", type=Path, nargs="+")
    given = parser.parse_args()
    if given.command == "dump":
        write(given)
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
        mean = round(float(np.mean(list(found.values()))), 2)
        print("  ", {k: round(v, 1) for k, v in found.items()}, mean, flush=True)


def write(given: argparse.Namespace) -> None:
    """Compute the features of every case asked for and write them."""
    started, made = time.time(), list[Features]()
    jobs = []
    said = judged(given.data, given.logits) if given.logits else {}
    for name in given.source:
        source, _, part = name.partition(":")
        cases = [c for c in load_cases(given.data, source, part) if c.gold]
        if given.fold is not None:
            cases = [c for c in cases if fold_of(c.document.id) == given.fold]
        step = max(1, len(cases) // given.most)
        grouped: dict[int, list[tuple[Case, np.ndarray | None]]] = {}
        for case in cases[::step][: given.most]:
            logits = said.get((source, case.case_id))
            grouped.setdefault(id(case.document), []).append((case, logits))
        jobs += [(source, some, given.aligner) for some in grouped.values()]
    with ProcessPoolExecutor(given.workers, mp_context=get_context("spawn")) as pool:
        for found in pool.map(work, jobs):
            made += found
    given.output.write_bytes(pickle.dumps(made))
    print(f"{len(made)} cases, {time.time() - started:.0f} s", flush=True)


def judged(data: Path, path: Path) -> Mapping[tuple[str, str], np.ndarray]:
    """Return the logits that training wrote, by data set and case."""
    file = np.load(path)
    ends = np.cumsum(file["n"])
    rows = {
        int(q): file["l"][e - n : e] for q, n, e in zip(file["q"], file["n"], ends, strict=True)
    }
    return {key: rows[i] for i, key in enumerate(prepared(data)) if i in rows}


def prepared(data: Path) -> Iterator[tuple[str, str]]:
    """Go through the cases as `training/prepare.py` does."""
    for source in SOURCES:
        for case in load_cases(data, source, "tune"):
            if len(case.document.elements) > 1:
                yield source, case.case_id


def load_cases(data: Path, source: str, part: str) -> Sequence[Case]:
    """Return the cases of one data set."""
    name, split = SOURCES[source]
    return load_dataset(name, data, f"{split}:{part}" if part else split).cases


if __name__ == "__main__":
    main()
