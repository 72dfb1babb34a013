"""A run that is killed half-way and begun again ends with the table of one that was not."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from abstrag_bench.report import report
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.summary import Score, Summary
from tests.unit.bench.makers import write_plain

COMMAND = (
    "from abstrag_bench.cli.bench import bench_command; import sys\n"
    "bench_command.main(sys.argv[1:], 'abstrag')"
)


def command(data: Path, out: Path) -> list[str]:
    options = f"run --dataset plain --data {data} --split dev --systems bm25,bm25-stem --out {out}"
    return [sys.executable, "-c", COMMAND, *options.split()]


def lines(out: Path) -> int:
    path = out / "records.jsonl"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_a_killed_run_goes_on_to_the_same_table(tmp_path: Path) -> None:
    write_plain(tmp_path / "dev.jsonl", 120)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = subprocess.Popen(command(tmp_path, killed), stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while lines(killed) < 30 and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    left = lines(killed)
    assert 30 <= left < 480, "the run was not caught half-way"
    assert process.returncode == -signal.SIGKILL

    for out in (killed, whole):
        subprocess.run(command(tmp_path, out), stdout=subprocess.DEVNULL, check=True)
    resumed, uninterrupted = (report(out)[0] for out in (killed, whole))
    assert lines(killed) == lines(whole) == 480
    assert len(RunFolder(killed).records()) == 480

    def untimed(summary: Summary) -> list[Score]:
        return [score for score in summary.scores if score.metric != "ms/query"]

    assert untimed(resumed) == untimed(uninterrupted)
    assert resumed.contrasts == uninterrupted.contrasts
    assert resumed.groups == uninterrupted.groups
    assert resumed.systems == uninterrupted.systems
