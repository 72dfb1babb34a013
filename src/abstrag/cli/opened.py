"""What a command opens: a workspace, a document, a collection; and what its results say of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.console import Console
from rich.markup import escape

from abstrag.cli.options import DocumentTarget, gathered
from abstrag.cli.output import counted, progress
from abstrag.cli.trace import print_hit, print_query, print_trace
from abstrag.collection.filters import Filters
from abstrag.collection.results import (
    CollectionHit,
    CollectionRanking,
    CollectionWhyNot,
    DocumentScore,
    LostAt,
)
from abstrag.config import SHORTLIST
from abstrag.errors import InputError
from abstrag.model.cost import LOWER_IS_BETTER, cost_of, told
from abstrag.model.document import Genre
from abstrag.model.patch import Precedent
from abstrag.neural.judge import preload
from abstrag.search.relevance import Preset
from abstrag.stores.open import is_address
from abstrag.stores.sqlite import is_store
from abstrag.workspace.collection import SearchableCollection
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from abstrag.cli.options import LlmOptions
    from abstrag.llm.budget import Estimate
    from abstrag.workspace.collection import SearchableCollection
    from abstrag.workspace.document import SearchableDocument
    from abstrag.workspace.options import WorkspaceConfig


_DOCUMENTS: Final = 5  # whose scores are printed


def print_ranking(
    out: Console, many: SearchableCollection, ranking: CollectionRanking, *, with_trace: bool
) -> None:
    """Print hits, each with its document, and what the documents score."""
    print_query(out, ranking.query)
    for rank, found in enumerate(ranking.hits, 1):
        print_found(out, found, rank, many.preset)
        if with_trace:
            print_trace(out, many.document(found.hit.document).index, found.hit)
    if not ranking.hits:
        out.print(_nothing(ranking))
    if ranking.documents:
        out.print("\n[bold]documents[/]  [dim]cost of the mean of the best hits · of the best[/]")
        for document in ranking.documents[:_DOCUMENTS]:
            print_score(out, document)
    out.print(f"\n[dim]{_footer(ranking)}[/]")


def print_found(out: Console, found: CollectionHit, rank: int | None, preset: Preset) -> None:
    """Print a hit below its document."""
    print_hit(out, found.hit, rank, preset)
    also = f", also {', '.join(found.also)}" if found.also else ""
    out.print(
        f"    [bold]{escape(found.hit.document)}[/] {escape(found.title)}{escape(also)}  "
        f"[dim]cost {told(cost_of(found.score))} among all, with what its document adds[/]"
    )


def print_score(out: Console, document: DocumentScore) -> None:
    """Print the costs of a document, and its score from each source."""
    costs = f"{told(cost_of(document.top_k_mean))} · {told(cost_of(document.top_1))}"
    sources = ", ".join(f"{s.source.value} {s.score:.2f} (#{s.rank})" for s in document.standings)
    date = f" {document.date}" if document.date else ""
    out.print(
        f"  {costs}  [bold]{escape(document.document)}[/]{date} {escape(document.title)}  "
        f"[dim]{sources}[/]"
    )


def print_why_not(out: Console, many: SearchableCollection, answer: CollectionWhyNot) -> None:
    """Print at which stage a passage was lost."""
    where = f"[bold]{escape(answer.document)}[/] " if answer.document else ""
    segment = f"[dim]{answer.within.segment}[/] " if answer.within else ""
    out.print(f"{where}{segment}[italic]{escape(' '.join(answer.passage.split()))}[/]")
    style = "green" if answer.lost is LostAt.FOUND else "red"
    out.print(f"[bold {style}]{answer.lost.value}[/]: {escape(answer.detail)}")
    if answer.within is not None and answer.within.hit is not None and answer.document:
        print_trace(out, many.document(answer.document).index, answer.within.hit)


def _nothing(ranking: CollectionRanking) -> str:
    if not ranking.passed:
        return f"none of the {ranking.collection} documents passes the filters"
    return f"nothing in {ranking.passed} documents meets any part of the query"


def _footer(ranking: CollectionRanking) -> str:
    """Summarize what was searched, and with how many judgements."""
    asked = f"{len(ranking.documents)} of {ranking.collection} documents opened"
    if ranking.passed != ranking.collection:
        asked += f", {ranking.passed} pass the filters"
    parts = [asked]
    if ranking.judgements:
        candidates = ranking.judgements + ranking.judgements_avoided
        parts.append(f"judge asked about {ranking.judgements} of {candidates} segments")
    parts += [f"τ {ranking.tau:g}", f"preset {ranking.preset}", LOWER_IS_BETTER]
    return " · ".join(parts)


_Command = Callable[..., Any]
_OPTIONS: Final = (
    click.option(
        "--all", "whole", is_flag=True, help="All documents of the store; no TARGET then."
    ),
    click.option("--since", metavar="DATE", help="Of a collection: only documents from this day."),
    click.option("--until", metavar="DATE", help="Of a collection: only documents up to this day."),
    click.option(
        "--source", metavar="PATH", help="Of a collection: only from this folder, or like *.pdf."
    ),
    click.option(
        "--title", metavar="WORDS", help="Of a collection: only where the title has these."
    ),
    click.option(
        "--no-embeddings",
        is_flag=True,
        help="Of a collection: shortlist documents by words and terms alone.",
    ),
    click.option(
        "--shortlist",
        type=click.IntRange(min=1),
        default=SHORTLIST,
        show_default=True,
        help="Of a collection: documents to open for a query.",
    ),
)


@dataclass(frozen=True, slots=True)
class CollectionOptions:
    """Which collection, which of its documents, and how they are shortlisted."""

    whole: bool
    since: str | None
    until: str | None
    source: str | None
    title: str | None
    no_embeddings: bool
    shortlist: int

    def place(self, config: WorkspaceConfig, target: str | None) -> CollectionChoice | None:
        """Return the collection that a target names; None when it names one document."""
        folder = None
        if target is not None:
            if is_address(target) or is_store(target):
                config = replace(config, store=target if is_address(target) else Path(target))
            elif Path(target).is_dir():
                folder = str(Path(target).resolve())
            else:
                self._refuse_filters(target)
                return None
        genre = Genre(config.settings.genre) if config.settings.genre else None
        filters = Filters(self.since, self.until, self.source, genre, folder, self.title)
        return CollectionChoice(replace(config, create=False), filters, self)

    def _refuse_filters(self, target: str) -> None:
        """Refuse filters, which choose among documents, when the target is one document."""
        for name in ("since", "until", "source", "title"):
            if getattr(self, name) is not None:
                raise InputError(
                    f"--{name} chooses among documents, and {target!r} is one document",
                    hint="name a store or an indexed folder, or --all for the whole store",
                )


@dataclass(frozen=True, slots=True)
class CollectionChoice:
    """A collection that options name: a store, and what its documents must be."""

    config: WorkspaceConfig
    filters: Filters
    options: CollectionOptions

    @contextmanager
    def open(self, models: LlmOptions, *, as_json: bool) -> Iterator[SearchableCollection]:
        """Open the collection; a bar shows how missing cards are made."""
        if self.config.background is not None or self.config.settings.granularity is not None:
            raise InputError(
                "a collection is searched as it was indexed",
                hint="give --background and --granularity to abstrag index",
            )
        with opened(self.config, models) as workspace:
            # the models load while the cards are read, and a first question waits for less
            shipped = workspace.models is None
            judged = shipped and workspace.defaults.preset.judge_weight > 0
            embeddings = not self.options.no_embeddings
            preload(aligner=embeddings, judge=judged)
            with progress(None, quiet=as_json) as bar:
                task = bar.task_ids[0]

                def on_made(done: int, total: int) -> None:
                    what = "making cards of documents"
                    bar.update(task, total=total, completed=done, description=what)

                collection = workspace.collection(
                    self.filters,
                    embeddings=embeddings,
                    shortlist=self.options.shortlist,
                    on_made=on_made,
                )
            yield collection


def collection_options(*arguments: str, required: bool = True) -> Callable[[_Command], _Command]:
    """Hand a command its `collection` as `CollectionOptions`.

    `arguments` are the names of its arguments, TARGET first; with --all there is no TARGET and the
    rest move up. Unless they are `required`, the command itself sees whether any are missing.
    """

    def decorated(command: _Command) -> _Command:
        @wraps(command)
        def called(collection: CollectionOptions, **rest: Any) -> Any:
            given = [rest.pop(name) for name in arguments]
            if collection.whole:
                if given[-1] is not None:
                    raise click.UsageError("With --all there is no TARGET.")
                given = [None, *given[:-1]]
            missing = [n for n, v in zip(arguments, given, strict=True) if v is None]
            if required and missing and missing != [arguments[0]] * collection.whole:
                raise click.UsageError(f"Missing argument '{missing[-1].upper()}'.")
            named = dict(zip(arguments, given, strict=True))
            return command(collection=collection, **named, **rest)

        made: Callable[..., Any] = gathered("collection", CollectionOptions, _OPTIONS)(called)
        for name in reversed(arguments):
            first = name == arguments[0]
            kind = DocumentTarget() if first else None
            told = name.upper() if required else None  # needed, unless --all stands for TARGET
            made = click.argument(name, required=False, type=kind, metavar=told)(made)
        return made

    return decorated


@contextmanager
def opened(
    config: WorkspaceConfig, models_options: LlmOptions | None = None
) -> Iterator[Workspace]:
    """Open a workspace, with the models that were asked for."""
    connected = None if models_options is None else models_options.connect()
    with (
        connected or nullcontext() as models,
        _steps() as on_step,
        Workspace(config, models=models, on_step=on_step) as workspace,
    ):
        yield workspace


@contextmanager
def _steps() -> Iterator[Callable[[str], None]]:
    """Yield a callback that shows indexing progress; the bar appears with its first step."""
    bar: Progress | None = None

    def tell(name: str) -> None:
        nonlocal bar
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        if bar is None:
            screen = Console(stderr=True)
            columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
            shown = screen.is_terminal
            bar = Progress(*columns, console=screen, transient=True, disable=not shown)
            bar.add_task("", total=None)
            bar.start()
        bar.update(bar.task_ids[0], description=f"indexing: {name}")

    try:
        yield tell
    finally:
        if bar is not None:
            bar.stop()


def report_of(document: SearchableDocument) -> dict[str, Any]:
    """Return what goes into a JSON result besides the result: patches, and use of models."""
    patches = {"patches": [each.id for each in document.patches]}
    return {**patches, **report_of_models(document)}


def report_of_models(asked: SearchableDocument | SearchableCollection) -> dict[str, Any]:
    """Return the notes and usage of models for a JSON result; nothing without models."""
    models = asked.workspace.models
    return {} if models is None else {"notes": list(asked.notes), "ledger": models.ledger()}


def print_models(asked: SearchableDocument | SearchableCollection) -> None:
    """Print on standard error what the models used, and which replies could not be used."""
    models = asked.workspace.models
    if models is not None:
        from abstrag.cli.options import print_ledger

        for note in asked.notes:
            click.echo(f"note: {note}", err=True)
        print_ledger(models.ledger())


def print_patches(out: Console, document: SearchableDocument) -> None:
    """Print which patches are in force; nothing if there are none."""
    if sentence := patches_sentence(document):
        out.print(f"[dim]{escape(sentence)}[/]")


def patches_sentence(document: SearchableDocument) -> str:
    """Say how many patches are in force, or why those for the document are not."""
    shown = sum(isinstance(one.patch.delta, Precedent) for one in document.kept)
    count, idle = len(document.kept) - shown, document.options.idle
    if not document.kept:
        return ""
    patches = counted(count, "patch", "patches")
    if shown:
        learned = "1 precedent" if shown == 1 else f"{shown} precedents of other documents"
        patches = f"{patches} and {learned}" if count else learned
    if idle:
        return f"{patches} kept for this document left out: {idle}"
    return f"{patches} in force (abstrag policy diff shows, --no-patches leaves out)"


def estimate_of_many(many: SearchableCollection, query: str) -> tuple[Estimate, Estimate]:
    """Estimate a question to a collection: nothing for indexing, and at most one search."""
    from abstrag.llm.budget import Estimate

    return Estimate(), many.estimate(query)


def tell_estimate(indexing: Estimate, asking: Estimate, *, as_json: bool) -> None:
    """Print the estimates of a dry run: for indexing, if it is due, and for the rest at most."""
    from abstrag.cli.options import print_estimate
    from abstrag.cli.output import print_json

    if as_json:
        print_json({"indexing": indexing, "estimate": asking})
        return
    if indexing.calls or indexing.cached:
        click.echo(f"indexing comes first: {indexing.sentence}")
    print_estimate(asking)
