"""Make the paper's main table with any language model: one command, any OpenAI-compatible endpoint.

python -m tools.main_table --data DATA --llm MODEL --base-url URL --out runs/MODEL
    [--sets scifact,qasper] [--sample 100] [--processes 4] [--retry-failed] [--replay FILE]

The cases are those of the report part, about documents of at most so many passages; where they are
fewer than the sample, documents of the tuning part are drawn until there are enough, and the table
of the report part alone is printed besides. The model's judge is first calibrated on cases about
other documents of the tuning part. Then every system works on the same cases, ours with the model
first, with one generator for all. The documents are divided over processes, and each of these has a
folder and a log of calls of its own, so that a run that was stopped goes on where it was, and what
is finished can be read at any time: with --only-table nothing is asked and what is there is shown.

Printed are, with 95 % intervals by 10,000 resamples of the cases: nDCG@10 and Suff@10 over cases
with gold evidence, right labels over claims, calls of the model while searching, the share of
cases the model was asked about, seconds of a search; the calls that indexing a document took; and
paired differences.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np

from abstrag.errors import AbstragError, InputError
from abstrag.llm.choose import ConfigSource, choose
from abstrag.llm.connect import Models, connect, replay
from abstrag.llm.settings import Limits, Patience
from abstrag.model.record import to_json
from abstrag.policy.load import load_programs
from abstrag.search.calibration import calibration_file, save_calibration
from abstrag_bench.abstrag_llm import calibrated
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.case import Case, Dataset, SplitPart, part_of, sampled
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.generation import ModelWriter
from abstrag_bench.metrics.catalogue import NDCG, SUFF
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.runner import Options, run
from abstrag_bench.stats import differences, intervals
from abstrag_bench.systems import SystemSpec

SPLITS: Final = {"scifact": "train", "qasper": "train", "tatqa": "tune", "contractnli": "dev"}
OURS: Final = ("abstrag-llm", "abstrag-llm-cheap", "abstrag")
BASELINES: Final = ("hyde", "ircot", "self-rag", "crag")
LOCAL: Final = ("bm25", "dense", "rerank")
PAIRS: Final = (("abstrag-llm", "abstrag"), ("abstrag-llm-cheap", "abstrag-llm"))
SEED: Final = 0

Column = Callable[[CaseRecord], float | None]


def chosen(given: argparse.Namespace, name: str) -> list[Case]:
    """Return the cases of the table, document by document."""
    cases = load_dataset(name, given.data, SPLITS[name]).cases
    by_document: dict[str, list[Case]] = {}
    for case in cases:
        if len(case.document.elements) <= given.most_passages:
            by_document.setdefault(case.document.id, []).append(case)
    report = [one for one in by_document if part_of(one) is SplitPart.REPORT]
    tune = [one for one in by_document if part_of(one) is SplitPart.TUNE]
    random.Random(SEED).shuffle(tune)
    own = [case for one in report for case in by_document[one]]
    if len(own) > given.sample:
        return sorted(sampled(own, given.sample, seed=SEED), key=lambda one: one.document.id)
    for one in tune:
        if len(own) >= given.sample:
            break
        own += by_document[one]
    return own[: given.sample]


def models_of(given: argparse.Namespace, calls: Path) -> Models:
    """Connect the model, with a log of calls of its own."""
    settings = choose(
        ConfigSource(models={None: given.llm}, urls={None: given.base_url}),
        limits=Limits(max_calls=given.max_calls),
    )
    assert settings is not None
    patience = Patience(timeout_s=given.timeout, concurrency=given.concurrency)
    settings = replace(settings, patience=patience)
    return replay(given.replay, settings) if given.replay else connect(settings, calls=calls)


def calibrate(given: argparse.Namespace, name: str, folder: Path) -> None:
    """Fit the judge's curve on cases of the tuning part about documents that the table has not."""
    if given.no_calibration or calibration_file(given.llm).exists():
        return
    taken = {case.document.id for case in chosen(given, name)}
    open_ = [
        case
        for case in load_dataset(name, given.data, f"{SPLITS[name]}:tune").cases
        if case.gold
        and case.document.id not in taken
        and len(case.document.elements) <= given.most_passages
    ]
    cases = sampled(open_, given.calibration_cases, seed=SEED)
    with models_of(given, folder / "calls-calibration.db") as models:
        backing = Backing(models, load_programs())
        made = calibrated(cases, backing, at_once=given.concurrency)
    save_calibration(made)
    (folder / "calibration.json").write_text(to_json(made) + "\n", "utf-8")
    verdict = "its word is used" if made.tells else "its word says nothing, so it is not asked"
    print(f"{name}: judge calibrated on {made.pairs} pairs, slope {made.slope:g}: {verdict}")


