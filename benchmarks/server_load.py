"""How `abstrag serve` holds up: many clients that search at once, from a second process.

    python benchmarks/server_load.py                  50 clients for 60 seconds
    python benchmarks/server_load.py --indexing       and a file being indexed all the while
    python benchmarks/server_load.py --judged --clients 8      with the judge, as by default
    python benchmarks/server_load.py --clients 200 --seconds 600 --beside ../old/src --cancel 0.05

Searches are without the judge unless `--judged` is given: with it a server takes two at a time and
lets eight wait, and sends everybody else away. Every client sends its next search when it has the
answer to the last one. With `--beside` a second server runs the code of another checkout, and every
second client asks that one, so that both have the same load at the same moment. With `--cancel`
that share of the searches is given up after a tenth of a second.

A server runs as a process of its own on loopback, over a store with the bundled article; a client
is a thread with one kept connection. Prints the median, the 95th and 99th percentile and the
slowest answer, every error, the memory of the server over time, and how much processor time it
takes when all clients have gone.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

FILL = """
import sys
from abstrag.workspace.tour import demo_background, demo_document
from abstrag.engine.library import Library
from abstrag.stores.sqlite import SqliteStore
with SqliteStore.open(sys.argv[1]) as opened:
    Library(opened, demo_background()).index_document(demo_document())
