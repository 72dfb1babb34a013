"""Make the paper's main table with any language model: one command, any OpenAI-compatible endpoint.

python -m tools.main_table --data DATA --llm MODEL --base-url URL --out runs/MODEL
    [--sets scifact,qasper] [--sample 100] [--processes 24] [--minutes 20] [--replay FOLDER]

The cases are those of the report part, about documents of at most so many passages; where they are
fewer than the sample, documents of the tuning part are drawn until there are enough, and the table
of the report part alone is printed besides. The model's judge is first calibrated on cases about
other documents of the tuning part. Then the sets are worked on side by side, document by document
in a random order: on each by every system, ours with the model first, with one generator for all.
So what is finished at any time is a table of all systems over the same cases. The documents are
divided over processes, most of which wait for the model, and each has a folder and a log of calls
of its own, so that a run that was stopped goes on where it was. --minutes ends the run when so many
have passed: calls under way are given up, what is finished is shown, and the same command goes on.
With --only-table nothing is asked and what is there is shown; --keep puts the records of each set
into one small file, SET/records.jsonl.xz, which --only-table reads too. Each set's calls are
gathered in SET/calls.jsonl; --replay with the folder of a run makes the same again and asks nobody.

Printed are, with 95 % intervals by 10,000 resamples of the cases: nDCG@10 and Suff@10 over cases
with gold evidence, right labels over claims, token F1 of answers over questions that people
answered (no answer counts as nothing), calls of the model while searching, the share of cases the
model was asked about, seconds of a search; the calls that indexing a document took; and
paired differences. --systems takes others as well, such as `abstrag-llm-no-index`: what is known of
the calls they share with the rest is not asked again.
"""

from __future__ import annotations

import argparse
import lzma
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np

from abstrag.errors import AbstragError, InputError
from abstrag.llm.choose import ConfigSource, choose
from abstrag.llm.connect import Models, connect, replay
from abstrag.llm.log import CallLog, save
from abstrag.llm.settings import Limits, Timeouts
from abstrag.model.record import from_json, to_json
from abstrag.policy.load import load_programs
from abstrag.search.calibration import calibration_file, save_calibration
from abstrag_bench.abstrag_llm import calibrated
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.case import Case, Dataset, SplitPart, part_of, sampled
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.generation import ModelWriter
from abstrag_bench.metrics.catalogue import ANSWER_F1, NDCG, SUFF
from abstrag_bench.metrics.label import spelled
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.runner import Options, run
from abstrag_bench.stats import differences, intervals
from abstrag_bench.systems import SystemSpec

SPLITS: Final = {"scifact": "train", "qasper": "train", "tatqa": "tune", "contractnli": "dev"}
OURS: Final = ("abstrag-llm", "abstrag-llm-cheap", "abstrag")
BASELINES: Final = ("hyde", "ircot", "self-rag", "crag")
LOCAL: Final = ("bm25", "dense", "rerank")
SYSTEMS: Final = (*OURS, *BASELINES, *LOCAL)
PAIRS: Final = (("abstrag-llm", "abstrag"), ("abstrag-llm-cheap", "abstrag-llm"))
SEED: Final = 0
RECORDING: Final = "calls.jsonl"
KEPT: Final = "records.jsonl.xz"
_GLANCE_S: Final = 0.2
_FAREWELL_S: Final = 20.0  # how long a process may take to end that was told to

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


def in_order(systems: Iterable[str]) -> list[str]:
    """Return systems as the table has them, others last."""
    wanted = list(dict.fromkeys(systems))
    return [s for s in SYSTEMS if s in wanted] + [s for s in wanted if s not in SYSTEMS]


def models_of(given: argparse.Namespace, name: str, calls: Path) -> Models:
    """Connect the model, with a log of calls of its own."""
    settings = choose(
        ConfigSource(models={None: given.llm}, urls={None: given.base_url}),
        limits=Limits(max_calls=given.max_calls),
    )
    assert settings is not None
    patience = Timeouts(timeout_s=given.timeout, concurrency=given.concurrency)
    settings = replace(settings, patience=patience)
    if given.replay:
        return replay(given.replay / name / RECORDING, settings)
    return connect(settings, calls=calls)


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
    with models_of(given, name, folder / "calls-calibration.db") as models:
        backing = Backing(models, load_programs())
        made = calibrated(cases, backing, at_once=given.concurrency)
    save_calibration(made)
    (folder / "calibration.json").write_text(to_json(made) + "\n", "utf-8")
    verdict = "its word is used" if made.adds else "its word adds nothing, so it is not asked"
    print(
        f"{name}: judge calibrated on {made.pairs} pairs, slope {made.slope:g}, beside the local "
        f"relevance {made.of_word:g}: {verdict}",
        flush=True,
    )


