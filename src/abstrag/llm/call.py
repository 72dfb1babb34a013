"""A call as it is kept: what was asked, what came back word for word, and what it took."""

from __future__ import annotations

from typing import Any

from abstrag.llm.model import CallRole, ModelRequest, Reply
from abstrag.model.record import record


@record
class Call:
    """One line of a recording, one entry of the log. The API key is no part of it."""

    id: str
    model: str
    request: ModelRequest
    raw: str  # the reply, word for word
    value: Any  # what was read from it; None when the call failed
    mode: str  # how the shape of the reply was asked for
    notes: tuple[str, ...]  # everything that was given up, repaired or tried again
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float
    at: str  # UTC
    error: str | None = None

    def reply(self) -> Reply:
        """Return the reply as one that was found, not bought."""
        return Reply(
            call=self.id,
            value=self.value,
            model=self.model,
            tokens_in=self.tokens_in,
            tokens_out=self.tokens_out,
            seconds=0.0,
            cost=0.0,
            cached=True,
        )


@record
class RoleSummary:
    """What one role's calls took, over everything in a log."""

    role: CallRole
    calls: int  # replies that came over the wire
    cached: int  # replies that were found in the log
    faults: int  # exchanges that brought no reply
    failed: int  # calls that have no usable reply to this day
    tokens_in: int
    tokens_out: int
    cost: float
    p50_s: float | None  # latency of a reply; None without any
    p95_s: float | None


@record
class CallLine:
    """One call in a list."""

    id: str
    at: str
    role: CallRole
    stage: str
    model: str
    mode: str
    tokens_in: int
    tokens_out: int
    seconds: float
    cost: float
    hits: int  # how often it was answered from the log since
    error: str | None


def quantile(values: list[float], share: float) -> float | None:
    """Return the smallest value that a share of the values does not exceed."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[max(0, -(-round(share * 100) * len(ordered) // 100) - 1)]
