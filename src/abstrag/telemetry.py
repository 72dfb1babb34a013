"""Spans and metrics of OpenTelemetry, where the program we are part of has set it up.

Nothing is imported for it: a program that records has imported `opentelemetry` before it asks us
anything. Whoever wants to count without it watches (`watch`). Nothing that is recorded carries the
words of a query or a document.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from time import perf_counter
from typing import Any, Final

Attributes = Mapping[str, str | int | float | bool]
Watcher = Callable[[str, float, bool], None]  # told what was done, in how many seconds, if in vain

_watchers: Final[list[Watcher]] = []
_TOKENS: Final = {"input": "gen_ai.usage.input_tokens", "output": "gen_ai.usage.output_tokens"}
_CHAT: Final = ("gen_ai.operation.name", "gen_ai.provider.name", "gen_ai.request.model")


class TelemetrySpan:
    """What is being recorded; it takes attributes that are known only when the work is done."""

    def __init__(self, attributes: Attributes, recorded: Any = None) -> None:
        self.attributes = dict(attributes)
        self.recorded = recorded

    def note(self, attributes: Attributes) -> None:
        """Add attributes."""
        self.attributes.update(attributes)
        if self.recorded is not None:
            self.recorded.set_attributes(dict(attributes))


@contextmanager
def span(name: str, attributes: Attributes, *, calls_out: bool = False) -> Iterator[TelemetrySpan]:
    """Record what happens inside; an error that leaves it is part of the record.

    Args:
        name: What is done.
        attributes: What is known before.
        calls_out: True where another program is asked over a network.
    """
    with _measured(name, attributes) as measured:
        trace = sys.modules.get("opentelemetry.trace")
        if trace is None:
            yield measured
            return
        kind = trace.SpanKind.CLIENT if calls_out else trace.SpanKind.INTERNAL
        tracer = trace.get_tracer("abstrag")
        with tracer.start_as_current_span(name, kind=kind, attributes=dict(attributes)) as recorded:
            measured.recorded = recorded
            yield measured


def watch(watcher: Watcher) -> Callable[[], None]:
    """Let somebody be told of all work when it is over; returned is what ends that."""
    _watchers.append(watcher)
    return lambda: _watchers.remove(watcher)


@contextmanager
def _measured(name: str, attributes: Attributes) -> Iterator[TelemetrySpan]:
    """Measure what happens inside, for watchers and for OpenTelemetry's metrics."""
    started = perf_counter()
    made = TelemetrySpan(attributes)
    failed = True
    try:
        yield made
        failed = False
    finally:
        seconds = perf_counter() - started
        work = name.partition(" ")[0]  # the rest of a name is a model's
        for watcher in tuple(_watchers):
            watcher(work, seconds, failed)
        if "opentelemetry.metrics" in sys.modules:
            _record(work, seconds, made.attributes, failed=failed)


def _record(work: str, seconds: float, attributes: Attributes, *, failed: bool) -> None:
    """Record how long something took, and the tokens of a call by the GenAI conventions."""
    known = {"abstrag.operation": work, "abstrag.failed": failed}
    _histogram("abstrag.operation.duration", "s").record(seconds, known)
    if work != "chat":
        return
    about = {name: attributes[name] for name in _CHAT if name in attributes}
    _histogram("gen_ai.client.operation.duration", "s").record(seconds, about)
    for kind, name in _TOKENS.items():
        if name in attributes:
            usage = _histogram("gen_ai.client.token.usage", "{token}")
            usage.record(attributes[name], {**about, "gen_ai.token.type": kind})


@cache  # one made again is another one, with a warning; it follows a provider that is set later
def _histogram(name: str, unit: str) -> Any:
    return sys.modules["opentelemetry.metrics"].get_meter("abstrag").create_histogram(name, unit)