def part(given: argparse.Namespace, name: str, number: int) -> None:
    """Run all systems on the documents of one part."""
    folder = given.out / name
    cases = chosen(given, name)
    order = list(dict.fromkeys(case.document.id for case in cases))
    random.Random(SEED).shuffle(order)
    mine = order[number :: given.processes]
    own = tuple(case for one in mine for case in cases if case.document.id == one)
    if not own:
        return
    loaded = load_dataset(name, given.data, SPLITS[name])
    dataset = Dataset(loaded.name, loaded.split, own, loaded.notes)
    with models_of(given, name, folder / f"calls-{number}.db") as models:
        backing = Backing(models, load_programs())
        run(
            dataset,
            [SystemSpec.of(one) for one in in_order(given.systems)],
            folder / f"part-{number}",
            Options(retry_failed=given.retry_failed),
            backing=backing,
            writer=ModelWriter(backing),
        )


def begun(given: argparse.Namespace, name: str, step: str) -> subprocess.Popen[bytes]:
    """Start a process that does a step of a set; each set has a policy folder of its own."""
    environment = {**os.environ, "ABSTRAG_POLICY": str(given.out / name / "policy")}
    me = [sys.executable, "-m", "tools.main_table", *sys.argv[1:], "--sets", name, "--step", step]
    return subprocess.Popen(me, env=environment)


def ended(running: Mapping[str, subprocess.Popen[bytes]], until: float) -> list[str]:
    """Wait for processes, and end them when the time is over; return which did not end well."""
    told = False
    try:
        while any(one.poll() is None for one in running.values()):
            time.sleep(_GLANCE_S)
            if time.monotonic() > until + told * _FAREWELL_S:
                for one in running.values():
                    if one.poll() is None:
                        one.send_signal(signal.SIGKILL if told else signal.SIGINT)
                told = True
    except BaseException:
        for one in running.values():
            one.kill()  # records are on disk, and a torn line is cut away when the run goes on
        raise
    if told:
        print("the time is over; the same command goes on", flush=True)
    return [name for name, one in running.items() if one.returncode and not told]


def whole(given: argparse.Namespace, names: Sequence[str]) -> None:
    """Calibrate, then work on all parts of all sets side by side."""
    until = time.monotonic() + 60 * given.minutes if given.minutes else float("inf")
    for name in names:
        (given.out / name).mkdir(parents=True, exist_ok=True)
    for name in ended({name: begun(given, name, "calibrate") for name in names}, until):
        print(f"{name}: the judge could not be calibrated, so its bare word counts", flush=True)
    parts = {
        f"part {number} of {name}": begun(given, name, str(number))
        for number in range(given.processes)
        for name in names
        if time.monotonic() < until
    }
    for part_of_set in ended(parts, until):
        print(f"{part_of_set} did not end well; the same command goes on", flush=True)
    for name in names:
        record_calls(given.out / name)


def record_calls(folder: Path) -> None:
    """Gather the calls of all parts of a set in one recording."""
    calls = {}
    for path in sorted(folder.glob("calls-*.db")):
        with CallLog.open(path, create=False) as log:
            calls.update({call.id: call for call in log.calls() if call.error is None})
    if calls:
        save((calls[one] for one in sorted(calls)), folder / RECORDING)


# The table.


def records_of(folder: Path) -> list[CaseRecord]:
    """Return the records of a set: those in its one file, or of all parts that are there."""
    if (kept := folder / KEPT).is_file():
        with lzma.open(kept, "rb") as lines:
            return [from_json(CaseRecord, line) for line in lines]
    parts = sorted(one.parent for one in folder.glob("part-*/records.jsonl"))
    return [record for one in parts for record in RunFolder(one).records()]


def keep(folder: Path) -> None:
    """Put the records of all parts into one small file beside them."""
    records = sorted(records_of(folder), key=lambda one: (one.document, one.case_id, one.system))
    with lzma.open(folder / KEPT, "wb", preset=9) as lines:
        for one in records:
            lines.write(to_json(one).encode() + b"\n")


