"""A call as it is logged: its id, the request, the reply word for word, and its cost."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from typing import Any, Final

from abstrag.llm.model import CallRole, ModelRequest, Reply
from abstrag.model.record import record

_LENGTH: Final = 16  # hexadecimal digits: 64 bits, and short enough to be read out


def call_id(model: str, request: ModelRequest) -> str:
    """Return the id of asking a model for something; equal questions have equal ids.

    Role and stage say what the answer is for, not what it is, so they are no part of it. Nor is
    the address of the endpoint: a recording replays anywhere.
    """
    content = {
        "model": model,
        "system": request.system,
        "user": request.user,
        "schema": request.schema,
        "temperature": float(request.temperature),
        "sample": request.sample,
        "max_tokens": request.max_tokens,
        **({"weighed": request.weighed} if request.weighed else {}),
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    # a lone surrogate cannot be encoded, yet may stand in a text that was read from anywhere
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_LENGTH]


@record
class Exchange:
    """One request over the wire and what became of it."""

    mode: str  # how the shape of the reply was asked for
    outcome: str  # "ok", or what went wrong
    seconds: float
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    lost: bool = False  # it was sent and not answered: nobody knows what it took

    @property
    def answered(self) -> bool:
        """True when the model replied: this is what an endpoint bills."""
        return self.outcome == "ok"


@dataclass(slots=True)
class Transcript:
    """Collects everything that happens during a call, also when the call fails."""

    exchanges: list[Exchange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what was given up, repaired, tried again
    raw: str = ""  # the last reply, word for word
    mode: str = ""  # the one the last reply was asked for in

    def add(self, exchange: Exchange, seconds: float) -> None:
        """Add an exchange with its duration."""
        self.exchanges.append(replace(exchange, seconds=seconds))

    def note(self, text: str) -> None:
        """Add a note, unless it is there already."""
        if text not in self.notes:
            self.notes.append(text)

    @property
    def tokens_in(self) -> int:
        """Tokens sent, by all exchanges together."""
        return sum(one.tokens_in for one in self.exchanges)

    @property
    def tokens_out(self) -> int:
        """Tokens received."""
        return sum(one.tokens_out for one in self.exchanges)

    @property
    def cost(self) -> float:
        """Dollars."""
        return sum(one.cost for one in self.exchanges)

    @property
    def seconds(self) -> float:
        """Time on the wire."""
        return sum(one.seconds for one in self.exchanges)


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
        """Return the reply, marked as read from the log."""
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
