r"""Refine a file of many episodes, again and again, and say how it ends.

    python -m tools.convergence --data DATA --dataset tatqa --split tune:tune [--episodes 200]

Documents are refined one after the other on their queries, with gold as critic and K by their
size. Printed are cycles, attempts and patches, Φ before and after, how many runs ended at a fixed
point, the hash of all states, and the processor time; then the same for a second pass over the
same file, which has to change no state, and for a fresh start, which has to end in the same states.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from abstrag.config import Settings
from abstrag.refine.evaluator import reach_of
from abstrag.refine.feedback import Episode
from abstrag.refine.outcome import Run
from abstrag.search.relevance import PRESETS
from abstrag.workspace.lessons import gold_evaluator
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.refining import RefineOptions
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import to_document
from abstrag_bench.case import Case
from abstrag_bench.datasets.load import load_dataset


def chosen(given: argparse.Namespace) -> list[list[Case]]:
    """Group so many episodes by their documents, in an order of the documents' names alone."""
    cases = [c for c in load_dataset(given.dataset, given.data, given.split).cases if c.gold]
    cases.sort(key=lambda c: sha256(c.document.id.encode()).digest())
    groups: dict[str, list[Case]] = {}
    for case in cases[: given.episodes]:
        groups.setdefault(case.document.id, []).append(case)
    return list(groups.values())


def passed(workspace: Workspace, groups: Sequence[Sequence[Case]]) -> Iterator[Run]:
    """Refine every document once."""
    known = {info.id for info in workspace.documents()}
    for cases in groups:
        pooled = to_document(cases[0].document)
        name = pooled.document.id
        stored = workspace.stored(name) if name in known else None
        document = stored or workspace.document(pooled.document)
        first: dict[str, str] = {}
        for element, segment in zip(
            pooled.element_ids(document.index), document.index.segments, strict=True
        ):
            first.setdefault(element, segment.id)
        episodes = {
            case.query: Episode(name, case.query, tuple(first[g] for g in case.gold if g in first))
            for case in cases
        }
        evaluator = gold_evaluator(k=reach_of(len(document.index.segments)))
        asked = [episode for episode in episodes.values() if episode.gold]
        if asked:
            yield document.refine_all(asked, options=RefineOptions(evaluator=evaluator))


def told(runs: Sequence[Run]) -> tuple[str, str]:
    """Describe a pass over the file, and name the states it ended in."""
    steps = [step for run in runs for made in run.refinements for step in made.steps]
    before = [sum(run.potential_before[i] for run in runs) for i in (0, 1)]
    after = [sum(run.potential_after[i] for run in runs) for i in (0, 1)]
    ends = Counter(run.end.name.lower() for run in runs)
    moved = sum(run.state_before != run.state_after for run in runs)
    states = sha256(" ".join(run.state_after for run in runs).encode()).hexdigest()[:12]
    episodes = sum(run.episodes for run in runs)
    text = (
        f"{len(runs)} documents, {episodes} episodes: {len(steps)} cycles,"
        f" {sum(len(step.attempts) for step in steps)} attempts,"
        f" {sum(len(run.patches) for run in runs)} patches; Φ {tuple(before)} → {tuple(after)};"
        f" ended {dict(ends)}; {moved} states changed, now {states}"
    )
    return text, states


def main() -> None:
    """Run two passes and a fresh start."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split", required=True)
    parser.add_argument("--preset", default="aligned", choices=sorted(PRESETS))
    parser.add_argument("--episodes", type=int, default=200)
    parser.add_argument("--store", type=Path)
    given = parser.parse_args()
    groups = chosen(given)
    granularity = groups[0][0].document.granularity.value
    ended: list[str] = []
    for label, passes in (("first start", 2), ("fresh start", 1)):
        with TemporaryDirectory() as folder:
            config = WorkspaceConfig(
                store=given.store or ":memory:",
                policy=Path(folder),
                settings=Settings(granularity=granularity),
                options=SearchOptions(preset=PRESETS[given.preset]),
            )
            with Workspace(config) as workspace:
                for number in range(1, passes + 1):
                    started = time.process_time()
                    text, states = told(list(passed(workspace, groups)))
                    spent = time.process_time() - started
                    print(f"{label}, pass {number}: {text}; {spent:.0f} s", flush=True)
                    ended.append(states)
    print("the same states each time" if len(set(ended)) == 1 else f"states differ: {ended}")


if __name__ == "__main__":
    main()