"""
SERVE = "from abstrag.cli.serve import serve_command; serve_command()"
# Hardly any two searches are alike: a server keeps the latest queries understood.
QUERIES = [
    f"{asked} {who} {about} in {year}?"
    for year in range(1990, 2025)
    for asked in ("What did", "Which suppliers met", "When did", "Who worked with")
    for who in ("Anthropic", "TSMC", "the ministry", "LLM companies", "the consultant")
    for about in ("say about chips", "visit", "buy accelerators", "expect of prices")
]


@dataclass
class Served:
    """A server that runs, and what clients saw of it."""

    name: str
    process: int
    port: int
    seen: list[float] = field(default_factory=list)
    errors: Counter[str] = field(default_factory=Counter)
    given_up: int = 0
    memory: list[int] = field(default_factory=list)

    def told(self, clients: int, took: float) -> str:
        """Say what there was in two lines."""
        p50, p95, p99, slowest = np.percentile(np.array(self.seen) * 1000, (50, 95, 99, 100))
        first, middle, last = (self.memory[i] for i in (0, len(self.memory) // 2, -1))
        return (
            f"{self.name}: {clients} clients, {took:.0f} s: {len(self.seen):,} searches, "
            f"{len(self.seen) / took:.1f} a second, p50 {p50:.0f} ms, p95 {p95:.0f} ms, "
            f"p99 {p99:.0f} ms, slowest {slowest:.0f} ms, errors {dict(self.errors) or 0}, "
            f"given up {self.given_up}\n  memory {first} MB at first, {middle} half-way, "
            f"{last} at last"
        )


class Load:
    """Clients that search until the time is over, as many of each server."""

    def __init__(
        self,
        servers: Sequence[Served],
        *,
        clients: int,
        seconds: float,
        judged: bool,
        cancel: float,
    ) -> None:
        self._servers = servers
        self._seconds = seconds
        self._cancel = cancel
        self._options = {"k": 5} if judged else {"k": 5, "judge": False}
        self._start = threading.Barrier(clients + 1)
        self._threads = [threading.Thread(target=self._client, args=(n,)) for n in range(clients)]

    def run(self) -> float:
        """Let all clients loose and return how long they took."""
        for thread in self._threads:
            thread.start()
        self._start.wait()
        began = time.monotonic()
        for thread in self._threads:
            thread.join()
        return time.monotonic() - began

    def _client(self, number: int) -> None:
        random = Random(number)
        server = self._servers[number % len(self._servers)]
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        self._start.wait()
        end = time.monotonic() + self._seconds
        while time.monotonic() < end:
            number += 37
            query = QUERIES[number % len(QUERIES)]
            if random.random() < self._cancel:
                give_up(server, query, self._options)
            else:
                search(server, connection, query, self._options)
        connection.close()


def search(
    server: Served, connection: HTTPConnection, query: str, options: Mapping[str, Any]
) -> None:
    """Send one search and note how long the answer took."""
    began = time.monotonic()
    try:
        post(connection, query, options)
        response = connection.getresponse()
        answer = response.read()
    except (OSError, HTTPException) as error:
        server.errors[type(error).__name__] += 1
        connection.close()
        return
    server.seen.append(time.monotonic() - began)
    if response.status != 200 or b'"hits"' not in answer:
        server.errors[str(response.status)] += 1


def give_up(server: Served, query: str, options: Mapping[str, Any]) -> None:
    """Send one search and hang up before the answer can be there."""
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    with suppress(OSError):
        post(connection, query, options)
        time.sleep(0.1)
    connection.close()
    server.given_up += 1


def post(connection: HTTPConnection, query: str, options: Mapping[str, Any]) -> None:
    body = json.dumps({"query": query, **options})
    connection.request(
        "POST", "/api/documents/chips/search", body, {"Content-Type": "application/json"}
    )


def keep_indexing(port: int, stop: threading.Event) -> None:
    """Upload one file after the other, each new, until it is enough."""
    said = "In {n}, the council of town {n} asked firm {n} to build a bridge over the river."
    count = 0
    while not stop.is_set():
        text = "\n\n".join(said.format(n=1000 + count * 200 + n) for n in range(200))
        count += 1
        job = call(port, "POST", f"/api/documents?name=towns{count}.txt", text.encode())["job"]
        while not stop.is_set() and call(port, "GET", f"/api/jobs/{job}")["state"] != "done":
            time.sleep(0.2)
    print(f"meanwhile {count} files of 200 paragraphs were sent to be indexed")


def call(port: int, method: str, path: str, body: bytes | None = None) -> dict[str, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {"Content-Type": "application/octet-stream"})
    answer: dict[str, str] = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def keep_watching(servers: Sequence[Served], stop: threading.Event) -> None:
    """Note every second how much memory the servers take."""
    while not stop.wait(1.0):
        for server in servers:
            server.memory.append(_megabytes(server.process))


def _megabytes(process: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) // 1024 if found else 0


def _processor_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--indexing", action="store_true", help="index files all the while")
    parser.add_argument("--judged", action="store_true", help="search with the judge")
    parser.add_argument("--beside", metavar="SRC", help="the sources of another checkout")
    parser.add_argument("--cancel", type=float, default=0.0, help="share that is given up")
    given = parser.parse_args()
    sources = {"this": None, **({"the other": given.beside} if given.beside else {})}
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        servers = [
            stack.enter_context(serving(name, Path(folder) / name, src))
            for name, src in sources.items()
        ]
        measure(servers, given)


@contextmanager
def serving(name: str, folder: Path, src: str | None) -> Iterator[Served]:
    """Serve the bundled article with this code, or with that of another checkout."""
    environment = os.environ if src is None else {**os.environ, "PYTHONPATH": src}
    store = folder / "store.db"
    folder.mkdir()
    subprocess.run([sys.executable, "-c", FILL, str(store)], check=True, env=environment)
    command = [sys.executable, "-uc", SERVE, "--port", "0", "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as server:
        try:
            assert server.stdout is not None
            server.stdout.readline()
            found = re.search(r":(\d+)/", server.stdout.readline())
            assert found
            yield Served(name, server.pid, int(found[1]))
        finally:
            server.terminate()


def measure(servers: Sequence[Served], given: argparse.Namespace) -> None:
    time.sleep(3.0)  # for the language model
    stop = threading.Event()
    indexer = threading.Thread(target=keep_indexing, args=(servers[0].port, stop))
    if given.indexing:
        indexer.start()
    load = Load(
        servers,
        clients=given.clients,
        seconds=given.seconds,
        judged=given.judged,
        cancel=given.cancel,
    )
    for server in servers:
        server.memory.append(_megabytes(server.process))
    watcher = threading.Thread(target=keep_watching, args=(servers, stop))
    watcher.start()
    took = load.run()
    stop.set()
    watcher.join()
    if given.indexing:
        indexer.join()
    time.sleep(5.0)  # for what is still under way
    before = [_processor_s(server.process) for server in servers]
    time.sleep(5.0)
    for server, used in zip(servers, before, strict=True):
        print(server.told(given.clients // len(servers), took))
        print(f"  then {_processor_s(server.process) - used:.2f} s of processor time in 5 s")
    if any(server.errors for server in servers):
        sys.exit(1)


if __name__ == "__main__":
    main()
