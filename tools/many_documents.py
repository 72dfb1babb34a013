"""Index very many documents with worker processes, stop and resume that, and search them.

    python tools/many_documents.py index FOLDER --store many.db --workers 16 --seconds 540
    python tools/many_documents.py index FOLDER --store many.db --at 1000 10000 --copies copies
    python tools/many_documents.py state --store many.db
    python tools/many_documents.py resume FOLDER --work scratch --workers 2 --count 2000
    python tools/many_documents.py compare many.db few.db
    taskset -c 0,1 python tools/many_documents.py search --store many.db --questions asked.txt

`index` runs `abstrag index` and ends it with SIGKILL when the time is up; called again, it goes on.
At the sizes of `--at` it says what was used so far, and copies the store, for `search`. `state`
says how far a store is that another process fills.
`resume` indexes the first documents of a folder twice: undisturbed, and killed with SIGKILL twice
on the way; then it compares every table of the two stores row by row, all columns but the time of
indexing, and the bytes of all files beside them. `compare` does that for the documents of the
second of two stores that were made of the same files. `search` asks questions, each of them new, in
a process that has answered five others, and then the same ones again. Every line that is printed is
JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import numpy as np

COMMAND: Final = "from abstrag.cli.main import main; main()"
WARM_UP: Final = 5  # questions before the clock starts
_PREPARED: Final = "SELECT count(*) FROM layers WHERE layer = 'vectors'"
_INDEXED: Final = "SELECT count(*) FROM documents"
_TIMES: Final = frozenset({"indexed_at"})  # columns that differ between two runs


def say(**told: Any) -> None:
    print(json.dumps(told), flush=True)


# --- Indexing ------------------------------------------------------------------------------------


def start(paths: Sequence[Path], store: Path, workers: int) -> subprocess.Popen[bytes]:
    """Begin to index with the command line."""
    line = [sys.executable, "-c", COMMAND, "index", *map(str, paths), "--store", str(store)]
    return subprocess.Popen([*line, "--workers", str(workers)], stdout=subprocess.DEVNULL)


def count(store: Path, statement: str) -> int:
    """Count rows of a store that another process may be writing; 0 before it has any."""
    try:
        with sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=30) as connection:
            found: int = connection.execute(statement).fetchone()[0]
    except sqlite3.Error:
        return 0
    finally:
        if "connection" in locals():
            connection.close()
    return found


def processor_seconds() -> float:
    """Return what the processes that this one has waited for took of the processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run_until(
    process: subprocess.Popen[bytes],
    enough: Callable[[], bool],
    look: Callable[[int], None] = lambda _most: None,
) -> tuple[bool, int, float]:
    """Wait until a run ends, or kill it; return whether it ended, MB of all, and seconds.

    `look` is called twice a second with the MB so far.
    """
    began, most = time.monotonic(), 0
    while process.poll() is None:
        most = max(most, sum(map(_megabytes, _family(process.pid))))
        look(most)
        if enough():
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return False, most, time.monotonic() - began
        time.sleep(0.5)
    return True, most, time.monotonic() - began


def _family(parent: int) -> Iterator[int]:
    """Yield a process and its children, as Linux lists them."""
    yield parent
    for each in Path(f"/proc/{parent}/task").glob("*/children"):
        try:
            yield from map(int, each.read_text().split())
        except OSError:
            continue


