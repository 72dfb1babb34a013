"""Counting what is asked, by the program that asks: calls and tokens of every stage.

A call that the log answers counts as one: what a method needs does not depend on what is kept.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from abstrag.errors import ModelError
from abstrag.llm.model import LanguageModel, ModelRequest, Reply


@dataclass(slots=True)
class StageCount:
    """What one stage asked."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(slots=True)
class Tally:
    """Counts by stage; threads may share one."""

    stages: dict[str, StageCount] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, request: ModelRequest, reply: Reply | ModelError) -> None:
        """Count one request and what came back."""
        with self._lock:
            count = self.stages.setdefault(request.stage, StageCount())
            count.calls += 1
            if isinstance(reply, Reply):
                count.tokens_in += reply.tokens_in
                count.tokens_out += reply.tokens_out

    def take(self) -> dict[str, StageCount]:
        """Return what was counted since the last time, and begin again."""
        with self._lock:
            made, self.stages = self.stages, {}
        return dict(sorted(made.items()))


@dataclass(frozen=True, slots=True)
class Tallied:
    """A language model whose requests are counted; implements `LanguageModel`."""

    model: LanguageModel
    tally: Tally

    @property
    def fingerprint(self) -> str:
        """Names the model; counting changes nothing."""
        return self.model.fingerprint

    def complete(self, request: ModelRequest) -> Reply:
        """Answer one request."""
        try:
            reply = self.model.complete(request)
        except ModelError as error:
            self.tally.add(request, error)
            raise
        self.tally.add(request, reply)
        return reply

    def complete_many(self, requests: Sequence[ModelRequest]) -> list[Reply | ModelError]:
        """Answer several requests side by side."""
        replies = self.model.complete_many(requests)
        for request, reply in zip(requests, replies, strict=True):
            self.tally.add(request, reply)
        return replies
