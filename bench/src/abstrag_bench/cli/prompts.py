"""`abstrag bench prompts`: what a wording of a prompt scores with a model, on labelled sets."""

from __future__ import annotations

import click
from rich.table import Table as Screen

from abstrag.cli.options import LlmOptions, llm_options, print_ledger
from abstrag.cli.output import console, print_json
from abstrag.errors import NeedsModel
from abstrag.model.record import to_data
from abstrag.policy.load import load_program
from abstrag_bench.prompt_scores import SCORED, score_prompt


@click.command("prompts")
@click.argument("names", nargs=-1, type=click.Choice(sorted(SCORED)))
@llm_options
@click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")
def bench_prompts(models_options: LlmOptions, names: tuple[str, ...], as_json: bool) -> None:
    """Ask a model about the labelled sets of programs, all by default, and print the scores."""
    models = models_options.connect()
    if models is None:
        raise NeedsModel("a prompt is scored with a model", hint="--llm MODEL --base-url URL")
    with models:
        made = [score_prompt(load_program(one), models[SCORED[one][0]]) for one in names or SCORED]
        ledger = models.ledger()
    if as_json:
        print_json({"scores": to_data(made), "ledger": to_data(ledger)})
        return
    table = Screen("program", "hash", "score", "measure", "obeyed", "items")
    for score in made:
        told = (f"{100 * score.score:.1f}", score.measure, str(score.obeyed), str(score.items))
        table.add_row(score.program, score.hash, *told)
    console().print(table)
    print_ledger(ledger)