def search_calls(one: CaseRecord) -> int:
    """Return the calls of the search alone: every answer is one more, for whoever writes it."""
    written = one.details.get("generation", {}).get("calls", ())
    return (one.llm_calls or 0) - len(written)


def _ndcg(one: CaseRecord) -> float | None:
    return 100 * (NDCG @ 10)(one) if one.gold else None


def _suff(one: CaseRecord) -> float | None:
    return 100 * (SUFF @ 10)(one) if one.gold else None


def _answered(one: CaseRecord) -> float | None:
    if not any(map(str.strip, one.gold_answers)):
        return None
    return 100 * ANSWER_F1(one) if one.answer is not None else 0.0


def _right(one: CaseRecord) -> float | None:
    if not one.gold_label:
        return None
    return 100.0 * (one.label is not None and spelled(one.label) == spelled(one.gold_label))


COLUMNS: Final[Mapping[str, Column]] = {
    "nDCG@10": _ndcg,
    "Suff@10": _suff,
    "label right, %": _right,
    "answer F1": _answered,
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
    for name in ("nDCG@10", "Suff@10", "label right, %", "answer F1", "calls a query"):
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
    for system in in_order(one.system for one in records):
        own = [one for one in records if one.system == system]
        if own:
            lines.append(row(system, own))
    lines.append("")
    parts = dict.fromkeys(r.system for r in records if r.system not in SYSTEMS)
    for one, other in (*PAIRS, *((part, PAIRS[0][0]) for part in sorted(parts))):
        lines += difference(records, one, other)
    return "\n".join(lines) + "\n"


def tables(folder: Path, name: str, model: str) -> str:
    """Return the table of a set, and that of its report part where it has other cases too."""
    records = records_of(folder / name)
    report = [one for one in records if part_of(one.document or "") is SplitPart.REPORT]
    made = table(name, model, records)
    if 0 < len(report) < len(records):
        made += "\n" + table(f"{name}, report part alone", model, report)
    return made


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Make the main table with a language model.")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--llm", required=True, help="the model's name at the endpoint")
    parser.add_argument("--base-url", help="for instance http://127.0.0.1:8080/v1")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", default="scifact,qasper")
    parser.add_argument("--systems", default=",".join(SYSTEMS))
    parser.add_argument("--sample", type=int, default=100, help="cases of each data set")
    parser.add_argument("--most-passages", type=int, default=300, help="longer documents are left")
    parser.add_argument("--processes", type=int, default=1, help="parts of a set, side by side")
    parser.add_argument("--concurrency", type=int, default=4, help="calls at a time, of each")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds for one reply")
    parser.add_argument("--calibration-cases", type=int, default=40)
    parser.add_argument("--no-calibration", action="store_true")
    parser.add_argument("--retry-failed", action="store_true")
    parser.add_argument("--max-calls", type=int, help="of each part")
    parser.add_argument("--minutes", type=float, help="after which the run ends")
    parser.add_argument("--replay", type=Path, help="the folder of a run: nobody is asked")
    parser.add_argument("--only-table", action="store_true", help="show what is there")
    parser.add_argument("--keep", action="store_true", help="records in one file of each set")
    parser.add_argument("--step", help=argparse.SUPPRESS)  # what a process of a part is to do
    given = parser.parse_args()
    if not given.only_table and (given.data is None or given.base_url is None):
        parser.error("a run needs --data and --base-url; only a table of what is there does not")
    given.systems = given.systems.split(",")
    return given


def main() -> None:
    given = parsed()
    names = given.sets.split(",")
    for name in names:
        if name not in SPLITS:
            raise InputError(f"no set is called {name!r}", hint=f"one of: {', '.join(SPLITS)}")
    if given.step == "calibrate":
        calibrate(given, names[0], given.out / names[0])
    elif given.step is not None:
        part(given, names[0], int(given.step))
    else:
        if not given.only_table:
            whole(given, names)
        for name in names:
            if given.keep:
                keep(given.out / name)
            made = tables(given.out, name, given.llm)
            (given.out / f"{name}.md").write_text(made, "utf-8")
            print(f"\n{made}", flush=True)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
    except AbstragError as error:
        sys.exit(f"{error}\n{error.hint or ''}".strip())
