"""Metrics and logs of a server: requests counted and timed, in Prometheus' format.

None of it holds a word of a query or a document.
"""

from __future__ import annotations

import json
import logging
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from secrets import token_hex
from threading import Lock
from time import perf_counter
from typing import Any, Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
BOUNDS: Final = (0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 120.0)  # seconds

Labels = tuple[tuple[str, str], ...]


@dataclass
class Histogram:
    """A histogram of durations."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        """Count one more."""
        self.counts[bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def lines(self, name: str, labels: Labels) -> Iterator[str]:
        """Return the lines of the histogram, whose buckets are cumulative."""
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

        `now` is what holds at this moment: what each number is, and its values.
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


REQUEST: Final = "abstrag.request"  # where a request's scope has its number
_OTHER: Final = "other"  # what was asked for and is not there; a label for each would be endless
log: Final = logging.getLogger("abstrag.access")


class RequestMetrics:
    """The outermost layer, so that refused requests are counted as well."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        number = scope[REQUEST] = token_hex(8)
        status = 500
        started = perf_counter()

        async def numbered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-Id"] = number
            await send(message)

        try:
            await self._app(scope, receive, numbered)
        finally:
            seconds = perf_counter() - started
            route = getattr(scope.get("route"), "path", _OTHER)
            self._metrics.request(scope["method"], route, status, seconds)
            told = {
                "request": number,
                "method": scope["method"],
                "route": route,
                "status": status,
                "ms": round(1000 * seconds, 1),
            }
            log.info("%s %s %s", scope["method"], route, status, extra={"fields": told})


# How a server logs: sentences for a person, or one JSON object a line for a program.
#
# Neither holds the words of a query or a document.


class LogForm(StrEnum):
    """What a line of the log looks like."""

    TEXT = "text"  # warnings and errors
    JSON = "json"  # every request as well


class JsonLines(logging.Formatter):
    """Writes a record as one JSON object: when, how grave, by whom, what, and its fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


def set_up_logs(form: LogForm) -> None:
    """Let this process log to standard error in a form."""
    handler = logging.StreamHandler()
    if form is LogForm.JSON:
        handler.setFormatter(JsonLines())
        logging.getLogger("abstrag").setLevel(logging.INFO)
    else:
        handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
