"""`abstrag bench experiments`: the paper's tables and figures, and ours, from their configs."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from time import monotonic

import click

from abstrag.bench.experiments.config import load_folder
from abstrag.bench.experiments.page import render
from abstrag.bench.experiments.runner import run_experiments
from abstrag.bench.experiments.setting import Setting
from abstrag.bench.systems import SystemSpec
from abstrag.cli.bench_models import connected
from abstrag.cli.llm_options import LlmOptions, llm_options, print_ledger
from abstrag.cli.output import console
from abstrag.errors import InputError

_PATH = click.Path(path_type=Path)
_EVERY_S = 10.0


@click.command("experiments")
@click.argument("names", nargs=-1)
@click.option("--data", required=True, type=_PATH, help="The folder with the data sets.")
@click.option("--out", required=True, type=_PATH, help="Where the records go.")
@click.option("--configs", default=Path("experiments"), show_default=True, type=_PATH)
@click.option("--page", type=_PATH, help="Where the results go.  [default: OUT/results.md]")
@click.option("--split", "splits", multiple=True, metavar="DATASET=SPLIT", help="Another split.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N cases: a trial.")
@click.option("--workers", default=1, show_default=True, type=click.IntRange(min=1))
@llm_options
def bench_experiments(
    models_options: LlmOptions,
    names: tuple[str, ...],
    data: Path,
    out: Path,
    configs: Path,
    page: Path | None,
    splits: tuple[str, ...],
    limit: int | None,
    workers: int,
) -> None:
    """Run NAMES, or every experiment, and write the results; run again to go on after a kill.

    Without a model the systems that ask one are left out and the page says so.
    """
    if limit and page:
        raise InputError("--limit makes a trial, and --page is for results", hint="leave one out")
    if models_options.dry_run:
        raise InputError(
            "experiments cannot tell beforehand what models would cost",
            hint="abstrag bench run … --dry-run does, for one data set",
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
        results = run_experiments(setting, names)
        text = render(results, setting)
        ledger = models.ledger()
    place = page or out / "results.md"
    place.write_text(text, "utf-8")
    cold = sum(setting.times().get(one.experiment.name, 0.0) for one in results)
    console().print(
        f"{place}: {len(results)} experiments in {monotonic() - started:.0f} s; "
        f"{cold:.0f} s of work since {out} was begun"
    )
    print_ledger(ledger)


def _pair(text: str, known: Container[str]) -> tuple[str, str]:
    name, equals, split = text.partition("=")
    if not equals or not split or name not in known:
        raise InputError(f"--split {text!r} is not DATASET=SPLIT", hint="--split scifact=dev")
    return name, split


if __name__ == "__main__":
    bench_experiments()
