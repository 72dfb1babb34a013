"""What a piece of work would take, said before it is done."""

from __future__ import annotations

from abstrag.model.record import record


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
        """Return both together."""
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
