"""What a measurement asks of language models: who is asked, by whom, and how much at most."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from abstrag.baselines.backing import Backing
from abstrag.bench.generation import ModelWriter, Writer
from abstrag.bench.systems import SystemSpec, asks_model
from abstrag.cli.llm_options import LlmOptions, print_estimate
from abstrag.cli.output import console, print_json
from abstrag.llm.connect import Models
from abstrag.llm.estimate import Estimate
from abstrag.llm.ledger import ModelUsage
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.llm.tokens import tokens_in
from abstrag.model.record import to_data
from abstrag.policy.load import load_programs


@dataclass(frozen=True, slots=True)
class BenchModels:
    """The models of a run, the systems' way to them, and what writes answers."""

    models: Models | None = None
    backing: Backing | None = None
    writer: Writer | None = None

    @property
    def parts(self) -> dict[str, Any]:
        """What a run takes of it."""
        return {"backing": self.backing, "writer": self.writer}

    def ledger(self) -> ModelUsage:
        """What was asked so far."""
        return self.models.ledger() if self.models else ModelUsage()

    def most(self, requests: Sequence[ModelRequest]) -> Estimate:
        """Return what requests that are only bounded would take at most."""
        total = Estimate(most=True)
        for role in CallRole:
            own = [one for one in requests if one.role is role]
            if own and self.models:
                sent, back = sum(map(tokens_in, own)), sum(one.max_tokens for one in own)
                total += self.models.guess(role, len(own), sent, back, most=True)
        return total


@contextmanager
def connected(
    options: LlmOptions, specs: Sequence[SystemSpec], *, generate: bool
) -> Iterator[BenchModels]:
    """Connect what a run needs, and nothing when neither a system nor generation asks a model."""
    if not generate and not any(asks_model(spec.base) for spec in specs):
        yield BenchModels()
        return
    models = options.connect()
    if models is None:
        yield BenchModels(writer=_quoting() if generate else None)
        return
    with models:
        backing = Backing(models, load_programs())
        yield BenchModels(models, backing, ModelWriter(backing) if generate else None)


def _quoting() -> Writer:
    # here, because it brings the whole engine along and a run with a model may not need it
    from abstrag.bench.local_writer import LocalWriter

    return LocalWriter()


def print_most(
    models: BenchModels, requests: Mapping[str, Sequence[ModelRequest]], *, as_json: bool
) -> None:
    """Say what a run would take at most, by system and together."""
    by_system = {name: models.most(own) for name, own in requests.items()}
    total = models.most([one for own in requests.values() for one in own])
    if as_json:
        parts = {name: to_data(one) for name, one in by_system.items()}
        print_json({"total": to_data(total), "systems": parts})
        return
    for name, one in by_system.items():
        console().print(f"{name}: at most {one.calls:,} calls")
    print_estimate(total)
    console().print(
        "[dim]a reply that cannot be used is asked for once more, which counts again[/]"
    )
