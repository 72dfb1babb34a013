"""`abstrag index`: read files, understand them once, keep that in the store."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from abstrag.cli.engine_options import EngineOptions, engine_options, refuse_with_model
from abstrag.cli.llm_options import LlmOptions, llm_options, print_estimate, print_ledger
from abstrag.cli.opened import opened
from abstrag.cli.options import json_option, library_options
from abstrag.cli.output import console, print_json, progress
from abstrag.engine.library import Library, Outcome, listed_files
from abstrag.errors import AbstragError, InputError, PartialFailure
from abstrag.indexing.shortfall import Shortfall
from abstrag.llm.estimate import Estimate
from abstrag.llm.ledger import Ledger
from abstrag.model.record import to_data
from abstrag.workers.processes import usual_workers
from abstrag.workers.protocol import Engine
from abstrag.workspace.many_files import FEW, index_many
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

_STATUSES: Final = ("indexed", "unchanged", "skipped", "failed")
_LINES: Final = 40  # files that get a line each when all went well; of more, the sum is told
_EVERY_S: Final = 15.0  # how often progress is reported where nobody watches


@click.command("index")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@engine_options("up to 4, one for few files")
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up on a file that takes longer.",
)
@library_options
@llm_options
@json_option
def index_command(
    config: WorkspaceConfig,
    models_options: LlmOptions,
    workers_options: EngineOptions,
    paths: tuple[Path, ...],
    time_limit: float | None,
    as_json: bool,
) -> None:
    r"""Index files, and everything inside folders.

    A file that has not changed since is not indexed again, so a run that was stopped goes on where
    it was; a file that has changed replaces its document. Hidden files, stores and compiled
    Backgrounds inside folders are passed over, and LaTeX without \documentclass is skipped there.
    A file that cannot be read, or that ends its worker, does not stop the others: what failed is
    listed at the end, and the exit code says so. Documents whose files are gone stay in the store;
    `abstrag store remove` takes them out. With --llm a model takes part, and one process does all;
    what it could not answer is said, and asked again the next time.
    """
    shortfalls: list[Shortfall] = []
    with opened(config, models_options) as workspace, progress(None) as bar:
        task = bar.task_ids[0]

        def on_step(name: str) -> None:
            bar.update(task, description=f"{bar.tasks[0].fields.get('file', '')} {name}")

        models, prompting = workspace.models, workspace.prompting
        engine, few = _engine(workers_options, time_limit, with_model=models is not None)
        library = workspace.indexing(on_step, shortfalls.append)
        if models_options.dry_run:
            plans = library.plan_paths(paths)
            estimate = prompting.estimate(plans) if prompting else Estimate()
            outcomes = []
        else:
            outcomes = _outcomes(workspace, library, paths, engine, few=few, bar=bar)
        ledger = models.ledger() if models else None
    if models_options.dry_run and as_json:
        print_json({"estimate": to_data(estimate)})
        return
    if models_options.dry_run:
        print_estimate(estimate)
        return
    _report(outcomes, shortfalls, ledger, as_json=as_json)


def _engine(
    options: EngineOptions, time_limit: float | None, *, with_model: bool
) -> tuple[Engine | None, int]:
    """Return who indexes, None for this process, and up to how many files this process does."""
    if with_model:
        refuse_with_model(options)
        if time_limit is not None:
            raise InputError(
                "--time-limit ends worker processes, and with a model there are none",
                hint="leave it out; --max-calls bounds what a model does",
            )
        return None, 0
    left_to_us = options.workers is None and not options.is_given and time_limit is None
    usual = usual_workers()
    if time_limit is None and not options.is_given and (options.workers or usual) == 1:
        return None, 0
    return options.make(usual, time_limit=time_limit), FEW if left_to_us else 0


def _outcomes(
    workspace: Workspace,
    library: Library,
    paths: tuple[Path, ...],
    engine: Engine | None,
    *,
    few: int,
    bar: Progress,
) -> list[Outcome]:
    """Index, and show how far that is: a bar for eyes, a line now and then for a log."""
    counts: Counter[str] = Counter()
    outcomes: list[Outcome] = []
    told = time.monotonic()
    if bar.console.is_terminal:  # files are counted first, so that the time left can be told
        bar.update(bar.task_ids[0], total=sum(1 for _ in listed_files(paths)))

    def on_file(path: Path) -> None:
        name = escape(path.name)
        bar.update(bar.task_ids[0], file=name, description=name)

    if engine is None:
        made = library.index_paths(paths, on_file)
    else:
        made = index_many(workspace, paths, engine, library=library, few=few, on_file=on_file)
    for outcome in made:
        outcomes.append(library.still_held(outcome))
        counts[outcome.status] += 1
        bar.update(bar.task_ids[0], completed=len(outcomes), description=_counted(counts))
        if not bar.console.is_terminal and time.monotonic() - told >= _EVERY_S:
            told = time.monotonic()
            click.echo(_counted(counts), err=True)
    return outcomes


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[status]} {status}" for status in _STATUSES if counts[status])


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
    many = len(outcomes) > _LINES
    if not outcomes:
        out.print("no files found; nothing was indexed")
    for o in outcomes:
        if many and not o.without and o.status != "skipped":
            continue
        if o.status in ("indexed", "unchanged"):
            _print_line(out, f"[green]{o.status:9}[/] {escape(o.path)}  {_described(o)}")
            for lacks, count in o.without.items():
                _print_line(out, f"          [yellow]{_many(count, 'segment')} without {lacks}[/]")
        elif o.status == "skipped":
            _print_line(out, f"[yellow]skipped  [/] {escape(o.path)}  {escape(_why(o))}")
    if many:
        out.print(_counted(Counter(o.status for o in outcomes)))
    for answer, count in sorted(dropped.items()):
        out.print(f"[dim]dropped   {_many(count, 'answer')} of the model ({answer})[/]")


def _print_line(out: Console, markup: str) -> None:
    """Print a line that names a file: whole, so that programs find it, and exactly as it is."""
    out.print(markup, soft_wrap=True, emoji=False)


def _described(o: Outcome) -> str:
    """Say what the store now has of a file."""
    document = escape(o.document or "")
    counts = ", ".join(
        (_many(o.segments, "segment"), _many(o.terms, "term"), _many(o.edges, "edge"))
    )
    if o.replaces is None:
        return f"[bold]{document}[/]  {counts}"
    earlier = "its earlier index" if o.replaces == o.document else escape(repr(o.replaces))
    return f"[bold]{document}[/]  {counts}; replaces {earlier}"


def _why(o: Outcome) -> str:
    """Say why a file was not indexed, and what the store has of it nevertheless."""
    why = f"{o.error} ({o.hint})" if o.hint else o.error or ""
    return why if o.document is None else f"{why}; {_kept_from_before(o)}"


def _kept_from_before(o: Outcome) -> str:
    return f"the store still has {o.document!r}, read from it before"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _raise_failures(outcomes: list[Outcome]) -> None:
    failed = [o for o in outcomes if o.status == "failed"]
    if not failed:
        return
    if len(outcomes) == 1:
        if failed[0].document is not None:
            click.echo(_kept_from_before(failed[0]), err=True)
        raise _again(failed[0])
    for o in failed:
        click.echo(f"failed    {o.path}: {_why(o)}", err=True)
    raise PartialFailure(_summed_up(outcomes))


def _summed_up(outcomes: list[Outcome]) -> str:
    """Say how many files failed, and of the others what became of them."""
    counts = Counter(o.status for o in outcomes)
    said = f"{counts['failed']} of {len(outcomes)} files failed"
    if skipped := counts["skipped"]:
        said += f", {skipped} {'was' if skipped == 1 else 'were'} skipped"
    if held := counts["indexed"] + counts["unchanged"]:
        said += f"; the other {f'{held} are' if held > 1 else 'one is'} in the store"
    return said


def _again(outcome: Outcome) -> AbstragError:
    """Turn the failure of a single file back into the error it was."""
    error = AbstragError(outcome.error or "", hint=outcome.hint)
    error.exit_code = outcome.exit_code
    return error