def part(given: argparse.Namespace, name: str, number: int) -> None:
    """Run all systems on the documents of one part."""
    folder = given.out / name
    cases = chosen(given, name)
    order = list(dict.fromkeys(case.document.id for case in cases))
    mine = set(order[number :: given.processes])
    loaded = load_dataset(name, given.data, SPLITS[name])
    own = tuple(case for case in cases if case.document.id in mine)
    if not own:
        return
    dataset = Dataset(loaded.name, loaded.split, own, loaded.notes)
    with models_of(given, folder / f"calls-{number}.db") as models:
        backing = Backing(models, load_programs())
        for systems in (OURS, BASELINES, LOCAL):
            run(
                dataset,
                [SystemSpec.of(one) for one in systems if one in given.systems],
                folder / f"part-{number}",
                Options(retry_failed=given.retry_failed),
                backing=backing,
                writer=ModelWriter(backing),
            )


def whole(given: argparse.Namespace, name: str) -> None:
    """Calibrate, then run all parts side by side; each set has a policy folder of its own."""
    folder = given.out / name
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "ABSTRAG_POLICY": str(folder / "policy")}
    me = [sys.executable, "-m", "tools.main_table", *sys.argv[1:], "--sets", name]
    subprocess.run([*me, "--step", "calibrate"], env=environment, check=True)
    steps = [[*me, "--step", str(number)] for number in range(given.processes)]
    running = [subprocess.Popen(step, env=environment) for step in steps]
    failed = [number for number, one in enumerate(running) if one.wait()]
    if failed:
        print(f"{name}: parts {failed} did not end well; the same command goes on", flush=True)


# The table.


def records_of(folder: Path) -> list[CaseRecord]:
    """Return the records of all parts that are there."""
    parts = sorted(one.parent for one in folder.glob("part-*/records.jsonl"))
    return [record for one in parts for record in RunFolder(one).records()]


def search_calls(one: CaseRecord) -> int:
    """Return the calls of the search alone: every answer is one more, for whoever writes it."""
    written = one.details.get("generation", {}).get("calls", ())
    return (one.llm_calls or 0) - len(written)


def _ndcg(one: CaseRecord) -> float | None:
    return 100 * (NDCG @ 10)(one) if one.gold else None


def _suff(one: CaseRecord) -> float | None:
    return 100 * (SUFF @ 10)(one) if one.gold else None


def _right(one: CaseRecord) -> float | None:
    return 100.0 * (one.label == one.gold_label) if one.gold_label else None


COLUMNS: Final[Mapping[str, Column]] = {
    "nDCG@10": _ndcg,
    "Suff@10": _suff,
    "label right, %": _right,
    "calls a query": lambda one: float(search_calls(one)) if one.ranked else None,
    "asked, % of cases": lambda one: 100.0 * bool(search_calls(one)) if one.ranked else None,
    "s a query": lambda one: one.seconds,
}


def interval(values: Sequence[float]) -> str:
    """Return a mean with its interval."""
    if not values:
        return "–"
    (made,) = intervals(np.array([values]).T)
    return f"{made.mean:.1f} [{made.low:.1f}, {made.high:.1f}]"


