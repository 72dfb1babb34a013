"""Make the paper's main table with any language model: one command, any OpenAI-compatible endpoint.

python -m tools.main_table --data DATA --llm MODEL --base-url URL --out runs/MODEL [--sample 100]

For each data set it first calibrates the model's judge on tuning cases, then runs all systems on
the report part with the same generator, and prints one table: nDCG@10, Suff@10, labels, calls and
seconds per query while searching. Stop it as you like: the same command goes on. With --replay FILE
nothing is asked. The report in the run's folder has intervals and differences.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from statistics import fmean
from typing import Final

from abstrag_bench.metrics.catalogue import NDCG, SUFF
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import RunFolder

SPLITS: Final = {"scifact": "train", "qasper": "train", "tatqa": "tune", "contractnli": "dev"}
LOCAL: Final = ("bm25", "dense", "rerank", "abstrag")
MODEL: Final = ("hyde", "ircot", "self-rag", "crag", "abstrag-llm-cheap", "abstrag-llm")


def command(given: argparse.Namespace, *parts: str) -> list[str]:
    """Return a call of the command line with the model's options behind it."""
    model = ["--llm", given.llm, "--base-url", given.base_url]
    if given.replay:
        model += ["--replay", str(given.replay)]
    if given.max_calls:
        model += ["--max-calls", str(given.max_calls)]
    code = "from abstrag.cli.main import main; main()"
    return [sys.executable, "-c", code, *parts, *model]


def run(given: argparse.Namespace, name: str) -> Path:
    """Calibrate and measure on one data set; return the run's folder."""
    out = Path(given.out) / name
    data = ("--dataset", name, "--data", str(given.data))
    split = SPLITS[name]
    if not given.no_calibration:
        sample = ("--sample", str(given.calibration_cases))
        subprocess.run(
            command(given, "bench", "calibrate", *data, "--split", split, *sample), check=True
        )
    systems = ",".join((*LOCAL, *MODEL))
    part = ("--split", f"{split}:report", "--sample", str(given.sample), "--generate")
    subprocess.run(
        command(given, "bench", "run", *data, *part, "--systems", systems, "--out", str(out)),
        check=True,
    )
    return out


def mean(values: list[float]) -> str:
    return f"{fmean(values):.1f}" if values else "–"


def search_calls(one: CaseRecord) -> int:
    """Return the calls of the search alone: every answer is one more, for whoever writes it."""
    written = one.details.get("generation", {}).get("calls", ())
    return (one.llm_calls or 0) - len(written)


def line(name: str, records: list[CaseRecord]) -> str:
    """Return one row of the table."""
    fine = [one for one in records if one.error is None]
    gold = [one for one in fine if one.gold]
    ndcg = [100 * (NDCG @ 10)(one) for one in gold]
    suff = [100 * (SUFF @ 10)(one) for one in gold]
    claims = [one for one in fine if one.gold_label]
    right = [100.0 * (one.label == one.gold_label) for one in claims]
    calls = [float(search_calls(one)) for one in fine]
    asked = [100.0 * bool(one.details.get("asked_because")) for one in fine]
    seconds = [one.seconds for one in fine if one.seconds is not None]
    cells = (mean(ndcg), mean(suff), mean(right), mean(calls), mean(asked), mean(seconds))
    return f"| {name} | {len(fine)} | {' | '.join(cells)} | {len(records) - len(fine)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the main table with a language model.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--llm", required=True, help="the model's name at the endpoint")
    parser.add_argument("--base-url", required=True, help="for instance http://127.0.0.1:8080/v1")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--sets", default="scifact,qasper")
    parser.add_argument("--sample", type=int, default=100, help="cases of each data set")
    parser.add_argument("--calibration-cases", type=int, default=40)
    parser.add_argument("--no-calibration", action="store_true")
    parser.add_argument("--max-calls", type=int)
    parser.add_argument("--replay", type=Path)
    given = parser.parse_args()
    for name in given.sets.split(","):
        folder = RunFolder(run(given, name))
        records = folder.records()
        print(f"\n{name}, {given.llm}\n")
        print(
            "| system | cases | nDCG@10 | Suff@10 | label right, % | calls a query |"
            " asked, % of cases | s a query | failed |\n|---|---|---|---|---|---|---|---|---|"
        )
        for system in (*LOCAL, *MODEL):
            print(line(system, [one for one in records if one.system == system]))


if __name__ == "__main__":
    main()
