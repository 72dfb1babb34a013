"""The cost of calls: counting tokens, estimating and batching work, and the hard caps."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from abstrag.errors import InputError, OverBudget
from abstrag.llm.model import ModelRequest
from abstrag.llm.settings import Limits
from abstrag.model.record import record

_BYTES_A_TOKEN: Final = 4  # of English text, for the vocabularies in use
_FRAME: Final = 16  # tokens that mark where messages begin and end
_TEMPLATE: Final = 512  # the most a server adds of its own accord: default prompts, tool headers


def tokens_of(text: str) -> int:
    """Return an estimate of the number of tokens in a text."""
    return -(-_size(text) // _BYTES_A_TOKEN)


def tokens_in(request: ModelRequest) -> int:
    """Return an estimate of the number of tokens that a request sends."""
    return tokens_of(request.system) + tokens_of(request.user) + _FRAME


def most_tokens(*texts: str) -> int:
    """Return an upper bound on the tokens of some texts: a token is at least one byte."""
    return sum(_size(text) for text in texts) + _TEMPLATE


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


@record
class Estimate:
    """Calls, tokens and dollars. Tokens out are the most there can be, so the cost is too."""

    calls: int = 0  # to be paid for
    cached: int = 0  # that are in the log already
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    most: bool = False  # True: the calls are a maximum as well, not what is likely
    unpriced: tuple[str, ...] = ()  # models whose price nobody said, so `cost` leaves them out

    def __add__(self, other: Estimate) -> Estimate:
        """Return the sum of two estimates."""
        return Estimate(
            calls=self.calls + other.calls,
            cached=self.cached + other.cached,
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            cost=self.cost + other.cost,
            most=self.most or other.most,
            unpriced=tuple(sorted({*self.unpriced, *other.unpriced})),
        )

    @property
    def sentence(self) -> str:
        """Say it to a person."""
        noun = "call" if self.calls == 1 else "calls"
        calls = f"{'at most' if self.most else 'about'} {self.calls:,} {noun}"
        known = f" (and {self.cached:,} in the log already)" if self.cached else ""
        tokens = f"{self.tokens_in:,} tokens in, at most {self.tokens_out:,} out"
        money = f"at most ${self.cost:.4f}"
        if self.unpriced:
            money = f"price of {', '.join(self.unpriced)} unknown"
        return f"{calls}{known}, {tokens}, {money}"


_BATCH_FRAME: Final = 128  # tokens of a reply about nothing
_MOST: Final = 4096
_ITEMS: Final = ("segments", "pairs")  # what programs are asked about


def room(inputs: Sequence[Mapping[str, Any]], each: int) -> int:
    """Return the limit of tokens for a reply to any of these, given the tokens for each item.

    A reply about few things is kept short: a small model would fill whatever room there is.
    """
    items = max((len(one.get(name, ())) for one in inputs for name in _ITEMS), default=0)
    return min(_MOST, _BATCH_FRAME + each * items)


@dataclass(frozen=True, slots=True)
class Batching:
    """Cuts a sequence into runs of neighbours by their number and by their tokens.

    Neighbours stay together and the cut depends on nothing but sizes, so an unchanged document is
    cut the same way again and its calls are found in the log.
    """

    tokens: int = 1600  # of the things themselves, not of the program around them
    items: int = 20

    def __post_init__(self) -> None:
        if self.tokens < 1 or self.items < 1:
            raise InputError(
                f"a batch of {self.items} items and {self.tokens} tokens holds nothing"
            )

    def cut(self, sizes: Sequence[int], *, most: int | None = None) -> list[range]:
        """Return the runs; something larger than a batch has one of its own."""
        items = self.items if most is None else max(1, min(self.items, most))
        runs: list[range] = []
        first = filled = 0
        for place, size in enumerate(sizes):
            if place > first and (place - first == items or filled + size > self.tokens):
                runs.append(range(first, place))
                first, filled = place, 0
            filled += size
        if first < len(sizes):
            runs.append(range(first, len(sizes)))
        return runs


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


class CallBudget:
    """The caps on calls and cost, what was spent, and what is reserved for calls under way.

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
        """Reserve the worst case of a call; wait if calls under way may free enough of the budget.

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
        """Replace the reservation of a call by its real cost."""
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