def row(name: str, records: Sequence[CaseRecord]) -> str:
    """Return one row of the table."""
    cells = [
        interval([value for one in records if (value := column(one)) is not None])
        for column in COLUMNS.values()
    ]
    index = {
        one.document: one.details["index"]["calls"]
        for one in records
        if "calls" in one.details.get("index", {})
    }
    cells.append(f"{fmean(index.values()):.1f}" if index else "–")
    failed = sum(one.error is not None for one in records)
    return f"| `{name}` | {len(records)} | {' | '.join(cells)} | {failed} |"


def difference(records: Sequence[CaseRecord], one: str, other: str) -> Iterator[str]:
    """Return the paired differences of two systems, in the ranking and in the calls."""
    by_system = {name: {r.case_id: r for r in records if r.system == name} for name in (one, other)}
    both = [case for case in by_system[one] if case in by_system[other]]
    for name in ("nDCG@10", "Suff@10", "label right, %", "calls a query"):
        column = COLUMNS[name]
        pairs = [(column(by_system[one][case]), column(by_system[other][case])) for case in both]
        known = [a - b for a, b in pairs if a is not None and b is not None]
        if known:
            (made,) = differences(np.array([known]).T)
            told = f"{made.mean:+.2f} [{made.low:+.2f}, {made.high:+.2f}], {made.n} cases"
            yield f"- `{one}` less `{other}`, {name}: {told}"


def table(name: str, model: str, records: Sequence[CaseRecord]) -> str:
    """Return the table of a set as Markdown."""
    head = ("system", "cases", *COLUMNS, "index calls a document", "failed")
    lines = [f"{name}, {model}", "", f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    for system in (*OURS, *BASELINES, *LOCAL):
        own = [one for one in records if one.system == system]
        if own:
            lines.append(row(system, own))
    lines.append("")
    for one, other in PAIRS:
        lines += difference(records, one, other)
    return "\n".join(lines) + "\n"


def show(given: argparse.Namespace, name: str) -> None:
    """Print the table of a set, and that of its report part where it has other cases too."""
    records = records_of(given.out / name)
    report = [one for one in records if part_of(one.document or "") is SplitPart.REPORT]
    made = table(name, given.llm, records)
    if len(report) < len(records):
        made += "\n" + table(f"{name}, report part alone", given.llm, report)
    (given.out / f"{name}.md").write_text(made, "utf-8")
    print(f"\n{made}", flush=True)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make the main table with a language model.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--llm", required=True, help="the model's name at the endpoint")
    parser.add_argument("--base-url", required=True, help="for instance http://127.0.0.1:8080/v1")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", default="scifact,qasper")
    parser.add_argument("--systems", default=",".join((*OURS, *BASELINES, *LOCAL)))
    parser.add_argument("--sample", type=int, default=100, help="cases of each data set")
    parser.add_argument("--most-passages", type=int, default=300, help="longer documents are left")
    parser.add_argument("--processes", type=int, default=1, help="parts of a set, side by side")
    parser.add_argument("--concurrency", type=int, default=4, help="calls at a time, of each")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one reply")
    parser.add_argument("--calibration-cases", type=int, default=40)
    parser.add_argument("--no-calibration", action="store_true")
    parser.add_argument("--retry-failed", action="store_true")
    parser.add_argument("--max-calls", type=int, help="of each part")
    parser.add_argument("--replay", type=Path, help="a recording: nothing is asked")
    parser.add_argument("--only-table", action="store_true", help="show what is there")
    parser.add_argument("--step", help=argparse.SUPPRESS)  # what a process of a part is to do
    given = parser.parse_args()
    given.systems = given.systems.split(",")
    return given


def main() -> None:
    given = parsed()
    for name in given.sets.split(","):
        if name not in SPLITS:
            raise InputError(f"no set is called {name!r}", hint=f"one of: {', '.join(SPLITS)}")
        if given.step == "calibrate":
            calibrate(given, name, given.out / name)
        elif given.step is not None:
            part(given, name, int(given.step))
        else:
            if not given.only_table:
                whole(given, name)
            show(given, name)


if __name__ == "__main__":
    try:
        main()
    except AbstragError as error:
        sys.exit(f"{error}\n{error.hint or ''}".strip())
