"""`abstrag bench`: measure systems on data with gold evidence, report, compare, export, tune."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table as Screen

from abstrag.cli.engine_options import EngineOptions, engine_options
from abstrag.cli.options import LlmOptions, llm_options, print_ledger
from abstrag.cli.output import console, print_json
from abstrag.errors import InputError, NeedsModel
from abstrag.model.record import to_data
from abstrag.policy.load import load_program
from abstrag_bench.case import SplitPart, parse_split, sampled
from abstrag_bench.cli.experiments import bench_experiments, connected, print_most
from abstrag_bench.compare import RunComparison, compare
from abstrag_bench.datasets.load import LOADERS, load_dataset
from abstrag_bench.prompt_scores import SCORED, score_prompt
from abstrag_bench.render.table import ReportTable, p_value, scaled, signed, tables
from abstrag_bench.report import export_trec, report
from abstrag_bench.runner import (
    DEPTH,
    DEPTHS,
    WINDOW,
    Options,
    RunOutcome,
    run,
    worst_requests,
)
from abstrag_bench.summary import Summary
from abstrag_bench.systems import SystemSpec
from abstrag_bench.tuning import (
    PATIENCE,
    TRIALS,
    Trial,
    freeze,
    read_frozen,
    refuse_tuned,
    tune,
)

# `abstrag bench calibrate`: fit how a model judge's answers become probabilities, and keep it.


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
    from abstrag.search.calibration import save_calibration
    from abstrag_bench.abstrag_llm import calibrated

    name, part = parse_split(split)
    if part is SplitPart.REPORT:
        raise InputError(
            f"{split!r} is for reporting and nothing is fitted on it", hint=f"--split {name}"
        )
    loaded = load_dataset(dataset, data, f"{name}:{SplitPart.TUNE.value}")
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
        print_json({"scores": made, "ledger": ledger})
        return
    table = Screen("program", "hash", "score", "measure", "obeyed", "items")
    for score in made:
        told = (f"{100 * score.score:.1f}", score.measure, str(score.obeyed), str(score.items))
        table.add_row(score.program, score.hash, *told)
    console().print(table)
    print_ledger(ledger)


_SHOWN: Final = 10  # tables on the screen; the files have them all
_COLUMNS: Final = 7
_EVERY_S: Final = 15.0  # how often progress is reported where nobody watches

# not from cli.options, which brings the whole engine along: a report has no use for it
json_option = click.option("--json", "as_json", is_flag=True, help="JSON on standard output.")
_run_argument = click.argument("run_folder", metavar="RUN", type=click.Path(path_type=Path))
_data_options = (
    click.option(
        "--dataset", required=True, type=click.Choice(sorted(LOADERS)), help="Which data."
    ),
    click.option(
        "--data",
        required=True,
        type=click.Path(path_type=Path),
        envvar="ABSTRAG_DATA",
        help="Folder with the official files, one folder per data set.",
    ),
    click.option(
        "--split", required=True, help="For instance train; train:report or train:tune is a part."
    ),
)


def _data(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_data_options):
        command = option(command)
    return command


@click.group("bench")
def bench_command() -> None:
    """Measure AbstRAG and other systems on data with gold evidence."""


bench_command.add_command(bench_experiments)
bench_command.add_command(bench_calibrate)
bench_command.add_command(bench_prompts)


@bench_command.command("run")
@_data
@click.option("--systems", default="", help="Comma-separated, for instance bm25,abstrag.")
@click.option(
    "--frozen",
    multiple=True,
    type=click.Path(path_type=Path),
    help="Also a tuned system: the record `bench tune` wrote.",
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The run's folder.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N cases.")
@click.option("--sample", type=click.IntRange(min=1), help="N cases drawn at random.")
@click.option("--balance", help="Draw evenly over a group: label, answer_type, challenge, …")
@click.option("--seed", default=0, show_default=True, help="Of the sample.")
@click.option(
    "--depth",
    type=click.IntRange(min=DEPTH),
    help=f"How many ranks are recorded.  [default: {DEPTH}, for FEVEROUS {DEPTHS['feverous']}]",
)
@engine_options("1")
@click.option(
    "--generate",
    is_flag=True,
    help="Also have answers and labels written, from the first three passages of each system.",
)
@click.option("--retry-failed", is_flag=True, help="Score again the cases that failed before.")
@click.option("--reference", help="The system the others are compared with.  [default: abstrag]")
@llm_options
@json_option
def bench_run(
    models_options: LlmOptions,
    workers_options: EngineOptions,
    dataset: str,
    data: Path,
    split: str,
    systems: str,
    frozen: tuple[Path, ...],
    out: Path,
    limit: int | None,
    sample: int | None,
    balance: str | None,
    seed: int,
    depth: int | None,
    generate: bool,
    retry_failed: bool,
    reference: str | None,
    as_json: bool,
) -> None:
    """Score every case under every system and report; run again to go on after a kill.

    --llm is for --generate and for the systems that ask a model. Without one, --generate quotes
    the answers of ours and leaves the other systems without.
    """
    tuned = [read_frozen(path) for path in frozen]
    specs = [*_specs(systems), *(one.spec for one in tuned)]
    if not specs:
        raise InputError("no system is named", hint="for instance: --systems bm25,abstrag")
    loaded = load_dataset(dataset, data, split)
    refuse_tuned(tuned, loaded)
    engine = workers_options.make(1, window=WINDOW) if workers_options.is_given else None
    options = Options(limit, sample, balance, seed, depth, engine, retry_failed)
    with connected(models_options, specs, generate=generate) as models:
        if models_options.dry_run:
            print_most(
                models, worst_requests(loaded, specs, out, options, **models.parts), as_json=as_json
            )
            return
        with _watched() as on_progress:
            outcome = run(loaded, specs, out, options, on_progress=on_progress, **models.parts)
        ledger = models.ledger()
    summary, files = report(out, reference=reference)
    if as_json:
        print_json({**to_data(summary), "ledger": ledger})
    else:
        screen = console()
        _print_outcome(screen, outcome)
        _print_summary(screen, summary)
        _print_failures(screen, summary)
        screen.print("\n".join(f"[dim]{escape(str(path))}[/]" for path in files), soft_wrap=True)
    print_ledger(ledger)


@bench_command.command("report")
@_run_argument
@click.option("--reference", help="The system the others are compared with.  [default: abstrag]")
@json_option
def bench_report(run_folder: Path, reference: str | None, as_json: bool) -> None:
    """Write report.md, .json, .tex and .html from the records of RUN."""
    summary, files = report(run_folder, reference=reference)
    if as_json:
        print_json(summary)
        return
    screen = console()
    _print_summary(screen, summary)
    screen.print("\n".join(f"[dim]{escape(str(path))}[/]" for path in files), soft_wrap=True)


@bench_command.command("compare")
@click.argument("before", type=click.Path(path_type=Path))
@click.argument("after", type=click.Path(path_type=Path))
@json_option
def bench_compare(before: Path, after: Path, as_json: bool) -> None:
    """Say what changed from run BEFORE to run AFTER, on the cases both have."""
    comparison = compare(before, after)
    if as_json:
        print_json(comparison)
        return
    _print_comparison(console(), comparison)


@bench_command.command("export")
@_run_argument
@click.option("--trec", "trec", is_flag=True, required=True, help="Runs and qrels for TREC tools.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder.  [default: RUN/trec]")
def bench_export(run_folder: Path, trec: bool, out: Path | None) -> None:  # noqa: ARG001
    """Write the rankings and the gold of RUN in other people's formats."""
    for path in export_trec(run_folder, out):
        click.echo(str(path))


