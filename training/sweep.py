"""Run many trainings at once on one device: a plan has one line of arguments a run.

    python training/sweep.py PLAN.jsonl --at-once 10

A line is `{"script": "left_out.py", "arguments": ["--name", "plain", …]}`, or a list of these that
are run one after the other. One process keeps a large GPU busy for a third of the time, so several
share it. What a run prints is printed when it is done; one that failed, perhaps because the others
had taken the memory, is tried once more, and the end of what it said is printed. With --done the
lines that went well are kept in a file, and not run again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def run(line: str) -> bool:
    """Run one line of a plan; tell whether it went well."""
    plan = json.loads(line)
    runs = plan if isinstance(plan, list) else [plan]
    return all(went(one) or went(one) for one in runs)


def went(plan: Mapping[str, Any]) -> bool:
    """Run one script; tell whether it went well."""
    began = time.perf_counter()
    command = [sys.executable, str(HERE / plan["script"]), *map(str, plan["arguments"])]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout.strip() if done.returncode == 0 else done.stderr.strip()[-300:]
    print(f"[{time.perf_counter() - began:.0f} s, {done.returncode}] {said}", flush=True)
    return done.returncode == 0


def main() -> None:
    """Run a plan, and exit with 1 where a run failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plan", type=Path)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--done", type=Path, help="file of the lines that went well before")
    given = parser.parse_args()
    done = given.done.read_text().splitlines() if given.done and given.done.exists() else []
    lines = [one for one in given.plan.read_text().splitlines() if one.strip() and one not in done]

    def noted(line: str) -> bool:
        fine = run(line)
        if fine and given.done:
            with given.done.open("a") as file:
                file.write(line + "\n")
        return fine

    with ThreadPoolExecutor(given.at_once) as pool:
        fine = list(pool.map(noted, lines))
    sys.exit(0 if all(fine) else 1)


if __name__ == "__main__":
    main()
