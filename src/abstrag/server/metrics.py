"""What a server has done so far, in numbers, as Prometheus reads them; no word of any question."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Final

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0)  # seconds

Labels = tuple[tuple[str, str], ...]


@dataclass
class Histogram:
    """How long something took, in buckets."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def lines(self, name: str, labels: Labels) -> Iterator[str]:
        """Write it out; the count of a bucket holds those of the smaller ones."""
        so_far = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            so_far += count
            yield f"{name}_bucket{_written((*labels, ('le', bound)))} {so_far}"
        yield f"{name}_sum{_written(labels)} {self.total:.6f}"
        yield f"{name}_count{_written(labels)} {so_far}"


class Metrics:
    """Counts requests and the work behind them; threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[Labels] = Counter()
        self._request_seconds: defaultdict[Labels, Histogram] = defaultdict(Histogram)
        self._work_seconds: defaultdict[Labels, Histogram] = defaultdict(Histogram)
        self._failures: Counter[Labels] = Counter()
        self._jobs: Counter[Labels] = Counter()

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request that was answered."""
        with self._lock:
            labels = (("method", method), ("route", route), ("status", str(status)))
            self._requests[labels] += 1
            self._request_seconds[(("route", route),)].add(seconds)

    def work(self, name: str, seconds: float, *, failed: bool) -> None:
        """Count a search, a batch of judgements or a call of a model that is over."""
        with self._lock:
            labels = (("operation", name),)
            self._work_seconds[labels].add(seconds)
            self._failures[labels] += failed

    def job(self, state: str) -> None:
        """Count a job that is over."""
        with self._lock:
            self._jobs[(("state", state),)] += 1

    def text(self, now: Mapping[str, tuple[str, Mapping[Labels, float]]]) -> str:
        """Return everything as Prometheus reads it.

        Args:
            now: What holds at this moment: what each number is, and its values.
        """
        with self._lock:
            lines = [
                *_counted("abstrag_http_requests", "Requests answered", self._requests),
                *_timed("abstrag_http_request_seconds", "Time to answer", self._request_seconds),
                *_timed("abstrag_operation_seconds", "Time of work", self._work_seconds),
                *_counted("abstrag_operation_failures", "Work that failed", self._failures),
                *_counted("abstrag_jobs", "Files whose indexing is over", self._jobs),
            ]
        for name, (what, values) in now.items():
            lines += _header(name, what, "gauge")
            lines += [f"{name}{_written(labels)} {value:g}" for labels, value in values.items()]
        return "\n".join(lines) + "\n"


def _header(name: str, what: str, kind: str) -> Iterable[str]:
    return (f"# HELP {name} {what}", f"# TYPE {name} {kind}")


def _counted(name: str, what: str, counts: Mapping[Labels, int]) -> Iterator[str]:
    yield from _header(f"{name}_total", what, "counter")
    for labels, count in sorted(counts.items()):
        yield f"{name}_total{_written(labels)} {count}"


def _timed(name: str, what: str, timed: Mapping[Labels, Histogram]) -> Iterator[str]:
    yield from _header(name, what, "histogram")
    for labels, histogram in sorted(timed.items()):
        yield from histogram.lines(name, labels)


def _written(labels: Labels) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")
