"""Measure what a vocabulary brings for questions of its domain: a search without and with it.

    python tools/vocabulary_gain.py --data DATA --dataset scifact --split train:report \
        experiments/vocabulary/MRCONSO.RRF experiments/vocabulary/MRREL.RRF
    python tools/vocabulary_gain.py --data DATA --dataset tatqa --split tune:report \
        experiments/vocabulary/finance.csv

The sources are compiled to a Background. A question belongs to its domain when it names something
that the vocabulary has another name or a class for; how a document reads has no say in that.
Printed are nDCG@10 before, after, and the difference with its 95 % interval by bootstrap, for these
questions and for those among them whose ranking changes.

With --renamed each question is put as somebody else of the field would put it: everything that it
names is called by the first other name in the vocabulary that its document does not use. Questions
that cannot be renamed are left out, and a line tells how well those are answered as they were.

With --coded everything is called by a code that was made up for it, as a firm or a hospital has its
own; the vocabulary states these codes, and no model can know them.

Choose the part `tune` to work on a vocabulary, and `report` for the figure to tell. --stated takes
every source for your own word.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from math import log2
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.backgrounds.build import build
from abstrag.backgrounds.compiled import CompiledBackground
from abstrag.backgrounds.fact import BackgroundName
from abstrag.backgrounds.source import BackgroundSource
from abstrag.config import Settings
from abstrag.engine.library import Library
from abstrag.model.index import DocumentIndex
from abstrag.search.relevance import PRESETS
from abstrag_bench.abstrag_system import AbstragSystem, PooledDocument, SharedIndexer, to_document
from abstrag_bench.baselines.system import Pool
from abstrag_bench.case import Case
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.stats import differences, intervals

DEPTH: Final = 10


class InformedIndexer(SharedIndexer):
    """Indexes with a compiled Background, as a workspace does."""

    def __init__(self, background: CompiledBackground) -> None:
        super().__init__()
        self._compiled = background

    def __call__(self, pool: Pool) -> tuple[PooledDocument, DocumentIndex]:
        """Return the document of a pool and its index."""
        pooled = to_document(pool)
        settings = Settings(granularity=pool.granularity.value)
        library = Library(self.workspace.store, self._compiled, settings)
        return pooled, library.index_document(pooled.document)


def ndcg(ranked: list[str], gold: frozenset[str]) -> float:
    """Return nDCG among the first ten; gold elements count alike."""
    gained = sum(1 / log2(at + 2) for at, name in enumerate(ranked[:DEPTH]) if name in gold)
    return gained / sum(1 / log2(at + 2) for at in range(min(DEPTH, len(gold))))


def of_domain(
    cases: Iterator[Case], background: CompiledBackground, limit: int | None
) -> Iterator[Case]:
    """Go through the cases with gold whose question names something of the vocabulary."""

    def named(case: Case) -> bool:
        touched = background.touched_by([case.query])
        return bool(touched.suggestions or touched.background.aliases or touched.background.classes)

    return islice((case for case in cases if case.gold and named(case)), limit)


class Names:
    """What the things of a vocabulary are called."""

    def __init__(self, sources: list[BackgroundSource]) -> None:
        self.of: dict[str, list[str]] = {}
        for source in sources:
            for fact in source.facts():
                if isinstance(fact, BackgroundName) and len(fact.surface) > 1:
                    self.of.setdefault(fact.thing, []).append(fact.surface)

    def renamed(self, case: Case) -> Case | None:
        """Return a case with other names in its question; None when there is no other name."""
        said = "\n".join(element.text for element in case.document.elements)
        query, taken = case.query, False
        for names in self.of.values():
            for name in sorted(names, key=len, reverse=True):
                if not written(name).search(query):
                    continue
                other = next((one for one in names if not written(one).search(said)), None)
                if other is not None and not written(other).search(query):
                    query, taken = other.join(written(name).split(query, maxsplit=1)), True
                break
        return replace(case, query=query) if taken else None

    def coded(self, case: Case) -> Case | None:
        """Return a case with codes for names in its question; None when it names nothing."""
        query = case.query
        for code, names in zip(self.codes, self.of.values(), strict=True):
            for name in sorted(names, key=len, reverse=True):
                if written(name).search(query):
                    query = code.join(written(name).split(query, maxsplit=1))
                    break
        return replace(case, query=query) if query != case.query else None

    @property
    def codes(self) -> list[str]:
        """One code for each thing."""
        return [f"KX-{number:04d}" for number, _ in enumerate(self.of)]

    def write_codes(self, path: Path) -> BackgroundSource:
        """Write a source that says what the codes mean."""
        lines = [
            f'{code},"{names[0]}"' for code, names in zip(self.codes, self.of.values(), strict=True)
        ]
        path.write_text("\n".join(["alias,name", *lines, ""]), "utf-8")
        return BackgroundSource.of(path)


def written(name: str) -> re.Pattern[str]:
    """Find a name as whole words; one in capitals only in capitals."""
    return re.compile(rf"(?<!\w){re.escape(name)}s?(?!\w)", 0 if name.isupper() else re.IGNORECASE)


def measured(
    cases: list[Case], background: CompiledBackground, preset: str
) -> list[tuple[float, float, bool]]:
    """Return nDCG without and with the Background, and whether the ranking is another."""
    plain = AbstragSystem(preset=PRESETS[preset])
    informed = AbstragSystem(preset=PRESETS[preset], indexer=InformedIndexer(background))
    found = []
    for case in cases:
        gold = frozenset(case.gold)
        ranks = []
        for system in (plain, informed):
            system.index(case.document)
            ranks.append([name for name, _ in system.search(case.query, DEPTH)])
        before, after = (ndcg(one, gold) for one in ranks)
        found.append((before, after, ranks[0] != ranks[1]))
    return found


def told(name: str, rows: list[tuple[float, float, bool]]) -> str:
    """Return one line of the table."""
    values = 100 * np.array([row[:2] for row in rows])
    (before, after) = intervals(values)
    (gain,) = differences(values[:, 1:] - values[:, :1])
    return (
        f"{name:<34} {len(rows):>4}  {before.mean:5.1f} [{before.low:.1f}, {before.high:.1f}]"
        f"  {after.mean:5.1f} [{after.low:.1f}, {after.high:.1f}]"
        f"  {gain.mean:+.2f} [{gain.low:+.2f}, {gain.high:+.2f}]"
    )


def main() -> None:
    """Compile, choose the questions, and print a line for each preset."""
    parser = argparse.ArgumentParser(description="Measure what a vocabulary brings.")
    parser.add_argument("sources", type=Path, nargs="+")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split", required=True)
    parser.add_argument("--limit", type=int, help="questions of the domain")
    parser.add_argument("--presets", nargs="+", default=["general"], choices=sorted(PRESETS))
    parser.add_argument("--stated", action="store_true")
    parser.add_argument("--renamed", action="store_true", help="by other names of the vocabulary")
    parser.add_argument("--coded", action="store_true", help="by codes that only it has")
    parser.add_argument("--show", action="store_true", help="print the questions")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        compiled = Path(folder) / "vocabulary.db"
        trust = "stated" if given.stated else None
        sources = [BackgroundSource.of(path, trust) for path in given.sources]
        names = Names(sources)
        if given.coded:
            sources.append(names.write_codes(Path(folder) / "codes.csv"))
        build(sources, compiled)
        background = CompiledBackground.open(compiled)
        dataset = load_dataset(given.dataset, given.data, given.split)
        cases = list(of_domain(iter(dataset.cases), background, given.limit))
        other_words = names.coded if given.coded else names.renamed
        if given.renamed or given.coded:
            pairs = [(case, other) for case in cases if (other := other_words(case))]
            asked, cases = [case for case, _ in pairs], [other for _, other in pairs]
        if given.show:
            print(*(case.query for case in cases), sep="\n")
        print(f"{given.dataset} {given.split}, {len(cases)} questions of the domain, nDCG@10")
        print(f"{'preset':<34} {'n':>4}  without  with  difference")
        for preset in given.presets:
            if given.renamed or given.coded:
                print(told(f"{preset}, as they were", measured(asked, background, preset)))
            rows = measured(cases, background, preset)
            print(told(preset, rows), flush=True)
            changed = [row for row in rows if row[2]]
            if changed:
                print(told(f"{preset}, rankings that change", changed), flush=True)


if __name__ == "__main__":
    main()