@bench_command.command("tune")
@_data
@click.option("--system", required=True, help="Which system's numbers to search.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="The tuning record.")
@click.option(
    "--trials",
    default=TRIALS,
    show_default=True,
    type=click.IntRange(min=1),
    help="How many settings are tried at most.",
)
@click.option(
    "--patience",
    default=PATIENCE,
    show_default=True,
    type=click.IntRange(min=1),
    help="Stop after so many in a row that are no better.",
)
@click.option("--limit", type=click.IntRange(min=1), help="Only the first N cases.")
@click.option("--seed", default=0, show_default=True, help="Of the settings that are drawn.")
@json_option
def bench_tune(
    dataset: str,
    data: Path,
    split: str,
    system: str,
    out: Path,
    trials: int,
    patience: int,
    limit: int | None,
    seed: int,
    as_json: bool,
) -> None:
    """Search a system's numbers on the tuning part of a split and freeze the best.

    The report part is never looked at. `bench run --frozen FILE` uses the values, and refuses
    documents they were tuned on.
    """
    name, part = parse_split(split)
    if part is SplitPart.REPORT:
        raise InputError(
            f"{split!r} is for reporting and is never tuned on", hint=f"--split {name}:tune"
        )
    if out.exists():
        raise InputError(f"{str(out)!r} is there already", hint="choose another --out")
    loaded = load_dataset(dataset, data, f"{name}:{SplitPart.TUNE.value}")
    if limit is not None:
        loaded = type(loaded)(loaded.name, loaded.split, loaded.cases[:limit], loaded.notes)
    errors = console(stderr=True)

    def on_trial(number: int, trial: Trial) -> None:
        given = ", ".join(f"{key} {value:g}" for key, value in trial.values.items())
        errors.print(
            f"trial {number + 1}/{trials}: Suff@5 {scaled(trial.suff, 100)} "
            f"nDCG@10 {scaled(trial.ndcg, 100)}  {given or 'its own values'}"
        )

    found = tune(loaded, system, trials=trials, patience=patience, seed=seed, on_trial=on_trial)
    freeze(found, out)
    if as_json:
        print_json(found)
        return
    given = ", ".join(f"{key} = {value:g}" for key, value in found.values.items())
    console().print(f"{found.system}: {given or 'its own values are best'} ({found.stopped})")


def _specs(systems: str) -> list[SystemSpec]:
    names = [name.strip() for name in systems.split(",") if name.strip()]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"system {twice[0]!r} is named twice", hint="name each system once")
    return [SystemSpec.of(name) for name in names]