def _used(process: int) -> float:
    """Return what a process has taken of the processors so far, as Linux counts it."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _megabytes(process: int | str, what: str = "VmRSS") -> int:
    try:
        found = re.search(rf"{what}:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) // 1024 if found else 0


def index(given: argparse.Namespace) -> None:
    """Index for so long, and say how far that came."""
    folders = sorted(each for each in given.folder.iterdir() if each.is_dir())
    paths = folders[: given.folders] if given.folders else [given.folder]
    before = count(given.store, _INDEXED), count(given.store, _PREPARED)
    end = time.monotonic() + given.seconds
    process = start(paths, given.store, given.workers)
    began, wanted = time.monotonic(), sorted(given.at)

    def look(most: int) -> None:
        if not wanted or (reached := count(given.store, _INDEXED)) < wanted[0]:
            return
        used = sum(map(_used, _family(process.pid)))
        copy = _copied(given.store, given.copies / f"{wanted[0]}.db") if given.copies else None
        say(
            what="reached",
            documents=reached,
            began_with=before[0],
            seconds=round(time.monotonic() - began, 1),
            processor_seconds=round(used, 1),
            ms_a_document=round(1000 * used / max(1, reached - before[0]), 1),
            peak_mb_of_all_processes=most,
            store_mb=_size(given.store) >> 20,
            mapped_mb=_size(Path(f"{given.store}.mapped")) >> 20,
            copy=copy,
        )
        del wanted[0]

    ended, most, took = run_until(process, lambda: time.monotonic() > end, look)
    time.sleep(1.0)  # workers that lost their parent end by themselves
    after = count(given.store, _INDEXED), count(given.store, _PREPARED)
    say(
        what="index",
        ended=ended,
        exit=process.returncode,  # not 0 where a file could not be read
        indexed=(before[0], after[0]),
        prepared=(before[1], after[1]),
        seconds=round(took, 1),
        processor_seconds=round(processor_seconds(), 1),
        peak_mb_of_all_processes=most,
        store_mb=_size(given.store) >> 20,
        mapped_mb=_size(Path(f"{given.store}.mapped")) >> 20,
    )
    sys.exit(0 if ended and after[1] >= 0.99 * after[0] else 3)


def _copied(store: Path, to: Path) -> str:
    """Copy a store that another process may be writing, and the files beside it."""
    to.parent.mkdir(parents=True, exist_ok=True)
    opened = sqlite3.connect(f"file:{store}?mode=ro", uri=True, timeout=60)
    with closing(opened) as source, closing(sqlite3.connect(to)) as target:
        source.backup(target)
    drafts = shutil.ignore_patterns(".draft-*")
    shutil.copytree(f"{store}.mapped", f"{to}.mapped", ignore=drafts, dirs_exist_ok=True)
    return str(to)


def state(given: argparse.Namespace) -> None:
    """Say how far a store is."""
    say(
        what="state",
        indexed=count(given.store, _INDEXED),
        prepared=count(given.store, _PREPARED),
        store_mb=_size(given.store) >> 20,
        mapped_mb=_size(Path(f"{given.store}.mapped")) >> 20,
    )


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(each.stat().st_size for each in path.rglob("*") if each.is_file())
    return path.stat().st_size if path.exists() else 0


# --- Stopped and resumed -------------------------------------------------------------------------


def resume(given: argparse.Namespace) -> None:
    """Compare a store that was made at once with one whose making was killed twice."""
    shutil.rmtree(given.work, ignore_errors=True)
    documents = given.work / "documents"
    documents.mkdir(parents=True)
    files = (each for each in sorted(given.folder.rglob("*")) if each.is_file())
    for _, each in zip(range(given.count), files, strict=False):
        shutil.copy(each, documents / each.name)
    once, twice = given.work / "once.db", given.work / "killed.db"
    _, _, took = run_until(start([documents], once, given.workers), lambda: False)
    say(what="undisturbed", documents=count(once, _INDEXED), seconds=round(took, 1))
    every = count(once, _INDEXED)
    for enough in (every // 3, 2 * every // 3):
        process = start([documents], twice, given.workers)
        ended, _, _ = run_until(process, lambda n=enough: count(twice, _INDEXED) >= n)  # type: ignore[misc]
        say(
            what="killed",
            in_time=not ended,
            indexed=count(twice, _INDEXED),
            prepared=count(twice, _PREPARED),
        )
    _, _, took = run_until(start([documents], twice, given.workers), lambda: False)
    tables = dict(compared(once, twice))
    files_once, files_twice = (mapped(Path(f"{each}.mapped")) for each in (once, twice))
    alike = files_once == files_twice and all(rows is not None for rows in tables.values())
    say(what="resumed", identical=alike, rows=tables, files=len(files_once), seconds=round(took, 1))
    sys.exit(0 if alike else 1)


def compared(one: Path, other: Path) -> Iterator[tuple[str, int | None]]:
    """Yield each table with the number of its rows; None where two stores differ."""
    connections = [sqlite3.connect(each) for each in (one, other)]
    names = [
        [row[0] for row in each.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for each in connections
    ]
    for name in sorted({*names[0], *names[1]}):
        rows, same = 0, True
        for a, b in zip_longest(*(_rows(each, name) for each in connections)):
            rows, same = rows + 1, same and a == b
        yield name, rows if same else None
    for each in connections:
        each.close()


# --- Two stores of the same files, one with fewer documents --------------------------------------

_OWN: Final = frozenset({"number", "document"})  # rows are counted anew in each store
_OF_A_DOCUMENT: Final = {"documents": "number", "packed_rows": "document", "seals": "document"}


def compare(given: argparse.Namespace) -> None:
    """Compare all that two stores have of the documents of the second."""
    many, few = sqlite3.connect(given.many), sqlite3.connect(given.few)
    compared, different = dict.fromkeys((*_OF_A_DOCUMENT, "layers", "files"), 0), list[str]()

    def note(what: str, name: str, ours: Sequence[Any], theirs: Sequence[Any]) -> None:
        compared[what] += len(ours)
        if ours != theirs:
            different.append(f"{what} of {name}")

    named = "SELECT id, number, content_hash FROM documents"
    contents = {row[0]: row for row in many.execute(named)}
    for name, number, content in few.execute(named):
        if name not in contents:
            different.append(f"{name} itself")
            continue
        other = contents[name]
        for table, key in _OF_A_DOCUMENT.items():
            note(
                table, name, *(_few(c, table, key, n) for c, n in ((few, number), (many, other[1])))
            )
        note("layers", name, *(_few(c, "layers", "content_hash", content) for c in (few, many)))
        beside = (
            Path(f"{each}.mapped") / content[:2] / content for each in (given.few, given.many)
        )
        note("files", name, *(sorted(mapped(each).items()) for each in beside))
    say(what="compared", rows=compared, different=len(different), first=different[:5])
    sys.exit(1 if different else 0)


def _few(connection: sqlite3.Connection, table: str, key: str, value: object) -> list[Any]:
    """Return the rows of a table that belong together, in the order of their values."""
    found = connection.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchall()
    columns = ", ".join(f'"{name}"' for (name,) in found if name not in _TIMES | _OWN)
    statement = f"SELECT {columns} FROM {table} WHERE {key} = ? ORDER BY {columns}"
    return connection.execute(statement, (value,)).fetchall()


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table, all columns but times, in the order of their values."""
    found = connection.execute(f"SELECT name FROM pragma_table_info('{table}')").fetchall()
    columns = ", ".join(f'"{name}"' for (name,) in found if name not in _TIMES)
    yield from connection.execute(f"SELECT {columns} FROM {table} ORDER BY {columns}")


