"""A workspace for the length of a command, and what every result says of patches and models."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click
from rich.markup import escape

from abstrag.cli.output import counted
from abstrag.model.patch import Precedent
from abstrag.workspace.workspace import Workspace

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from abstrag.cli.options import LlmOptions
    from abstrag.llm.budget import Estimate
    from abstrag.workspace.collection import SearchableCollection
    from abstrag.workspace.document import SearchableDocument
    from abstrag.workspace.options import WorkspaceConfig


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
    """Give what shows how far indexing is, from its first step on; most commands index nothing."""
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
    """Return what a JSON result carries besides the result: patches, and what models took."""
    patches = {"patches": [each.id for each in document.patches]}
    return {**patches, **report_of_models(document)}


def report_of_models(asked: SearchableDocument | SearchableCollection) -> dict[str, Any]:
    """Return what a JSON result carries of models: nothing where there are none."""
    models = asked.workspace.models
    return {} if models is None else {"notes": list(asked.notes), "ledger": models.ledger()}


def print_models(asked: SearchableDocument | SearchableCollection) -> None:
    """Say on standard error what the models took and what of it was of no use."""
    models = asked.workspace.models
    if models is not None:
        from abstrag.cli.options import print_ledger

        for note in asked.notes:
            click.echo(f"note: {note}", err=True)
        print_ledger(models.ledger())


def print_patches(out: Console, document: SearchableDocument) -> None:
    """Say which patches are in force; nothing where none was kept."""
    if sentence := patches_sentence(document):
        out.print(f"[dim]{escape(sentence)}[/]")


def patches_sentence(document: SearchableDocument) -> str:
    """Say how many patches are in force, or why those that were kept are not."""
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
    """Say what a question to a collection takes: nothing is indexed, and one search at most."""
    from abstrag.llm.budget import Estimate

    return Estimate(), many.estimate(query)


def tell_estimate(indexing: Estimate, asking: Estimate, *, as_json: bool) -> None:
    """Say what a dry run found: what indexing takes where it is due, and the rest at most."""
    from abstrag.cli.options import print_estimate
    from abstrag.cli.output import print_json

    if as_json:
        print_json({"indexing": indexing, "estimate": asking})
        return
    if indexing.calls or indexing.cached:
        click.echo(f"indexing comes first: {indexing.sentence}")
    print_estimate(asking)
