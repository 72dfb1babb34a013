"""`abstrag index`: read files, understand them once, keep that in the store."""

from __future__ import annotations

from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import click
from rich.progress import Progress

from abstrag.cli.llm_options import LlmOptions, llm_options, print_estimate, print_ledger
from abstrag.cli.options import LibraryOptions, json_option, library_options
from abstrag.cli.output import console, print_json, progress
from abstrag.engine.library import Library, Outcome
from abstrag.engine.prompting import Prompting
from abstrag.errors import AbstragError, PartialFailure
from abstrag.indexing.shortfall import Shortfall
from abstrag.llm.estimate import Estimate
from abstrag.llm.ledger import Ledger
from abstrag.model.record import to_data


@click.command("index")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@library_options
@llm_options
@json_option
def index_command(
    options: LibraryOptions,
    models_options: LlmOptions,
    paths: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Index files, and everything inside folders.

    A file that has not changed since is not indexed again. A file that cannot be read does not
    stop the others: what failed is listed at the end, and the exit code says so. With --llm a model
    takes part; what it could not answer is said, and asked again the next time.
    """
    shortfalls: list[Shortfall] = []
    with models_options.connect() or nullcontext() as models, progress(None) as bar:
        task = bar.task_ids[0]

        def on_step(name: str) -> None:
            bar.update(task, description=f"{bar.tasks[0].fields.get('file', '')} {name}")

        prompting = Prompting.of(models) if models else None
        with options.open(on_step, prompting=prompting, on_shortfall=shortfalls.append) as library:
            if models_options.dry_run:
                plans = library.plan_paths(paths)
                estimate = prompting.estimate(plans) if prompting else Estimate()
                outcomes = []
            else:
                outcomes = _run(library, paths, bar)
        ledger = models.ledger() if models else None
    if models_options.dry_run and as_json:
        print_json({"estimate": to_data(estimate)})
        return
    if models_options.dry_run:
        print_estimate(estimate)
        return
    _report(outcomes, shortfalls, ledger, as_json=as_json)


def _run(library: Library, paths: tuple[Path, ...], bar: Progress) -> list[Outcome]:
    task = bar.task_ids[0]
    outcomes: list[Outcome] = []

    def on_file(path: Path) -> None:
        bar.update(task, file=path.name, description=path.name, completed=len(outcomes))

    outcomes.extend(library.index_paths(paths, on_file))
    return outcomes


def _report(
    outcomes: list[Outcome],
    shortfalls: list[Shortfall],
    ledger: Ledger | None,
    *,
    as_json: bool,
) -> None:
    dropped: Counter[str] = Counter()
    for short in shortfalls:
        if not short.missed:
            dropped[f"{short.what}.{short.fault.value}"] += short.count
    if as_json:
        print_json(
            {
                "outcomes": [to_data(o) for o in outcomes],
                "dropped": dict(sorted(dropped.items())),
                "ledger": to_data(ledger) if ledger else None,
            }
        )
    else:
        _print(outcomes, dropped)
    if any(o.without for o in outcomes):
        click.echo("run the same command again to ask for what is missing", err=True)
    if ledger is not None:
        print_ledger(ledger)
    _raise_failures(outcomes)


def _print(outcomes: list[Outcome], dropped: Counter[str]) -> None:
    out = console()
    for o in outcomes:
        if o.status in ("indexed", "unchanged"):
            what = f"{o.segments} segments, {o.terms} terms, {o.edges} edges"
            out.print(f"[green]{o.status:9}[/] {o.path}  [bold]{o.document}[/]  {what}")
            for lacks, count in o.without.items():
                out.print(f"          [yellow]{count} {_s('segment', count)} without {lacks}[/]")
        elif o.status == "skipped":
            out.print(f"[yellow]skipped  [/] {o.path}  {o.error}")
    for answer, count in sorted(dropped.items()):
        out.print(f"[dim]dropped   {count} {_s('answer', count)} of the model ({answer})[/]")


def _s(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def _raise_failures(outcomes: list[Outcome]) -> None:
    failed = [o for o in outcomes if o.status == "failed"]
    if not failed:
        return
    if len(outcomes) == 1:
        raise _again(failed[0])
    for o in failed:
        click.echo(f"failed    {o.path}: {o.error}" + (f" ({o.hint})" if o.hint else ""), err=True)
    raise PartialFailure(
        f"{len(failed)} of {len(outcomes)} files failed; the other {len(outcomes) - len(failed)} "
        "are in the store"
    )


def _again(outcome: Outcome) -> AbstragError:
    """Turn the failure of a single file back into the error it was."""
    error = AbstragError(outcome.error or "", hint=outcome.hint)
    error.exit_code = outcome.exit_code
    return error
