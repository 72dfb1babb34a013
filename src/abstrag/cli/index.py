"""`abstrag index`: read files, understand them once, keep that in the store."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

import click
from rich.console import Console
from rich.markup import escape
from rich.progress import Progress

from abstrag.cli.engine_options import (
    EngineOptions,
    budget_options,
    engine_options,
    refuse_with_model,
)
from abstrag.cli.opened import opened
from abstrag.cli.options import (
    LlmOptions,
    json_option,
    library_options,
    llm_options,
    print_estimate,
    print_ledger,
)
from abstrag.cli.output import console, counted, print_json, progress
from abstrag.config import DocumentBudget
from abstrag.engine.library import Library
from abstrag.engine.source_files import IndexOutcome, IndexReason, listed
from abstrag.errors import AbstragError, InputError, PartialFailure
from abstrag.indexing.operator import Shortfall
from abstrag.language.words import ENGLISH, language_name
from abstrag.llm.budget import Estimate
from abstrag.llm.usage import ModelUsage
from abstrag.workers.processes import usual_workers
from abstrag.workers.protocol import Engine
from abstrag.workspace.many_files import FEW, index_many
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.upkeep import made_by_workers, prepare, read_words
from abstrag.workspace.workspace import Workspace

# How far indexing is: a bar for eyes, a line every few seconds where nobody watches.

EVERY_S: Final = 5.0  # how often a line is written
_SAID: Final = {  # in the order in which they are told
    IndexReason.NEW.value: "new",
    IndexReason.CHANGED.value: "changed",
    IndexReason.AGAIN.value: "indexed again",
    "unchanged": "unchanged",
    "same": "with the bytes of another",
    "skipped": "skipped",
    "failed": "failed",
}


def outcome_counts(outcomes: Iterable[IndexOutcome]) -> str:
    """Say what became of files: how many are new, changed, unchanged, failed."""
    counts = Counter(o.why.value if o.why is not None else o.status for o in outcomes)
    return ", ".join(f"{counts[each]} {said}" for each, said in _SAID.items() if counts[each])


class IndexingProgress:
    """Shows a person the progress of indexing: files, steps and pages."""

    def __init__(self, bar: Progress, clock: Callable[[], float] = time.monotonic) -> None:
        """Show a bar if the console is a terminal, else write lines on standard error."""
        self._bar = bar
        self._clock = clock
        self._last = clock()
        self._file = ""
        self._outcomes: list[IndexOutcome] = []

    def count(self, files: Callable[[], int]) -> None:
        """Count the files first if a person is watching, so that the time left can be shown."""
        if self._bar.console.is_terminal:
            self._bar.update(self._bar.task_ids[0], total=files())

    def on_file(self, path: Path) -> None:
        """Show that a file is begun."""
        self._file = path.name
        self._tell("")

    def on_step(self, name: str) -> None:
        """Show that a step of a file is begun."""
        self._tell(name)

    def on_page(self, page: int, pages: int) -> None:
        """Show that a page has been read, of how many."""
        self._tell(f"page {page} of {pages}")

    def on_outcome(self, outcome: IndexOutcome) -> None:
        """Show the outcome of a file."""
        self._outcomes.append(outcome)
        self._tell("")

    def on_prepared(self, done: int, total: int) -> None:
        """Show how many documents were prepared for a search over all, of how many."""
        here = f"preparing search over all documents: {done} of {total}"
        task = self._bar.task_ids[0]
        if done == 0:
            self._bar.reset(task, total=total)
        self._bar.update(task, total=total, completed=done, description="preparing search over all")
        self._say(here)

    def on_words(self, document: str) -> None:
        """Show that the words of a document are being read for search."""
        self._bar.update(self._bar.task_ids[0], description=escape(f"words of {document}"))
        self._say(f"reading the words of {document} for search")

    def _say(self, line: str) -> None:
        """Write a line if there is no terminal, but not too often."""
        if self._bar.console.is_terminal or self._clock() - self._last < EVERY_S:
            return
        self._last = self._clock()
        click.echo(line, err=True)

    def _tell(self, now: str) -> None:
        here = f"{self._file} {now}".strip()
        task = self._bar.task_ids[0]
        self._bar.update(task, completed=len(self._outcomes), description=escape(here))
        parts = (outcome_counts(self._outcomes), here)
        self._say("; ".join(part for part in parts if part))


_HELD: Final = ("indexed", "unchanged", "same")  # what became of files that the store has
_LINES: Final = 40  # files that get a line each when all went well; of more, the sum is told


@click.command("index")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@engine_options("up to 4, one for few files")
@budget_options
@click.option("--retry", is_flag=True, help="Try files again that were set aside.")
@click.option(
    "--in-process",
    is_flag=True,
    envvar="ABSTRAG_IN_PROCESS",
    help="Index in this process, which starts sooner and has no limit of time and memory.",
)
@click.option(
    "--no-prepare",
    is_flag=True,
    help="Leave what a search over all documents needs to the first one that is asked.",
)
@library_options
@llm_options
@json_option
def index_command(
    config: WorkspaceConfig,
    models_options: LlmOptions,
    workers_options: EngineOptions,
    paths: tuple[Path, ...],
    budget: DocumentBudget | None,
    retry: bool,
    in_process: bool,
    no_prepare: bool,
    as_json: bool,
) -> None:
    r"""Index files, and everything inside folders.

    A file that has not changed since is not indexed again, so a run that was stopped goes on where
    it was; a file that has changed replaces its document, and that is said. Where nobody watches, a
    line every few seconds tells how far it is. Hidden files, stores and compiled Backgrounds inside
    folders are passed over, and LaTeX without \documentclass is skipped there. A file that cannot
    be read does not stop the others: what failed is listed at the end, and the exit code says so.
    Files are read by processes that are ended when a file takes too much time or memory; such a
    file is set aside, and not tried again without --retry. At last the words of long documents are
    read for search, and where the store has more than one document, those of all, and what else a
    search over all of them needs is made for those that are new. Documents
    whose files are gone stay in the store; `abstrag store remove` takes them out. With --llm a
    model takes part, and this process does all; what it could not answer is said, and asked again
    the next time.
    """
    shortfalls: list[Shortfall] = []
    config = replace(config, budget=budget or DocumentBudget())
    with opened(config, models_options) as workspace, progress(None) as bar:
        told = IndexingProgress(bar)
        models, prompting = workspace.models, workspace.prompting
        engine = _engine(workers_options, budget, here=in_process, with_model=models is not None)
        library = workspace.indexing(told.on_step, shortfalls.append)
        library = replace(library, on_page=told.on_page, retry=retry)
        if models_options.dry_run:
            plans = library.plan_paths(paths)
            estimate = prompting.estimate(plans) if prompting else Estimate()
            outcomes = []
        else:
            few = FEW if workers_options.workers is None and not workers_options.is_given else 0
            ahead: list[None] = []
            on_ahead = None if no_prepare else lambda: ahead.append(None)
            outcomes = _outcomes(
                workspace, library, paths, engine, few=few, told=told, on_ahead=on_ahead
            )
            prepared = len(ahead)
            if not no_prepare:
                make = None if engine is None else made_by_workers(workspace, engine)
                prepared += prepare(workspace, told.on_prepared, make)
                new = (each.document for each in outcomes if each.status == "indexed")
                names = (name for name in new if name is not None)
                read_words(workspace, names, told.on_words)
        ledger = models.ledger() if models else None
    if models_options.dry_run and as_json:
        print_json({"estimate": estimate})
        return
    if models_options.dry_run:
        print_estimate(estimate)
        return
    _report(outcomes, shortfalls, ledger, prepared, as_json=as_json)


def _engine(
    options: EngineOptions, budget: DocumentBudget | None, *, here: bool, with_model: bool
) -> Engine | None:
    """Return the engine that indexes; None for this process."""
    if with_model:
        refuse_with_model(options)
        if budget is not None:
            raise InputError(
                "--time-limit, --cpu-limit and --memory-mb end worker processes, and with a model "
                "there are none",
                hint="leave them out; --max-calls bounds what a model does",
            )
        return None
    engine = options.make(usual_workers(), time_limit=(budget or DocumentBudget()).seconds)
    return None if here and not options.is_given and budget is None else engine


def _outcomes(
    workspace: Workspace,
    library: Library,
    paths: tuple[Path, ...],
    engine: Engine | None,
    *,
    few: int,
    told: IndexingProgress,
    on_ahead: Callable[[], None] | None,
) -> list[IndexOutcome]:
    """Index the files, and show the progress."""
    outcomes: list[IndexOutcome] = []
    told.count(lambda: sum(1 for _ in listed(paths)))
    if engine is None:
        made = library.index_paths(paths, told.on_file)
    else:
        made = index_many(
            workspace,
            paths,
            engine,
            library=library,
            few=few,
            on_file=told.on_file,
            on_ahead=on_ahead,
        )
    for outcome in made:
        outcomes.append(library.still_held(outcome))
        told.on_outcome(outcome)
    return outcomes


def _report(
    outcomes: list[IndexOutcome],
    shortfalls: list[Shortfall],
    ledger: ModelUsage | None,
    prepared: int,
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
                "outcomes": outcomes,
                "dropped": dict(sorted(dropped.items())),
                "ledger": ledger,
                "prepared": prepared,
            }
        )
    else:
        _print(outcomes, dropped)
        if prepared:
            what = "search over all documents"
            console().print(f"prepared  {counted(prepared, 'document')} for {what}")
    if any(o.without for o in outcomes):
        click.echo("run the same command again to ask for what is missing", err=True)
    if ledger is not None:
        print_ledger(ledger)
    _raise_failures(outcomes)


def _print(outcomes: list[IndexOutcome], dropped: Counter[str]) -> None:
    out = console()
    many = len(outcomes) > _LINES
    if not outcomes:
        out.print("no files found; nothing was indexed")
    for o in outcomes:
        if many and not o.without and o.status != "skipped" and o.language == ENGLISH:
            continue
        if o.status in _HELD:
            _print_line(out, f"[green]{o.status:9}[/] {escape(o.path)}  {_described(o)}")
            if o.language != ENGLISH:
                _print_line(out, f"          [yellow]{_unread(o.language)}[/]")
            for lacks, count in o.without.items():
                _print_line(
                    out, f"          [yellow]{counted(count, 'segment')} without {lacks}[/]"
                )
        elif o.status == "skipped":
            _print_line(out, f"[yellow]skipped  [/] {escape(o.path)}  {escape(_why(o))}")
    if many:
        out.print(outcome_counts(outcomes))
    for answer, count in sorted(dropped.items()):
        out.print(f"[dim]dropped   {counted(count, 'answer')} of the model ({answer})[/]")


def _print_line(out: Console, markup: str) -> None:
    """Print a line that names a file: unbroken and unchanged, so that programs can read it."""
    out.print(markup, soft_wrap=True, emoji=False)


def _described(o: IndexOutcome) -> str:
    """Describe what the store now holds for a file."""
    document = escape(o.document or "")
    counts = ", ".join(
        (counted(o.segments, "segment"), counted(o.terms, "term"), counted(o.edges, "edge"))
    )
    if o.same_as is not None:
        return f"[bold]{document}[/]  the same bytes as {escape(o.same_as)}"
    if o.replaces is None:
        changed = "; the file has changed" if o.why is IndexReason.CHANGED else ""
        return f"[bold]{document}[/]  {counts}{changed}"
    earlier = "its earlier index" if o.replaces == o.document else escape(repr(o.replaces))
    why = "the file has changed, " if o.why is IndexReason.CHANGED else ""
    return f"[bold]{document}[/]  {counts}; {why}replaces {earlier}"


def _unread(language: str) -> str:
    """Say that a document is in a language that is not understood, and what follows from that."""
    return f"in {language_name(language)}, which is not read: found by words and vectors alone"


def _why(o: IndexOutcome) -> str:
    """Say why a file was not indexed, and what the store still holds for it."""
    why = f"{o.error} ({o.hint})" if o.hint else o.error or ""
    return why if o.document is None else f"{why}; {_kept_from_before(o)}"


def _kept_from_before(o: IndexOutcome) -> str:
    return f"the store still has {o.document!r}, read from it before"


def _raise_failures(outcomes: list[IndexOutcome]) -> None:
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


def _summed_up(outcomes: list[IndexOutcome]) -> str:
    """Count the files that failed, and the others by outcome."""
    counts = Counter(o.status for o in outcomes)
    said = f"{counts['failed']} of {len(outcomes)} files failed"
    if skipped := counts["skipped"]:
        said += f", {skipped} {'was' if skipped == 1 else 'were'} skipped"
    if held := sum(counts[each] for each in _HELD):
        said += f"; the other {f'{held} are' if held > 1 else 'one is'} in the store"
    return said


def _again(outcome: IndexOutcome) -> AbstragError:
    """Turn the failure of a single file back into the error it was."""
    error = AbstragError(outcome.error or "", hint=outcome.hint)
    error.exit_code = outcome.exit_code
    return error
