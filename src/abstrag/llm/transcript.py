"""What really happened during a call: every exchange over the wire, and everything given up."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from abstrag.model.record import record


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
    """Fills up while a call is made; it is kept also when the call fails."""

    exchanges: list[Exchange] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what was given up, repaired, tried again
    raw: str = ""  # the last reply, word for word
    mode: str = ""  # the one the last reply was asked for in

    def add(self, exchange: Exchange, seconds: float) -> None:
        """Write an exchange down with the time it took."""
        self.exchanges.append(replace(exchange, seconds=seconds))

    def note(self, text: str) -> None:
        """Write something down once."""
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
