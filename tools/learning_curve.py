"""Measure what lessons of some documents do for others: learn, freeze, and search the others.

    python -m tools.learning_curve --data DATA --dataset contractnli --learn dev:tune \
        --report dev:report --out RUN [--wrong 0.1] [--no-gold [--critic general]]

The evidence of each query to a document of the first split is given as feedback; with `--no-gold`
the calibrated critic takes the first hits for evidence where it is sure, under the preset that
searches or the one of `--critic`. `--refine` refines the
documents as well. After 25, 50, 100 and all episodes, what has the votes of three documents is
promoted, and the documents of the other split, which nothing was learned from, are searched with
the lessons in force. `--wrong` gives that share of the episodes a segment that is no evidence.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from abstrag.config import Settings
from abstrag.engine.refinement import presumed
from abstrag.refine.feedback import Episode
from abstrag.refine.limits import RefineBudget
from abstrag.search.relevance import PRESETS
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.lessons import gold_evaluator, learn
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.refining import RefineOptions
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import to_document
from abstrag_bench.case import Case
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.metrics.catalogue import NDCG, SUFF
from abstrag_bench.record import CaseRecord
from abstrag_bench.stats import difference_of_each, paired

CHECKPOINTS: Final = (25, 50, 100)
METRICS: Final = {"nDCG@10": NDCG @ 10, "Suff@5": SUFF @ 5}


@dataclass(frozen=True, slots=True)
class Curve:
    """One run: the workspace, the data, how far the critic looks, and how often it is wrong."""

    workspace: Workspace
    k: int
    gold: bool
    wrong: float
    refine: bool
    budget: RefineBudget
    critic: SearchOptions | None = None  # under which it looks where there is no gold

    def opened(self, case: Case) -> tuple[SearchableDocument, dict[int, str]]:
        """Index the document of a case, once, and say which element each segment belongs to."""
        pooled = to_document(case.document)
        name = pooled.document.id
        known = {info.id for info in self.workspace.documents()}
        target = self.workspace.stored(name) if name in known else None
        document = target or self.workspace.document(pooled.document)
        return document, dict(enumerate(pooled.element_ids(document.index)))

    def episode(
        self, case: Case, document: SearchableDocument, elements: dict[int, str]
    ) -> Episode:
        """Turn a labelled case into an episode; some are labelled wrongly, always the same ones."""
        segments = document.index.segments
        first: dict[str, str] = {}
        for position, element in elements.items():
            first.setdefault(element, segments[position].id)
        gold = [first[name] for name in case.gold if name in first]
        draw = random.Random(case.case_id)
        if draw.random() < self.wrong:
            others = sorted(set(first.values()) - set(gold))
            gold = [draw.choice(others)] if others else gold
        return Episode(document.index.document.id, case.query, tuple(gold) if self.gold else ())

    def presume(self, name: str, query: str) -> None:
        """Take the first hits for evidence, for others to learn from, where the critic is sure."""
        document = self.workspace.stored(name, self.critic)
        if (shown := presumed(document.searcher, query)) is not None:
            reason = "the critic is sure of the first hits"
            self.workspace.patches.patch_log.note_precedent(shown, document.index, reason)

    def learned(self, cases: Sequence[Case]) -> tuple[int, int, int]:
        """Learn from one document; returns attempts, patches kept and cases solved."""
        document, elements = self.opened(cases[0])
        episodes = {c.query: self.episode(c, document, elements) for c in cases}
        chosen = [e for e in episodes.values() if e.gold or not self.gold]
        for episode in chosen:
            if self.gold:
                document.feedback(episode.query, good=episode.gold)
            else:
                self.presume(document.index.document.id, episode.query)
        if not (chosen and self.refine):
            return 0, 0, 0
        evaluator = gold_evaluator(k=self.k) if self.gold else None
        options = RefineOptions(evaluator=evaluator, budget=self.budget)
        run = document.refine_all(chosen, options=options)
        attempts = sum(len(s.attempts) for made in run.refinements for s in made.steps)
        solved = run.potential_after[0] - run.potential_before[0]
        return attempts, len(run.patches), solved

    def measured(self, cases: Sequence[Case]) -> dict[str, dict[str, float]]:
        """Search held-back documents with the lessons in force; metric → case → value."""
        found: dict[str, dict[str, float]] = {name: {} for name in METRICS}
        last = ""
        for case in sorted(cases, key=lambda one: one.document.id):
            if case.document.id != last:
                document, elements = self.opened(case)
                last = case.document.id
            ranked: dict[str, float] = {}
            order = document.searcher.scoring(case.query).order
            for rank, position in enumerate(order):
                ranked.setdefault(elements[position], 1.0 / (1 + rank))
            record = CaseRecord(
                dataset=case.dataset,
                split=case.split,
                case_id=case.case_id,
                system="lessons",
                query=case.query,
                ranked=tuple(ranked),
                scores=tuple(ranked.values()),
                gold=case.gold,
                gold_sets=case.gold_sets,
                retrieved=len(ranked),
            )
            for name, metric in METRICS.items():
                found[name][case.case_id] = float(metric(record))
        return found


def groups(cases: Sequence[Case]) -> list[list[Case]]:
    """Group cases by document, in an order that depends on nothing but the documents' names."""
    found: dict[str, list[Case]] = {}
    for case in cases:
        if case.gold:
            found.setdefault(case.document.id, []).append(case)
    return sorted(found.values(), key=lambda g: sha256(g[0].document.id.encode()).digest())


