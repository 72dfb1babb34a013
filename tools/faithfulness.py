"""Measure whether the words that an explanation names are what a passage is found by.

    python -m tools.faithfulness --data DATA [--sets scifact qasper ...] [--presets aligned general]
        [--limit 100] [--public FOLDER] [--out table.md]

For the first hit of each query the words that its trace names are replaced by [MASK], at most one
mention for each word of the query, and the passage is read anew; all others stay whole. What its
score then loses, in the units of its lines (−log), is compared with what it loses when as many
other content words of it are hidden, drawn at random several times. Where a passage has fewer other
words than named ones, as many of the named ones are drawn. Then only the named words are kept, the
other content words hidden or everything else left out: is it still the first hit?

With `--public`, a folder that has ms-marco-MiniLM-L-12-v2 as `model.onnx` and `tokenizer.json`, the
same words are hidden from that reranker, which had no part in the trace; its loss is in logits.
Intervals are 95 % bootstrap intervals over queries.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.config import COST_UNIT
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Hit
from abstrag.neural.runtime import segment_text
from abstrag.search.relevance import PRESETS
from abstrag.workspace.document import SearchableDocument
from abstrag_bench.abstrag_system import AbstragSystem, SharedIndexer
from abstrag_bench.baselines.public_models import PublicModel
from abstrag_bench.case import REPORT_PARTS, Case, sampled
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.stats import intervals, resampled_means
from tools.hidden_words import WordPlace, content_places, hiding, keeping, named_places

DRAWS: Final = 5
SEED: Final = 20
LARGEST: Final = 99  # a ratio is not told more exactly than that

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measured:
    """One query: what hiding named and other words costs, and whether the named ones suffice."""

    named: float
    other: float
    first_hidden: bool  # the other content words hidden, it is still the first hit
    first_alone: bool  # nothing left but the named words, it still is
    lines: Mapping[str, float]  # what each line of the score loses with nothing but the named words
    public_named: float = 0.0
    public_other: float = 0.0


@dataclass(slots=True)
class Probe:
    """Hides words of first hits; `public` is a reranker that had no part in the trace."""

    system: AbstragSystem
    public: PublicModel | None
    draws: int = DRAWS

    def measure(self, case: Case) -> Measured | None:
        """Return what hiding words of a query's first hit does; None where it names none.

        None, too, where the passage has no other content words to compare with.
        """
        self.system.index(case.document)
        document = self.system.document
        hits = document.search(case.query, k=1, fill=True).hits
        if not hits:
            return None
        hit, index = hits[0], document.index
        segment = index.segments[hit.position]
        named = named_places(hit, segment)
        others = [place for place in content_places(segment) if place not in set(named)]
        size = min(len(named), len(others))
        if not size:
            return None
        drawn = random.Random(f"{SEED} {case.case_id} {hit.segment}")
        rounds = 1 if size == len(named) else self.draws
        ours = [drawn.sample(named, size) if rounds > 1 else named for _ in range(rounds)]
        theirs = [drawn.sample(others, size) for _ in range(self.draws)]
        whole, alone = _cost(hit), keeping(index, hit.position, named)
        return Measured(
            named=self._mean_loss(case.query, index, hit, whole, ours),
            other=self._mean_loss(case.query, index, hit, whole, theirs),
            first_hidden=self._still_first(case.query, hit, hiding(index, hit.position, others)),
            first_alone=self._still_first(case.query, hit, alone),
            lines=self._lost(case.query, hit, alone),
            public_named=self._public_loss(case.query, index, hit, ours),
            public_other=self._public_loss(case.query, index, hit, theirs),
        )

    def _still_first(self, query: str, hit: Hit, changed: DocumentIndex) -> bool:
        hits = self._opened(changed).search(query, k=1, fill=True).hits
        return bool(hits) and hits[0].position == hit.position

    def _lost(self, query: str, hit: Hit, changed: DocumentIndex) -> dict[str, float]:
        left = {line.name: line.units for line in hit.lines}
        found = self._opened(changed).explain(query, hit.segment).lines
        return {one.name: (one.units - left.get(one.name, 0)) / COST_UNIT for one in found}

    def _opened(self, index: DocumentIndex) -> SearchableDocument:
        return self.system.indexer.workspace.document(index, self.system.options)

    def _mean_loss(
        self,
        query: str,
        index: DocumentIndex,
        hit: Hit,
        whole: float,
        draws: Sequence[Sequence[WordPlace]],
    ) -> float:
        losses = []
        for places in draws:
            changed = self._opened(hiding(index, hit.position, places))
            losses.append(_cost(changed.explain(query, hit.segment)) - whole)
        return float(np.mean(losses))

    def _public_loss(
        self, query: str, index: DocumentIndex, hit: Hit, draws: Sequence[Sequence[WordPlace]]
    ) -> float:
        if self.public is None:
            return 0.0
        changed = [hiding(index, hit.position, places) for places in draws]
        texts = [segment_text(one.segments[hit.position]) for one in (index, *changed)]
        logits = [float(made[0]) for made in self.public.run([(query, text) for text in texts])]
        return logits[0] - float(np.mean(logits[1:]))


def _cost(hit: Hit) -> float:
    """Return −log of a score, as the lines of the hit have it."""
    return sum(line.units for line in hit.lines) / COST_UNIT


def cases_of(data: Path, name: str, limit: int | None) -> Iterator[Case]:
    """Go through a sample of a report part, document by document."""
    found = load_dataset(name, data, REPORT_PARTS[name]).cases
    answered = [case for case in found if case.gold]
    chosen = sampled(answered, limit, seed=SEED) if limit else answered
    yield from sorted(chosen, key=lambda case: case.document.id)


def ratio(columns: Array) -> str:
    """Say how many times as large one mean loss is as the other, with its interval."""
    means = np.vstack((columns.mean(axis=0), resampled_means(columns)))
    spread = means[:, 0] / np.maximum(means[:, 1], 1e-9)
    low, high = np.quantile(spread[1:], [0.025, 0.975])
    return f"{_times(spread[0])} [{_times(low)}, {_times(high)}]"


def _times(value: float) -> str:
    """Write a ratio; hiding other words may cost next to nothing."""
    return f"{value:.1f}" if value <= LARGEST else f">{LARGEST}"


def row(name: str, preset: str, found: Sequence[Measured], *, public: bool) -> str:
    """Return a line of the table."""
    losses = np.array([(one.named, one.other) for one in found])
    cells = [name, preset, str(len(found))]
    cells += [f"{one.mean:.2f}" for one in intervals(losses)]
    cells.append(ratio(losses))
    first = np.array([(100.0 * one.first_hidden, 100.0 * one.first_alone) for one in found])
    cells += [f"{one.mean:.0f} [{one.low:.0f}, {one.high:.0f}]" for one in intervals(first)]
    if public:
        losses = np.array([(one.public_named, one.public_other) for one in found])
        cells += [f"{one.mean:.2f}" for one in intervals(losses)]
        cells.append(ratio(losses))
    return f"| {' | '.join(cells)} |"


def lost(name: str, preset: str, found: Sequence[Measured]) -> str:
    """Say which lines of the score lose what where nothing but the named words is left."""
    names = dict.fromkeys(line for one in found for line in one.lines)
    means = {line: np.mean([one.lines.get(line, 0.0) for one in found]) for line in names}
    parts = ", ".join(f"{line} {mean:+.2f}" for line, mean in means.items())
    return f"{name}, {preset}, nothing but the named words: {parts}"


def head(*, public: bool) -> str:
    """Return the head of the table."""
    cells = ["data", "preset", "n", "named words hidden", "others hidden", "ratio"]
    cells += ["still first with others hidden, %", "with nothing else, %"]
    if public:
        cells += ["public reranker: named hidden", "others hidden", "ratio"]
    return f"| {' | '.join(cells)} |\n|{'---|' * len(cells)}"


def main() -> None:
    """Measure, print the table, and write it where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="+", default=list(REPORT_PARTS), choices=list(REPORT_PARTS))
    parser.add_argument("--presets", nargs="+", default=["aligned", "general"])
    parser.add_argument("--limit", type=int, help="cases of each data set, drawn at random")
    parser.add_argument("--draws", type=int, default=DRAWS, help="random draws for each query")
    parser.add_argument("--public", type=Path, help="folder of a public reranker")
    parser.add_argument("--out", type=Path, help="where to write the table")
    given = parser.parse_args()
    public = PublicModel.load(given.public) if given.public else None
    lines = [head(public=public is not None)]
    print(lines[0], flush=True)
    for name in given.sets:
        cases, indexer = list(cases_of(given.data, name, given.limit)), SharedIndexer()
        probes = {
            preset: Probe(
                AbstragSystem(preset=PRESETS[preset], indexer=indexer), public, given.draws
            )
            for preset in given.presets
        }
        found: dict[str, list[Measured]] = {preset: [] for preset in given.presets}
        for case in cases:
            for preset, probe in probes.items():
                if (one := probe.measure(case)) is not None:
                    found[preset].append(one)
        for preset, measured in found.items():
            if measured:
                lines.append(row(name, preset, measured, public=public is not None))
                print(lines[-1], flush=True)
                print(lost(name, preset, measured), flush=True)
    if given.out is not None:
        given.out.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
