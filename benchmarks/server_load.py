"""How `abstrag serve` holds up: many clients that search at once, from a second process.

    python benchmarks/server_load.py                  50 clients for 60 seconds
    python benchmarks/server_load.py --indexing       and a file being indexed all the while
    python benchmarks/server_load.py --judged --clients 8      with the judge, as by default

Searches are without the judge unless `--judged` is given: with it a server takes two at a time and
lets eight wait, and sends everybody else away. Every client sends its next search when it has the
answer to the last one. The server runs as a process of its own on loopback, over a store with the
bundled article; a client is a thread with one kept connection. Prints the median, the 95th and 99th
percentile and the slowest answer, every error, and the memory of the server over time.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from http.client import HTTPConnection
from pathlib import Path

import numpy as np

from abstrag.engine.demo import demo_background, demo_document
from abstrag.engine.library import Library
from abstrag.stores.sqlite import SqliteStore

SERVE = "from abstrag.cli.serve import serve_command; serve_command()"
# Hardly any two searches are alike: a server keeps the latest queries understood.
QUERIES = [
    f"{asked} {who} {about} in {year}?"
    for year in range(1990, 2025)
    for asked in ("What did", "Which suppliers met", "When did", "Who worked with")
    for who in ("Anthropic", "TSMC", "the ministry", "LLM companies", "the consultant")
    for about in ("say about chips", "visit", "buy accelerators", "expect of prices")
]


class Load:
    """Clients that search until the time is over, and what they saw."""

    def __init__(self, port: int, *, clients: int, seconds: float, judged: bool) -> None:
        self.seen: list[float] = []
        self.errors: Counter[str] = Counter()
        self._port = port
        self._seconds = seconds
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
        connection = HTTPConnection("127.0.0.1", self._port, timeout=60)
        self._start.wait()
        end = time.monotonic() + self._seconds
        while time.monotonic() < end:
            number += 37
            body = json.dumps({"query": QUERIES[number % len(QUERIES)], **self._options})
            began = time.monotonic()
            try:
                connection.request(
                    "POST",
                    "/api/documents/chips/search",
                    body,
                    {"Content-Type": "application/json"},
                )
                response = connection.getresponse()
                answer = response.read()
            except OSError as error:
                self.errors[type(error).__name__] += 1
                connection.close()
                continue
            self.seen.append(time.monotonic() - began)
            if response.status != 200 or b'"hits"' not in answer:
                self.errors[str(response.status)] += 1
        connection.close()


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


def keep_watching(server: int, memory: list[int], stop: threading.Event) -> None:
    """Note every second how much memory the server takes."""
    while not stop.wait(1.0):
        memory.append(_megabytes(server))


def _megabytes(process: int) -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) // 1024 if found else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--indexing", action="store_true", help="index files all the while")
    parser.add_argument("--judged", action="store_true", help="search with the judge")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        with SqliteStore.open(store) as opened:
            Library(opened, demo_background()).index_document(demo_document())
        command = [sys.executable, "-uc", SERVE, "--port", "0", "--store", str(store)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                measure(server, given)
            finally:
                server.terminate()


def measure(server: subprocess.Popen[str], given: argparse.Namespace) -> None:
    assert server.stdout is not None
    server.stdout.readline()
    found = re.search(r":(\d+)/", server.stdout.readline())
    assert found
    port = int(found[1])
    time.sleep(3.0)  # for the language model
    stop = threading.Event()
    indexer = threading.Thread(target=keep_indexing, args=(port, stop))
    if given.indexing:
        indexer.start()
    load = Load(port, clients=given.clients, seconds=given.seconds, judged=given.judged)
    memory = [_megabytes(server.pid)]
    watcher = threading.Thread(target=keep_watching, args=(server.pid, memory, stop))
    watcher.start()
    took = load.run()
    stop.set()
    watcher.join()
    if given.indexing:
        indexer.join()
    p50, p95, p99, slowest = np.percentile(np.array(load.seen) * 1000, (50, 95, 99, 100))
    print(
        f"{given.clients} clients, {took:.0f} s: {len(load.seen):,} searches, "
        f"{len(load.seen) / took:.0f} a second, p50 {p50:.0f} ms, p95 {p95:.0f} ms, "
        f"p99 {p99:.0f} ms, slowest {slowest:.0f} ms, errors {dict(load.errors) or 0}"
    )
    middle = memory[len(memory) // 2]
    print(f"memory of the server: {memory[0]} MB at first, {middle} half-way, {memory[-1]} at last")
    if load.errors:
        sys.exit(1)


if __name__ == "__main__":
    main()