def mapped(folder: Path) -> dict[str, bytes]:
    """Return the digest of every file beside a store."""
    return {
        str(each.relative_to(folder)): blake2b(each.read_bytes()).digest()
        for each in sorted(folder.rglob("*"))
        if each.is_file() and not each.name.startswith(".draft-")
    }


# --- Searching -----------------------------------------------------------------------------------


def search(given: argparse.Namespace) -> None:
    """Time questions under some presets, each preset in a process of its own."""
    if given.preset is None:
        for preset in ("general", "aligned"):
            line = [sys.executable, __file__, "search", "--preset", preset]
            line += ["--store", str(given.store), "--questions", str(given.questions)]
            subprocess.run([*line, "--count", str(given.count)], check=True)
        return
    from abstrag.workspace.options import SearchOptions, WorkspaceConfig, chosen_preset
    from abstrag.workspace.workspace import Workspace

    questions = given.questions.read_text("utf-8").splitlines()
    options = SearchOptions(preset=chosen_preset(given.preset))
    began, used = time.perf_counter(), time.process_time()
    with Workspace(WorkspaceConfig(store=given.store, create=False)) as workspace:
        many = workspace.collection(options=options)
        documents = len(workspace.documents())
        opened = time.perf_counter() - began, time.process_time() - used
        for question in questions[:WARM_UP]:
            many.search(question)
        asked = questions[WARM_UP : WARM_UP + given.count]
        new = _timed(many.search, asked)
        again = _timed(many.search, asked)
        say(
            what="search",
            preset=options.preset.name,
            documents=documents,
            cores=len(os.sched_getaffinity(0)),
            questions=len(asked),
            with_hits=new.found,
            opened_s=[round(each, 2) for each in opened],
            new_ms=_percentiles(new.clock),
            new_processor_ms=_percentiles(new.processor),
            new_on_free_cores_ms=_percentiles(new.on_free_cores),
            again_ms=_percentiles(again.clock),
            again_processor_ms=_percentiles(again.processor),
            memory_mb={
                name: _megabytes("self", name) for name in ("VmRSS", "VmHWM", "RssAnon", "RssFile")
            },
            threads=threading.active_count(),
        )


