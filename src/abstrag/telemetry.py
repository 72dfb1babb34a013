"""Spans of OpenTelemetry, where the program we are part of has set it up; otherwise nothing.

Nothing is imported for it: a program that records spans has imported `opentelemetry` before it
asks us anything. No span carries the words of a query or a document.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

Attributes = Mapping[str, str | int | float | bool]


class Span:
    """What is being recorded; it takes attributes that are known only when the work is done."""

    def __init__(self, recorded: Any = None) -> None:
        self._recorded = recorded

    def note(self, attributes: Attributes) -> None:
        """Add attributes."""
        if self._recorded is not None:
            self._recorded.set_attributes(dict(attributes))


@contextmanager
def span(name: str, attributes: Attributes, *, calls_out: bool = False) -> Iterator[Span]:
    """Record what happens inside; an error that leaves it is part of the record.

    Args:
        name: What is done.
        attributes: What is known before.
        calls_out: True where another program is asked over a network.
    """
    trace = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield Span()
        return
    kind = trace.SpanKind.CLIENT if calls_out else trace.SpanKind.INTERNAL
    tracer = trace.get_tracer("abstrag")
    with tracer.start_as_current_span(name, kind=kind, attributes=dict(attributes)) as recorded:
        yield Span(recorded)
