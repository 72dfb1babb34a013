"""What the first question over a collection takes in a new process, in processor time.

    python tools/first_question.py --store scifact.db --questions claims.txt
    python tools/first_question.py --store scifact.db --questions claims.txt --before ../old/src

Each question is new: it is asked once, by `abstrag search --all`, and by Python, each in a process
of its own; with --serve also as the first request to a server that has just said it is ready. What
models say is remembered, so work on a copy of the store. Printed are the medians and the largest.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from statistics import median
from typing import Final

HERE: Final = Path(__file__).parents[1] / "src"
COMMAND: Final = "from abstrag.cli.main import main; main()"
PYTHON: Final = """
import sys
from abstrag import AbstRAG
with AbstRAG(sys.argv[1]) as rag:
    rag.search_all(sys.argv[2])
"""
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d+/")


def took(line: list[str], source: Path) -> float:
    """Return the processor seconds of a command that runs to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "PYTHONPATH": str(source)}
    subprocess.run(line, env=environment, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def served(store: str, question: str, source: Path) -> float:
    """Return the processor seconds of the first request to a new server."""
    line = [sys.executable, "-c", COMMAND, "serve", "--port", "0", "--store", store]
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(m[0] for text in process.stdout if (m := _ADDRESS.search(text)))
            while True:
                with urllib.request.urlopen(f"{address}api/health") as reply:
                    if json.load(reply).get("ready", True):
                        break
                time.sleep(0.2)
            before = _used(process.pid)
            body = json.dumps({"query": question}).encode()
            headers = {"Content-Type": "application/json"}
            asked = urllib.request.Request(f"{address}api/search", body, headers)
            with urllib.request.urlopen(asked) as reply:
                reply.read()
            return _used(process.pid) - before
        finally:
            process.terminate()


def _used(process: int) -> float:
    """Return the processor seconds of a process so far, as Linux tells them."""
    fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Ask, in turns, and print a line for each way."""
    parser = argparse.ArgumentParser(description="Time first questions over a collection.")
    parser.add_argument("--store", required=True)
    parser.add_argument("--questions", type=Path, required=True, help="One on each line.")
    parser.add_argument("--before", type=Path, help="src of another checkout, asked in turns")
    parser.add_argument("--old-store", help="the store that the other checkout asks")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--serve", action="store_true", help="a server's first request too")
    given = parser.parse_args()
    questions = iter(given.questions.read_text("utf-8").splitlines())
    sources = {"": (HERE, given.store)}
    if given.before is not None:
        sources["before, "] = (given.before.resolve(), given.old_store or given.store)
    found: dict[str, list[float]] = {}
    for _ in range(given.runs):
        for name, (source, store) in sources.items():
            line = [sys.executable, "-c", COMMAND, "search", "--all", "--store", store]
            used = took([*line, next(questions)], source)
            found.setdefault(f"{name}command", []).append(used)
            used = took([sys.executable, "-c", PYTHON, store, next(questions)], source)
            found.setdefault(f"{name}Python", []).append(used)
            if given.serve and not name:
                used = served(store, next(questions), source)
                found.setdefault("server, first request", []).append(used)
    for name, seconds in found.items():
        print(f"{median(seconds):6.2f} s, at most {max(seconds):.2f} s  {name}")


if __name__ == "__main__":
    main()