@dataclass
class Times:
    """Milliseconds of each question, and how many found something.

    `on_free_cores` is what it would take on the clock if nobody else used the machine: the work of
    the thread that asks, and that of the others, who run the models, by the number of cores. It
    leaves out what the disk takes.
    """

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    on_free_cores: list[float] = field(default_factory=list)
    found: int = 0


def _timed(ask: Callable[[str], Any], questions: Sequence[str]) -> Times:
    made, cores = Times(), len(os.sched_getaffinity(0))
    clocks = (time.perf_counter, time.process_time, time.thread_time)
    for question in questions:
        before = [each() for each in clocks]
        made.found += bool(ask(question).hits)
        clock, processor, own = (
            1000 * (each() - then) for each, then in zip(clocks, before, strict=True)
        )
        made.clock.append(clock)
        made.processor.append(processor)
        made.on_free_cores.append(own + (processor - own) / cores)
    return made


def _percentiles(times: Sequence[float]) -> dict[str, int]:
    return {f"p{p}": round(float(np.percentile(times, p))) for p in (50, 95, 100)}


def main() -> None:
    parser = argparse.ArgumentParser(description="Index and search very many documents.")
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("index")
    one.add_argument("folder", type=Path)
    one.add_argument("--store", type=Path, required=True)
    one.add_argument("--workers", type=int, default=2)
    one.add_argument("--seconds", type=float, default=1e9)
    one.add_argument("--folders", type=int, help="only the first ones inside the folder")
    one.add_argument("--at", type=int, nargs="*", default=[], help="sizes at which to report")
    one.add_argument("--copies", type=Path, help="a folder that a copy of each such size goes to")
    one.set_defaults(do=index)
    one = commands.add_parser("state")
    one.add_argument("--store", type=Path, required=True)
    one.set_defaults(do=state)
    one = commands.add_parser("resume")
    one.add_argument("folder", type=Path)
    one.add_argument("--work", type=Path, required=True, help="a folder that is emptied")
    one.add_argument("--workers", type=int, default=2)
    one.add_argument("--count", type=int, default=2000)
    one.set_defaults(do=resume)
    one = commands.add_parser("compare")
    one.add_argument("many", type=Path)
    one.add_argument("few", type=Path)
    one.set_defaults(do=compare)
    one = commands.add_parser("search")
    one.add_argument("--store", type=Path, required=True)
    one.add_argument("--questions", type=Path, required=True, help="one on each line")
    one.add_argument("--count", type=int, default=60)
    one.add_argument("--preset", help="one alone; else the default one and `aligned`")
    one.set_defaults(do=search)
    given = parser.parse_args()
    given.do(given)


if __name__ == "__main__":
    main()
