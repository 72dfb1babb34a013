"""`abstrag bench experiments`: the paper's tables and figures, and ours, from their configs."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import click
from rich.table import Table as Screen

from abstrag.cli.options import LlmOptions, llm_options, print_estimate, print_ledger
from abstrag.cli.output import console, print_json
from abstrag.errors import InputError
from abstrag.llm.budget import Estimate, tokens_in
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.llm.usage import ModelUsage
from abstrag.policy.load import load_programs
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.experiments import timing
from abstrag_bench.experiments.page import render
from abstrag_bench.experiments.plan import RecordFolder, plan
from abstrag_bench.experiments.runner import run_experiments
from abstrag_bench.experiments.setting import Setting, load_folder
from abstrag_bench.generation import ModelWriter, Writer
from abstrag_bench.shared import shared
from abstrag_bench.systems import SystemSpec, asks_model


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
    from abstrag_bench.local_writer import LocalWriter

    return LocalWriter()


def print_most(
    models: BenchModels, requests: Mapping[str, Sequence[ModelRequest]], *, as_json: bool
) -> None:
    """Say what a run would take at most, by system and together."""
    by_system = {name: models.most(own) for name, own in requests.items()}
    total = models.most([one for own in requests.values() for one in own])
    if as_json:
        print_json({"total": total, "systems": by_system})
        return
    for name, one in by_system.items():
        console().print(f"{name}: at most {one.calls:,} calls")
    print_estimate(total)
    console().print(
        "[dim]a reply that cannot be used is asked for once more, which counts again[/]"
    )


_PATH = click.Path(path_type=Path)
_EVERY_S = 10.0


@click.command("experiments")
@click.argument("names", nargs=-1)
@click.option("--data", required=True, type=_PATH, help="The folder with the data sets.")
@click.option("--out", required=True, type=_PATH, help="Where the records go.")
@click.option(
    "--configs",
    default=Path("experiments"),
    show_default=True,
    type=_PATH,
    help="The folder that says what each experiment runs.",
)
@click.option("--pages", type=_PATH, help="Where the results go.  [default: OUT/pages]")
@click.option("--split", "splits", multiple=True, metavar="DATASET=SPLIT", help="Another split.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N cases: a trial.")
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many work side by side.",
)
@click.option(
    "--cache",
    type=_PATH,
    help="What models said and indexing made, for all experiments.  [default: OUT/cache.db]",
)
@click.option("--record-times", is_flag=True, help="Also time every system, and keep that.")
@llm_options
def bench_experiments(
    models_options: LlmOptions,
    names: tuple[str, ...],
    data: Path,
    out: Path,
    configs: Path,
    pages: Path | None,
    splits: tuple[str, ...],
    limit: int | None,
    workers: int,
    cache: Path | None,
    record_times: bool,
) -> None:
    """Run NAMES, or every experiment, and write the results; run again to go on after a kill.

    Without a model the systems that ask one are left out and the pages say so. --dry-run says how
    many records there will be and how many are there.
    """
    if limit and (pages or record_times):
        raise InputError(
            "--limit makes a trial; --pages and --record-times are for results", hint="leave it out"
        )
    folder = load_folder(configs)
    given = dict(_pair(one, folder.data) for one in splits)
    asking = [SystemSpec.of(s) for one in folder.experiments for s in one.model_systems]
    started = last = monotonic()

    def tell(text: str) -> None:
        nonlocal last
        if text.startswith("==") or monotonic() - last >= _EVERY_S:
            last = monotonic()
            click.echo(text, err=True)

    with connected(models_options, asking, generate=True) as models:
        setting = Setting(
            folder,
            data,
            out,
            splits=given,
            limit=limit,
            workers=workers,
            backing=models.backing,
            writer=models.writer,
            tell=tell,
        )
        if models_options.dry_run:
            _print_plan(plan(setting, names))
            return
        before = setting.times()
        with shared(cache or out / "cache.db"):
            results = run_experiments(setting, names)
        if record_times:
            timing.record_times(setting)
        texts = render(results, setting)
        ledger = models.ledger()
    place = pages or out / "pages"
    place.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (place / name).write_text(text, "utf-8")
    _print_times([one.experiment.name for one in results], before, setting.times())
    console().print(
        f"{place}: {len(results)} experiments in {monotonic() - started:.0f} s", soft_wrap=True
    )
    print_ledger(ledger)


def _print_plan(parts: Sequence[RecordFolder]) -> None:
    screen = Screen("experiment", "data set", "cases", "× runs", "records", "there")
    for part in parts:
        counts = (part.cases, part.runs, part.wanted, part.done)
        told = ("not run", "", "", "") if part.not_run else map(str, counts)
        screen.add_row(part.experiment, part.dataset, *told)
    console().print(screen)
    console().print("[dim]experiments on the same data share records; each counts its own[/]")


def _print_times(
    names: Sequence[str], before: Mapping[str, float], after: Mapping[str, float]
) -> None:
    """Say what this run took, and all runs into the same folder: the cold time."""
    screen = Screen("experiment", "this run, s", "since OUT was begun, s")
    spent = [(name, after[name] - before.get(name, 0.0), after[name]) for name in names]
    for name, now, ever in spent:
        screen.add_row(name, f"{now:.1f}", f"{ever:.1f}")
    now, ever = sum(one[1] for one in spent), sum(one[2] for one in spent)
    screen.add_row("together", f"{now:.1f}", f"{ever:.1f}", style="bold")
    console().print(screen)


def _pair(text: str, known: Container[str]) -> tuple[str, str]:
    name, equals, split = text.partition("=")
    if not equals or not split or name not in known:
        raise InputError(f"--split {text!r} is not DATASET=SPLIT", hint="--split scifact=dev")
    return name, split


if __name__ == "__main__":
    bench_experiments()
