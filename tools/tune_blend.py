"""Measure ways to blend the preset `general`, with judges that have not seen the documents.

    python -m tools.tune_blend --data DATA --examples build/training/examples.npz \
        --source qasper contractnli --logits build/oof/*.npz --slope 0.42 --offset -1.38 \
        --weights lexical=0.3,dense=3,coverage=1.5,utility=0.3,gap=0.05 --against judged=0

The judge that ships has learned from every document of the `tune` parts, so how much to trust it
cannot be told there. `training/judge.py --logits` writes what judges say about documents that they
were not shown; all else is computed by the package from the same cases, and scored by it.

A blend is the name of a preset, or weights: those not named are 0, but judge is 1 and judged is as
in `general`; judged=0 has the judge read everything. Figures are nDCG@10 × 100 over cases with gold
and logits, with 95 % bootstrap intervals, and the paired difference from --against. `--cache` keeps
indexes and embeddings for the next run. What a change of the package brings is told by two runs:
`--save` keeps the scores of the one before it, `--before` prints the paired difference from them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from abstrag.bench.abstrag_system import Indexer
from abstrag.bench.case import Case
from abstrag.bench.datasets.load import load_dataset
from abstrag.bench.metrics.ndcg import NDCG
from abstrag.bench.record import CaseRecord
from abstrag.bench.shared import shared
from abstrag.bench.stats import differences, intervals
from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.rank.match import Signal
from abstrag.rank.postings import BoolArray, FloatArray, IntArray
from abstrag.rank.relevance import GENERAL, PRESETS, Preset
from abstrag.rank.shortlist import Candidates, effort, shortlist
from abstrag.workspace.options import SearchOptions
from training.sources import SOURCES

FIELDS: Final = {
    "judge": "judge_weight",
    "lexical": "lexical_weight",
    "dense": "dense_weight",
    "coverage": "coverage_weight",
    "utility": "utility_power",
    "gap": "gap_rate",
}
EVERYTHING: Final = Preset("factors", lexical_weight=1.0, dense_weight=1.0)  # all there is to blend
OPTIONS: Final = SearchOptions(preset=EVERYTHING, patched=False)
# the same where a judge has a say, which decides what is no hit
JUDGED: Final = replace(EVERYTHING, name="judged factors", judge_weight=1.0)
Calibrated = Callable[[FloatArray], FloatArray]
Count = Callable[[IntArray, FloatArray], BoolArray]  # which segments are hits, given what is said


@dataclass(frozen=True, slots=True)
class Asked:
    """A case with all that a blend needs; elements, lengths and judgements go by candidate."""

    case: Case
    candidates: Candidates
    elements: tuple[str, ...]
    lengths: IntArray
    judgements: FloatArray
    count: Count

    def ranked(self, preset: Preset) -> tuple[str, ...]:
        """Return the elements as `abstrag bench` ranks them: the hits first, best first."""
        read = self._read(preset)
        said = np.zeros(len(self.elements))
        said[read] = self.judgements[read]
        rows = np.arange(len(self.elements))
        scores = self.candidates.score(preset, said, rows)
        hits = np.ones(len(rows), dtype=np.bool_)
        if preset.judge_weight:
            hits = self.count(self.candidates.positions, said)
        order = np.lexsort((rows, -scores, ~(hits & (scores > 0))))
        return tuple(dict.fromkeys(self.elements[row] for row in order))

    def _read(self, preset: Preset) -> IntArray:
        """Return the rows a judge would read."""
        rows, own = np.arange(len(self.elements)), effort(self.lengths)
        if not preset.judge_weight:
            return rows[:0]
        if preset.judged is None:
            return rows
        return shortlist(
            rows,
            preset.judged,
            lambda some, embedded: self.candidates.promise(preset, some, embedded=embedded),
            lambda some: own[some],
        )

    def ndcg(self, preset: Preset) -> float:
        """Return nDCG@10 as `abstrag bench` computes it."""
        case = self.case
        return NDCG(
            CaseRecord(
                dataset=case.dataset,
                split=case.split,
                case_id=case.case_id,
                system=preset.name,
                query=case.query,
                ranked=self.ranked(preset),
                scores=(),
                gold=case.gold,
                gold_sets=case.gold_sets,
            )
        )


def preset_of(text: str) -> Preset:
    """Read weights such as `lexical=1,dense=2,utility=0.3`, or take a preset by its name."""
    if text in PRESETS:
        return PRESETS[text]
    values = {"judge": 1.0, "judged": float(GENERAL.judged or 0)}
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name not in (*FIELDS, "judged"):
            known = ", ".join((*FIELDS, "judged"))
            raise argparse.ArgumentTypeError(f"nothing is called {name!r}; there are: {known}")
        values[name] = float(value)
    judged = int(values["judged"]) or None
    weights: dict[str, Any] = {field: values.get(name, 0.0) for name, field in FIELDS.items()}
    return Preset(text or "judge=1", pooling=GENERAL.pooling, judged=judged, **weights)


def calibration(slope: float, offset: float) -> Calibrated:
    """Return what turns logits into probabilities."""
    return lambda logits: 1.0 / (1.0 + np.exp(-(slope * logits + offset)))


def read_logits(paths: Sequence[Path]) -> dict[int, FloatArray]:
    """Return the logits of each query, by its number in the file of examples."""
    found: dict[int, FloatArray] = {}
    for path in paths:
        with np.load(path) as file:
            parts = np.split(file["l"].astype(np.float64), np.cumsum(file["n"])[:-1])
            found.update(zip(file["q"].tolist(), parts, strict=True))
    return found


def numbers(examples: Path) -> dict[str, range]:
    """Return the numbers that the queries of each source have in the file of examples."""
    with np.load(examples) as file:
        source = file["documents"][file["asked"][:, 0], 0]
        bounds = {name: np.flatnonzero(source == i) for i, name in enumerate(file["names"])}
    return {str(name): range(at[0], at[-1] + 1) for name, at in bounds.items() if len(at)}


def judged_cases(
    source: str, data: Path, known: range, logits: Mapping[int, FloatArray]
) -> Iterator[tuple[Case, FloatArray]]:
    """Go through the cases of a source that have gold, each with its logits."""
    name, split = SOURCES[source]
    cases = [c for c in load_dataset(name, data, f"{split}:tune").cases if len(c.document.ids) > 1]
    if len(cases) != len(known):
        raise InputError(
            f"{source!r} has {len(cases)} cases, and the file of examples {len(known)}",
            hint="write it again with training/prepare.py",
        )
    for number, case in zip(known, cases, strict=True):
        if number in logits and case.gold:
            if len(logits[number]) != len(case.document.ids):
                raise InputError(f"the logits of query {number} are of another document")
            yield case, logits[number]


def asked(cases: Iterator[tuple[Case, FloatArray]], calibrated: Calibrated) -> Iterator[Asked]:
    """Compute every factor of every case; cases of one document come in a row."""
    indexer = Indexer()
    searcher = None
    pool = None
    for case, logits in cases:
        if searcher is None or case.document is not pool:
            pool = case.document
            pooled, made = indexer(pool)
            searcher = indexer.workspace.document(made, OPTIONS).searcher
            elements = pooled.element_ids(made)
            lengths = np.array([len(segment.text) for segment in made.segments])
            place = {name: i for i, name in enumerate(pool.ids)}
        scoring = searcher.scoring(case.query)
        found = scoring.candidates
        own = tuple(elements[p] for p in found.positions.tolist())
        yield Asked(
            case=case,
            candidates=with_late_dense(found, len(lengths)),
            elements=own,
            lengths=lengths[found.positions],
            judgements=calibrated(logits[[place[name] for name in own]]),
            count=replace(scoring, preset=JUDGED, judge=_not_asked).count,
        )


def _not_asked(query: Query, segments: Sequence[Segment]) -> list[float]:
    """Stand in for the judge whose logits are at hand."""
    raise AssertionError(f"{query.text!r} is judged by logits, and {len(segments)} were asked for")


def with_late_dense(found: Candidates, segments: int) -> Candidates:
    """Return candidates whose cosines are known, for presets that ask for them late or early."""
    near = np.zeros(segments)
    near[found.positions] = found.signals[Signal.DENSE]
    return replace(found, dense=lambda positions: near[positions])


def report(source: str, scores: FloatArray, before: FloatArray, presets: Sequence[Preset]) -> None:
    """Print each blend, and how far it is from the first one and from what it was before."""
    base, *tried = presets
    print(f"{source}, n {len(scores)}")
    means = intervals(scores)
    apart = differences(scores[:, 1:] - scores[:, :1])
    print(f"  {means[0].mean:5.1f} [{means[0].low:.1f}, {means[0].high:.1f}]  {base.name}")
    for preset, mean, by in zip(tried, means[1:], apart, strict=True):
        print(
            f"  {mean.mean:5.1f} [{mean.low:.1f}, {mean.high:.1f}]  {preset.name}: "
            f"{by.mean:+.1f} [{by.low:+.1f}, {by.high:+.1f}]",
            flush=True,
        )
    if before.size:
        for preset, by in zip(presets, differences(scores - before), strict=True):
            print(f"  {by.mean:+.2f} [{by.low:+.2f}, {by.high:+.2f}] since then: {preset.name}")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--examples", type=Path, required=True, help="what prepare.py wrote")
    parser.add_argument("--source", nargs="+", choices=list(SOURCES), required=True)
    parser.add_argument("--logits", type=Path, nargs="+", required=True)
    parser.add_argument("--slope", type=float, default=1.0)
    parser.add_argument("--offset", type=float, default=0.0)
    parser.add_argument("--weights", type=preset_of, nargs="+", required=True)
    parser.add_argument("--against", type=preset_of, default="judged=0")
    parser.add_argument("--cache", type=Path, help="a file that may be there already")
    parser.add_argument("--save", type=Path, help="where to keep the scores of each case")
    parser.add_argument("--before", type=Path, help="scores that were kept, of the same blends")
    given = parser.parse_args(arguments)
    presets = (given.against, *given.weights)
    before = dict(np.load(given.before)) if given.before else {}
    scores: dict[str, FloatArray] = {}
    logits, known = read_logits(given.logits), numbers(given.examples)
    with shared(given.cache) if given.cache else nullcontext():
        for source in given.source:
            cases = judged_cases(source, given.data, known[source], logits)
            found = list(asked(cases, calibration(given.slope, given.offset)))
            scores[source] = 100 * np.array([[one.ndcg(p) for p in presets] for one in found])
            report(source, scores[source], before.get(source, np.zeros(0)), presets)
    if given.save:
        np.savez(given.save, **scores)  # type: ignore[arg-type]  # a name is no option


if __name__ == "__main__":
    main()
