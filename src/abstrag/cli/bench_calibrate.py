"""`abstrag bench calibrate`: fit how a model judge's answers become probabilities, and keep it."""

from __future__ import annotations

from pathlib import Path

import click

from abstrag.bench.datasets.load import LOADERS, load_dataset
from abstrag.bench.sample import sampled
from abstrag.bench.split import Part, parse_split
from abstrag.bench.systems import SystemSpec
from abstrag.cli.bench_models import connected
from abstrag.cli.llm_options import LlmOptions, llm_options, print_ledger
from abstrag.cli.output import print_json
from abstrag.errors import InputError, NeedsModel
from abstrag.model.record import to_data


@click.command("calibrate")
@click.option("--dataset", required=True, type=click.Choice(sorted(LOADERS)), help="Which data.")
@click.option(
    "--data", required=True, type=click.Path(path_type=Path), envvar="ABSTRAG_DATA", help="Folder."
)
@click.option("--split", required=True, help="For instance train: its tuning part is used.")
@click.option("--sample", default=50, show_default=True, type=click.IntRange(min=1))
@click.option("--seed", default=0, show_default=True, help="Of the sample.")
@llm_options
@click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")
def bench_calibrate(
    models_options: LlmOptions,
    dataset: str,
    data: Path,
    split: str,
    sample: int,
    seed: int,
    as_json: bool,
) -> None:
    """Ask a model to judge segments of tuning cases, and keep the curve under the model's name.

    From then on `abstrag-llm` reads its judgements by that curve, as long as the wording of the
    judge's prompt stays the same.
    """
    from abstrag.bench.abstrag_llm import calibrated
    from abstrag.search.calibration import save_calibration

    name, part = parse_split(split)
    if part is Part.REPORT:
        raise InputError(
            f"{split!r} is for reporting and nothing is fitted on it", hint=f"--split {name}"
        )
    loaded = load_dataset(dataset, data, f"{name}:{Part.TUNE.value}")
    cases = sampled([case for case in loaded.cases if case.gold], sample, seed=seed)
    with connected(models_options, [SystemSpec.of("abstrag-llm")], generate=False) as models:
        if models.backing is None:
            raise NeedsModel("a model judge is calibrated with a model", hint="--llm MODEL")
        made = calibrated(cases, models.backing)
        ledger = models.ledger()
    path = save_calibration(made)
    if as_json:
        print_json({**to_data(made), "file": str(path)})
        return
    click.echo(
        f"{made.model}: p = σ({made.slope:g} · logit(share) + {made.offset:g}), fitted on "
        f"{made.pairs} pairs; log loss {made.loss_before:.3f} → {made.loss_after:.3f}\n{path}"
    )
    print_ledger(ledger)
