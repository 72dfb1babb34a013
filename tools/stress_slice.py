"""Run the refinement-stress slice on a data set and write its tables.

    python tools/stress_slice.py --dataset scifact --split train:report --data DATA --out RUN

Stop it and run it again: finished documents are kept. Writes records.jsonl into RUN, summary.json
for all documents, slice.json for those with a failure and a solved case, and both as tables into
summary.md.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from abstrag.engine.refinement import packaged_evaluator
from abstrag.errors import InputError
from abstrag.model.record import to_json
from abstrag.refine.evaluator import COMPRESSIONS, Evaluator, K, reach_of
from abstrag.search.judging import OverlapJudge
from abstrag.search.relevance import DEFAULT_PRESET, PRESETS
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.lessons import gold_evaluator
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.record import CaseRecord
from abstrag_bench.stress import (
    ARMS,
    UNREFINED,
    Stress,
    interacting,
    run_stress,
    summarize,
    to_markdown,
)


def same_settings(chosen: argparse.Namespace) -> None:
    """Refuse to go on with a run under other settings: its records would not belong together."""
    given = {k: str(v) for k, v in vars(chosen).items() if k not in ("out", "data", "documents")}
    path = chosen.out / "settings.json"
    if path.exists() and json.loads(path.read_text("utf-8")) != given:
        raise InputError(
            f"{str(chosen.out)!r} was begun with other settings",
            hint=f"see {str(path)!r}, or choose another --out",
        )
    chosen.out.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(given, indent=2) + "\n", encoding="utf-8")


def _reach(given: str) -> int | None:
    """Read a number, or `relative` for a quarter of the segments, 3 to 10."""
    return None if given == "relative" else int(given)


def attempts(records: Sequence[CaseRecord]) -> str:
    """Write what was tried under each arm, what was kept, and why the rest was not."""
    lines = ["| arm | documents | tried | kept | refused, why |", "|---|---|---|---|---|"]
    for arm in dict.fromkeys(r.system for r in records if r.system != UNREFINED):
        runs = {r.document: r.details for r in records if r.system == arm}
        why: Counter[str] = Counter()
        for details in runs.values():
            why.update(details["refused"])
        tried = sum(details["attempts"] for details in runs.values())
        kept = sum(details["patches"] for details in runs.values())
        told = ", ".join(f"{name} {count}" for name, count in why.most_common())
        lines.append(f"| {arm} | {len(runs)} | {tried} | {kept} | {told} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--split", default="train:report")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--evaluator", choices=["judge", "overlap", "gold"], default="judge")
    parser.add_argument("--compression", choices=sorted(COMPRESSIONS), default="distractors")
    parser.add_argument("--proposer", choices=["local", "guessing"], default="local")
    parser.add_argument("--preset", choices=sorted(PRESETS), default=DEFAULT_PRESET.name)
    parser.add_argument(
        "-k", type=_reach, default=K, help="how far critic and metrics look; relative: by its size"
    )
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS))
    parser.add_argument("--documents", type=int, help="only the first so many")
    chosen = parser.parse_args(arguments)
    same_settings(chosen)

    def evaluator(document: SearchableDocument) -> Evaluator:
        k = chosen.k or reach_of(len(document.index.segments))
        if chosen.evaluator == "gold":
            return gold_evaluator(k=k, compression=chosen.compression)
        judge = OverlapJudge() if chosen.evaluator == "overlap" else None
        title = document.index.document.title
        return packaged_evaluator(judge, title=title, k=k, compression=chosen.compression)

    records = run_stress(
        load_dataset(chosen.dataset, chosen.data, chosen.split),
        Stress(
            evaluator,
            k=chosen.k,
            gold=chosen.evaluator == "gold",
            preset=PRESETS[chosen.preset],
            guessing=chosen.proposer == "guessing",
            arms={arm: ARMS[arm] for arm in ARMS if arm in chosen.arms},
        ),
        chosen.out,
        limit=chosen.documents,
        on_document=lambda name, done, total: print(f"{done + 1}/{total} {name}", flush=True),
    )
    tables = ""
    for name, some in (("summary", records), ("slice", interacting(records))):
        if some:
            summary = summarize(some, k=chosen.k or K)
            path = chosen.out / f"{name}.json"
            path.write_text(to_json(summary, indent=2) + "\n", encoding="utf-8")
            tables += f"## {name}\n\n{to_markdown(summary)}\n{attempts(some)}\n"
    (chosen.out / "summary.md").write_text(tables, encoding="utf-8")
    print(tables)


if __name__ == "__main__":
    main()
