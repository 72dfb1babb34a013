"""`abstrag report`: the evidence for some questions as one file to send."""

from __future__ import annotations

from pathlib import Path

import click

from abstrag.cli.opened import opened, patches_sentence
from abstrag.cli.options import DocumentTarget, json_option, patch_options, search_options
from abstrag.cli.output import counted, print_json
from abstrag.errors import InputError
from abstrag.workspace.options import WorkspaceConfig


@click.command("report")
@click.argument("target", type=DocumentTarget())
@click.argument("queries", nargs=-1, required=True, metavar="QUERY…")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    help="The HTML file to write; - writes to standard output.",
)
@click.option("-k", "--top", default=5, show_default=True, type=click.IntRange(min=1), help="Hits.")
@search_options
@patch_options
@json_option
def report_command(
    config: WorkspaceConfig,
    target: str,
    queries: tuple[str, ...],
    output: Path,
    top: int,
    as_json: bool,
) -> None:
    """Write the evidence for each QUERY in TARGET, with quotes, pages and traces, as one file.

    The file needs no network and runs no script; whoever gets it needs nothing but a browser.
    """
    with opened(config) as workspace:
        document = workspace.document(target)
        written = document.report(queries, k=top)
    if str(output) == "-":
        if as_json:
            raise InputError("-o - and --json both write to standard output", hint="name a file")
        click.echo(written, nl=False)
        return
    try:
        output.write_text(written, "utf-8")
    except OSError as error:
        raise InputError(
            f"{str(output)!r} cannot be written: {error.strerror or error}",
            hint="choose another file with -o",
        ) from error
    if as_json:
        patches = [each.id for each in document.patches]
        told = {"file": str(output), "questions": len(queries), "patches": patches}
        print_json(told)
        return
    click.echo(f"{counted(len(queries), 'question')}, {len(written) // 1024 + 1} KB: {output}")
    if sentence := patches_sentence(document):
        click.echo(sentence)
