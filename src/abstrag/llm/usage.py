"""Usage of models: by role, and by prompt program."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

from abstrag.errors import ModelError
from abstrag.llm.call import Exchange
from abstrag.llm.model import CallRole, LanguageModel, ModelRequest, Reply
from abstrag.model.record import record

# Counting what is asked, by the program that asks: calls and tokens of every stage.
#
# A call that the log answers counts as one: what a method needs does not depend on what is kept.


@dataclass(slots=True)
class StageCount:
    """What one stage asked."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0


@dataclass(slots=True)
class StageCounts:
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
class CountedModel:
    """A language model whose requests are counted; implements `LanguageModel`."""

    model: LanguageModel
    tally: StageCounts

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


@record
class RoleLedger:
    """What one role took."""

    role: CallRole
    calls: int = 0  # replies that came over the wire, repairs included
    cached: int = 0  # replies that were found in the log or a recording
    failed: int = 0  # requests that ended without a usable reply
    lost: int = 0  # exchanges sent and never answered; the budget counts their worst case
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0  # dollars, of the models whose price is known
    seconds: float = 0.0  # on the wire, of all threads together


_COUNTS = tuple(each.name for each in fields(RoleLedger) if each.name != "role")


@record
class ModelUsage:
    """What a piece of work took; results carry it."""

    roles: tuple[RoleLedger, ...] = ()  # in the order of `CallRole`; those that did nothing are out
    unpriced: tuple[str, ...] = ()  # models whose price nobody said, so `cost` leaves them out

    @property
    def total(self) -> RoleLedger:
        """Everything together, under the first role's name."""
        total = RoleLedger(self.roles[0].role if self.roles else CallRole.INDEX)
        for one in self.roles:
            total = _added(total, one)
        return total


def _added(one: RoleLedger, other: RoleLedger) -> RoleLedger:
    return replace(one, **{name: getattr(one, name) + getattr(other, name) for name in _COUNTS})


class UsageMeter:
    """Counts while the work is going on; shared by threads."""

    def __init__(self, unpriced: tuple[str, ...] = ()) -> None:
        self._unpriced = unpriced
        self._lock = threading.Lock()
        self._roles: dict[CallRole, RoleLedger] = {}

    def found(self, role: CallRole) -> None:
        """Count a reply that cost nothing."""
        self._add(RoleLedger(role, cached=1))

    def made(self, role: CallRole, exchanges: Sequence[Exchange], *, failed: bool) -> None:
        """Count what went over the wire for a request."""
        answered = [one for one in exchanges if one.answered]
        self._add(
            RoleLedger(
                role,
                calls=len(answered),
                failed=int(failed),
                lost=sum(one.lost for one in exchanges),
                tokens_in=sum(one.tokens_in for one in answered),
                tokens_out=sum(one.tokens_out for one in answered),
                cost=sum(one.cost for one in answered),
                seconds=sum(one.seconds for one in exchanges),
            )
        )

    def ledger(self) -> ModelUsage:
        """Return what was counted so far."""
        with self._lock:
            done = tuple(self._roles[role] for role in CallRole if role in self._roles)
            return ModelUsage(done, self._unpriced)

    def _add(self, more: RoleLedger) -> None:
        with self._lock:
            before = self._roles.get(more.role, RoleLedger(more.role))
            self._roles[more.role] = _added(before, more)
