"""The table that decides: nDCG@10 on kinds of documents that a model was not trained on.

    python training/table.py --examples examples.npz --lexical lexical.npz --kinds build/kinds \
        [--against NAME] [--only NAME …]

Reads what `left_out.py` wrote. A kind's figure is the mean of its data sets' figures, and `mean`
that of the kinds; `inside` is the same over fold 0 where the kind was not left out. BM25 (stemmed),
and BM25 with a dense model `bge` as z-scores added, stand beside them. With --against, differences
with 95 % intervals: paired bootstrap over the queries of each data set.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from kinds import KINDS, sources_of
from metrics import ndcg

from examples import Examples, read_logits

SAMPLES = 2000
Said = Mapping[int, np.ndarray]


@dataclass(frozen=True)
class Figures:
    """nDCG@10 of queries about what was left out, and about what was not."""

    outside: Mapping[int, float]
    inside: Mapping[int, float]


def standardized(values: np.ndarray) -> np.ndarray:
    """Return z-scores; equal values become zeros."""
    spread = values.std()
    return (values - values.mean()) / spread if spread > 1e-9 else values * 0.0


def figures(examples: Examples, folder: Path) -> tuple[Figures, Said]:
    """Return a system's figures, and what it says of the kinds left out."""
    outside: dict[int, float] = {}
    inside: dict[int, list[float]] = {}
    said: dict[int, np.ndarray] = {}
    for path in sorted(folder.glob("*.npz")):
        sources = sources_of(path.stem.split("+"))
        for query, logits in read_logits([path], examples).items():
            value = of_query(examples, query, logits)
            if examples.source(query) in sources:
                outside[query] = value
                said[query] = logits
            else:
                inside.setdefault(query, []).append(value)
    return Figures(outside, {q: float(np.mean(v)) for q, v in inside.items()}), said


def of_query(examples: Examples, query: int, logits: np.ndarray) -> float:
    """Return nDCG@10 of one query, times 100."""
    first = examples.pool(query).start
    return 100 * ndcg(logits, {gold - first for gold in examples.gold(query)})


def by_kind(examples: Examples, values: Mapping[int, float]) -> dict[str, float]:
    """Return the mean of each kind's data sets that are there."""
    found: dict[str, list[float]] = {}
    for query, value in values.items():
        found.setdefault(examples.source(query), []).append(value)
    means = {source: float(np.mean(some)) for source, some in found.items()}
    return {
        kind: float(np.mean([means[source] for source in sources if source in means]))
        for kind, sources in KINDS.items()
        if any(source in means for source in sources)
    }


def difference(
    examples: Examples, one: Mapping[int, float], two: Mapping[int, float]
) -> dict[str, tuple[float, float, float]]:
    """Return by how much the first is better on each kind and on average, with an interval."""
    queries: dict[str, list[int]] = {}
    for query in sorted(one.keys() & two.keys()):
        queries.setdefault(examples.source(query), []).append(query)
    draw = np.random.default_rng(0)
    drawn: dict[str, np.ndarray] = {}
    exact: dict[str, float] = {}
    for source, some in queries.items():
        apart = np.array([one[q] - two[q] for q in some])
        picks = draw.integers(0, len(apart), (SAMPLES, len(apart)))
        drawn[source] = apart[picks].mean(axis=1)
        exact[source] = float(apart.mean())
    found: dict[str, tuple[float, float, float]] = {}
    kinds: list[tuple[float, np.ndarray]] = []
    for kind, sources in KINDS.items():
        here = [source for source in sources if source in drawn]
        if here:
            spread = np.mean([drawn[source] for source in here], axis=0)
            middle = float(np.mean([exact[source] for source in here]))
            kinds.append((middle, spread))
            found[kind] = (middle, *_ends(spread))
    spread = np.mean([one for _, one in kinds], axis=0)
    found["mean"] = (float(np.mean([one for one, _ in kinds])), *_ends(spread))
    return found


def _ends(spread: np.ndarray) -> tuple[float, float]:
    low, high = np.percentile(spread, [2.5, 97.5])
    return float(low), float(high)


def systems(examples: Examples, folder: Path, lexical: Path) -> dict[str, Figures]:
    """Return every system of a folder, with BM25 and BM25 beside `bge` first."""
    read = {path.name: figures(examples, path) for path in sorted(folder.iterdir())}
    words = read_logits([lexical], examples)
    asked = sorted({query for one, _ in read.values() for query in one.outside})
    inside = sorted({query for one, _ in read.values() for query in one.inside})
    bm25 = Figures(
        {q: of_query(examples, q, words[q]) for q in asked},
        {q: of_query(examples, q, words[q]) for q in inside},
    )
    found = {"bm25": bm25}
    if "bge" in read:
        both = {
            q: standardized(words[q]) + standardized(said) for q, said in read["bge"][1].items()
        }
        found["hybrid"] = Figures({q: of_query(examples, q, said) for q, said in both.items()}, {})
    return found | {name: one for name, (one, _) in read.items()}


def line(cells: Sequence[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cells) + " |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=Path, required=True)
    parser.add_argument("--lexical", type=Path, required=True)
    parser.add_argument("--kinds", type=Path, required=True)
    parser.add_argument("--against", help="show differences from this system")
    parser.add_argument("--only", nargs="+", help="systems to show")
    given = parser.parse_args()
    examples = Examples(given.examples, None)
    found = systems(examples, given.kinds, given.lexical)
    print(line(["", *KINDS, "mean", "inside"]))
    print("|" + "---|" * (len(KINDS) + 3))
    for name in given.only or found:
        kinds = by_kind(examples, found[name].outside)
        mean = f"{np.mean(list(kinds.values())):.1f}" if len(kinds) == len(KINDS) else ""
        home = by_kind(examples, found[name].inside)
        at_home = f"{np.mean(list(home.values())):.1f}" if home else ""
        cells = [f"{kinds[kind]:.1f}" if kind in kinds else "" for kind in KINDS]
        print(line([name, *cells, mean, at_home]))
    if not given.against:
        return
    print(f"\nless {given.against}:\n")
    for name in given.only or found:
        if name != given.against:
            apart = difference(examples, found[name].outside, found[given.against].outside)
            cells = [
                "{:+.1f} [{:+.1f}, {:+.1f}]".format(*apart[kind]) if kind in apart else ""
                for kind in (*KINDS, "mean")
            ]
            print(line([name, *cells]))


if __name__ == "__main__":
    main()
