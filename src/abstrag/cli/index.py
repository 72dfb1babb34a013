"""`abstrag index`: read files, understand them once, keep that in the store."""

from __future__ import annotations

from pathlib import Path

import click
from rich.progress import Progress

from abstrag.cli.options import LibraryOptions, json_option, library_options
from abstrag.cli.output import console, print_json, progress
from abstrag.engine.library import Library, Outcome
from abstrag.errors import AbstragError, PartialFailure
from abstrag.model.record import to_data


@click.command("index")
@click.argument("paths", nargs=-1, required=True, type=click.Path(path_type=Path))
@library_options
@json_option
def index_command(
    options: LibraryOptions,
    paths: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Index files, and everything inside folders.

    A file that has not changed since is not indexed again. A file that cannot be read does not
    stop the others: what failed is listed at the end, and the exit code says so.
    """
    with progress(None) as bar:
        task = bar.task_ids[0]

        def on_step(name: str) -> None:
            bar.update(task, description=f"{bar.tasks[0].fields.get('file', '')} {name}")

        with options.open(on_step) as library:
            outcomes = _run(library, paths, bar)
    _report(outcomes, as_json=as_json)


def _run(library: Library, paths: tuple[Path, ...], bar: Progress) -> list[Outcome]:
    task = bar.task_ids[0]
    outcomes: list[Outcome] = []

    def on_file(path: Path) -> None:
        bar.update(task, file=path.name, description=path.name, completed=len(outcomes))

    outcomes.extend(library.index_paths(paths, on_file))
    return outcomes


def _report(outcomes: list[Outcome], *, as_json: bool) -> None:
    failed = [o for o in outcomes if o.status == "failed"]
    if as_json:
        print_json({"outcomes": [to_data(o) for o in outcomes]})
    else:
        out = console()
        for o in outcomes:
            if o.status in ("indexed", "unchanged"):
                what = f"{o.segments} segments, {o.terms} terms, {o.edges} edges"
                out.print(f"[green]{o.status:9}[/] {o.path}  [bold]{o.document}[/]  {what}")
            elif o.status == "skipped":
                out.print(f"[yellow]skipped  [/] {o.path}  {o.error}")
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
