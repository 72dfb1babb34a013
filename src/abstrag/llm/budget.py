"""The hard cap: a call is let through only when even its worst case stays under every limit."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from abstrag.errors import OverBudget
from abstrag.llm.settings import Limits

_GLANCE_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class Spending:
    """Calls, tokens in and out together, and dollars."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def __add__(self, other: Spending) -> Spending:
        return Spending(
            self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost
        )

    def __sub__(self, other: Spending) -> Spending:
        return Spending(
            self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost
        )


class CallBudget:
    """What has been spent, what calls under way may still spend, and the caps on both together.

    Several threads share one. A call sets its worst case aside before it is sent; when it is
    answered, what it really took is entered instead.
    """

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._spent = Spending()
        self._aside: list[Spending] = []
        self._changed = threading.Condition()

    @property
    def spent(self) -> Spending:
        """What was spent, and what replies that got lost may have cost."""
        with self._changed:
            return self._spent

    def set_aside(self, worst: Spending, stop: threading.Event | None = None) -> None:
        """Set the worst case of a call aside; waits while only calls under way are in the way.

        Raises:
            OverBudget: It does not fit, however little those calls turn out to take.
        """
        with self._changed:
            while True:
                if over := self._over(self._spent + worst):
                    raise OverBudget(over, hint="raise the limit; finished calls are not repeated")
                if not self._over(sum(self._aside, self._spent) + worst):
                    self._aside.append(worst)
                    return
                if stop is not None and stop.is_set():
                    raise OverBudget("the work was called off before this call")
                self._changed.wait(_GLANCE_S)

    def settle(self, worst: Spending, actual: Spending) -> None:
        """Enter what a call took in place of what was set aside for it."""
        with self._changed:
            self._aside.remove(worst)
            self._spent += actual
            self._changed.notify_all()

    def _over(self, total: Spending) -> str | None:
        """Say which limit a total is over."""
        caps = self.limits
        if caps.max_calls is not None and total.calls > caps.max_calls:
            return f"the next call would be number {total.calls} of {caps.max_calls} allowed"
        if caps.max_tokens is not None and total.tokens > caps.max_tokens:
            return (
                f"the next call could bring the tokens to {total.tokens:,} "
                f"of {caps.max_tokens:,} allowed"
            )
        if caps.max_cost is not None and total.cost > caps.max_cost:
            return (
                f"the next call could bring the cost to ${total.cost:.4f} "
                f"of ${caps.max_cost:.4f} allowed"
            )
        return None