@contextmanager
def _watched() -> Iterator[Callable[[int, int], None]]:
    """Show progress and the time left: a bar for eyes, a line now and then for a log."""
    screen = Console(stderr=True)
    if screen.is_terminal:
        bar = Progress(
            TextColumn("scoring"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=screen,
            transient=True,
        )
        with bar:
            task = bar.add_task("", total=None)
            yield lambda done, total: bar.update(task, completed=done, total=total)
        return
    begun = last = time.monotonic()
    first: int | None = None

    def tell(done: int, total: int) -> None:
        nonlocal last, first
        first = done if first is None else first
        now = time.monotonic()
        if now - last >= _EVERY_S and done > first:
            last = now
            left = (total - done) * (now - begun) / (done - first)
            screen.print(f"{done} of {total} scored, about {left:.0f} s left", highlight=False)

    yield tell


def _print_outcome(screen: Console, outcome: RunOutcome) -> None:
    if outcome.repaired:
        screen.print(f"[dim]cut off {outcome.repaired} bytes of a line torn by a kill[/]")
    screen.print(f"[dim]{outcome.added} records added, {outcome.found} were there[/]")


def _print_failures(screen: Console, summary: Summary) -> None:
    if failures := sum(one.failures for one in summary.systems):
        screen.print(f"[yellow]{failures} cases failed[/]; --retry-failed scores them again")


def _print_summary(screen: Console, summary: Summary) -> None:
    run_ = summary.manifest
    screen.print(
        f"[bold]{run_.dataset} {run_.split}[/]: {run_.cases} cases, {run_.with_gold} with gold"
    )
    for note in run_.notes:
        screen.print(f"[yellow]note:[/] {escape(note)}")
    for table in list(tables(summary))[:_SHOWN]:
        _print_table(screen, table)


def _print_table(screen: Console, table: ReportTable) -> None:
    made = Screen(title=escape(table.title), caption=escape(table.note), title_justify="left")
    made.caption_justify, made.min_width = "left", 60
    for c, text in enumerate(table.head[:_COLUMNS]):
        width = max((len(row[0]) for row in table.rows), default=0) if c == 0 else None
        made.add_column(text, min_width=width)
    for r, row in enumerate(table.rows):
        cells = (_folded(text) for text in row[:_COLUMNS])
        made.add_row(
            *(f"[bold green]{t}[/]" if (r, c) in table.marked else t for c, t in enumerate(cells))
        )
    screen.print()
    screen.print(made)


def _folded(text: str) -> str:
    """Put an interval on a line of its own, so that a wide table fits a terminal."""
    return escape(text.replace(" [", "\n[", 1))


def _print_comparison(screen: Console, comparison: RunComparison) -> None:
    made = Screen(title=f"{comparison.dataset} {comparison.split}: after less before")
    for text in ("system", "metric", "cases", "before", "after", "difference", "Holm p", "n"):
        made.add_column(text)
    for one in comparison.changes:
        mark = " *" if one.significant else ""
        made.add_row(
            escape(one.system),
            one.metric,
            one.convention.value,
            scaled(one.before, one.scale),
            scaled(one.after, one.scale),
            escape(signed(one.difference, one.scale)) + mark,
            p_value(one.adjusted_p),
            str(one.difference.n),
        )
    screen.print(made)
    for flips in comparison.flips:
        screen.print(
            f"{escape(flips.system)}: {len(flips.gained)} cases gained their evidence in the top "
            f"10, {len(flips.lost)} lost it"
        )
        if flips.gained_shown is not None and flips.lost_shown is not None:
            screen.print(
                f"  of what is shown of these: {len(flips.gained_shown)} gained, "
                f"{len(flips.lost_shown)} lost"
            )
        if flips.lost:
            shown = ", ".join(flips.lost[:10])
            more = f" and {len(flips.lost) - 10} more" if len(flips.lost) > 10 else ""
            screen.print(f"  [dim]lost: {escape(shown)}{more}[/]")