def portions(
    grouped: Sequence[Sequence[Case]], checkpoints: Sequence[int] = CHECKPOINTS
) -> Iterator[tuple[list[Case], int | None]]:
    """Go through the episodes document by document, cut where a measurement is due."""
    done, left = 0, list(checkpoints)
    for group in grouped:
        rest = list(group)
        while rest:
            size = min(len(rest), left[0] - done) if left else len(rest)
            done += size
            due = left.pop(0) if left and done == left[0] else None
            yield rest[:size], due
            rest = rest[size:]
    yield [], done


def main() -> None:
    """Run the curve and print it."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--learn", required=True)
    parser.add_argument("--report", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--store", type=Path, help="default: OUT/library.db")
    parser.add_argument("--preset", default="aligned", choices=sorted(PRESETS))
    parser.add_argument("-k", type=int, default=3, help="how far the critic looks")
    parser.add_argument("--wrong", type=float, default=0.0)
    parser.add_argument("--no-gold", action="store_true")
    parser.add_argument("--critic", choices=sorted(PRESETS), help="default: as --preset")
    parser.add_argument("--refine", action="store_true", help="mend each document too")
    parser.add_argument("--attempts", type=int, default=12)
    parser.add_argument("--checkpoints", type=int, nargs="*", default=list(CHECKPOINTS))
    parser.add_argument("--limit", type=int, help="documents to learn from")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    teaching = load_dataset(given.dataset, given.data, given.learn).cases
    held = [c for c in load_dataset(given.dataset, given.data, given.report).cases if c.gold]
    granularity = held[0].document.granularity.value
    config = WorkspaceConfig(
        store=given.store or given.out / "library.db",
        policy=given.out / "policy",
        settings=Settings(granularity=granularity),
        options=SearchOptions(preset=PRESETS[given.preset]),
        keep=2,
    )
    with Workspace(config) as workspace:
        budget = RefineBudget(attempts=given.attempts)
        critic = SearchOptions(preset=PRESETS[given.critic or given.preset])
        gold = not given.no_gold
        curve = Curve(workspace, given.k, gold, given.wrong, given.refine, budget, critic)
        run(curve, groups(teaching)[: given.limit], held, given)


def run(curve: Curve, grouped: list[list[Case]], held: list[Case], given: Any) -> None:
    """Learn, measure at every checkpoint, and write down what came out."""
    started = time.perf_counter()
    base = curve.measured(held)
    rows = [row(0, base, base, (0, 0, 0), 0, 0)]
    totals = [0, 0, 0]
    for cases, due in portions(grouped, given.checkpoints):
        if cases:
            totals = [a + b for a, b in zip(totals, curve.learned(cases), strict=True)]
        if due is not None:
            evaluator = gold_evaluator(k=curve.k) if curve.refine and curve.gold else None
            learn(curve.workspace, evaluator=evaluator)
            patch_log = curve.workspace.patches.patch_log
            lessons, shown = patch_log.lessons(), patch_log.precedents()
            promoted = sum(bool(one.when) for one in lessons) + sum(bool(o.when) for o in shown)
            refused = sum(one.replayed > 0 for one in lessons) + sum(o.refused for o in shown)
            now = curve.measured(held)
            rows.append(row(due, now, base, (totals[0], totals[1], totals[2]), promoted, refused))
            print(rows[-1], round(time.perf_counter() - started), "s", flush=True)
    settings = {k: str(v) for k, v in vars(given).items()}
    told = {"settings": settings, "held_back_cases": len(held), "rows": rows}
    (given.out / "curve.json").write_text(json.dumps(told, indent=1), encoding="utf-8")
    print(table(rows, len(held)))


def row(
    episodes: int,
    now: dict[str, dict[str, float]],
    base: dict[str, dict[str, float]],
    totals: tuple[int, int, int],
    promoted: int,
    refused: int,
) -> dict[str, Any]:
    """Compare held-back cases with and without what was learned."""
    changed = difference_of_each({name: paired(now[name], base[name]) for name in METRICS})
    attempts, patches, solved = totals
    return {
        "episodes": episodes,
        "attempts": attempts,
        "patches": patches,
        "solved": solved,
        "lessons": promoted,
        "refused": refused,
        **{
            name: [
                100 * x for x in (sum(now[name].values()) / len(now[name]), d.mean, d.low, d.high)
            ]
            for name, d in changed.items()
        },
    }


def table(rows: Sequence[dict[str, Any]], cases: int) -> str:
    """Write the curve as a Markdown table."""
    lines = [
        f"| episodes | tried, kept, solved | lessons (refused) | nDCG@10, {cases} cases | Suff@5 |",
        "|---|---|---|---|---|",
    ]
    for one in rows:
        told = [
            f"{m:.1f}, {d:+.2f} [{low:.2f}, {high:.2f}]"
            for m, d, low, high in (one[name] for name in METRICS)
        ]
        lines.append(
            f"| {one['episodes']} | {one['attempts']}, {one['patches']}, {one['solved']} |"
            f" {one['lessons']} ({one['refused']}) | {told[0]} | {told[1]} |"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    main()
