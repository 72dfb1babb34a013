"""`abstrag why-not`: the first reason why a passage was not found."""

from __future__ import annotations

import click
from rich.console import Console
from rich.markup import escape

from abstrag.cli.opened import (
    CollectionOptions,
    collection_options,
    estimate_of_many,
    opened,
    print_models,
    print_patches,
    report_of,
    report_of_models,
    tell_estimate,
)
from abstrag.cli.options import LlmOptions, json_option, llm_options, patch_options, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.trace import print_trace
from abstrag.errors import InputError
from abstrag.model.ranking import Cause, WhyNot
from abstrag.model.record import to_data
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import WorkspaceConfig


@click.command("why-not")
@collection_options("target", "query")
@click.option("--text", "passage", help="The passage, in its own words.")
@click.option("--span", "segment", help="Its segment id.")
@click.option("--document", help="Of a collection: the document it stands in.")
@click.option(
    "-k",
    "--top",
    default=10,
    show_default=True,
    type=click.IntRange(min=1),
    help="Found means: among these.",
)
@search_options
@llm_options
@patch_options
@json_option
def why_not_command(
    config: WorkspaceConfig,
    models_options: LlmOptions,
    collection: CollectionOptions,
    target: str,
    query: str,
    passage: str | None,
    segment: str | None,
    document: str | None,
    top: int,
    as_json: bool,
) -> None:
    """Say why a passage of TARGET is not among the first hits for QUERY, and what would lift it.

    TARGET may be a collection, as for `abstrag search`; then it also says when a filter left the
    document out, or when it was not shortlisted.
    """
    place = collection.place(config, target)
    if place is not None:
        from abstrag.cli.opened import print_why_not

        with place.open(models_options, as_json=as_json) as many:
            if models_options.dry_run:
                tell_estimate(*estimate_of_many(many, query), as_json=as_json)
                return
            told = many.why_not(query, passage=passage, segment=segment, k=top, document=document)
            if as_json:
                print_json({**to_data(told), **report_of_models(many)})
                return
            print_models(many)
            print_why_not(console(), many, told)
        return
    if document is not None:
        raise InputError(
            f"--document names one of several documents, and {target!r} is one already",
            hint="leave it out",
        )
    with opened(config, models_options) as workspace:
        if models_options.dry_run:
            tell_estimate(*workspace.estimate(target, singly=True), as_json=as_json)
            return
        one = workspace.document(target)
        one.expect(query)
        answer = one.why_not(query, passage=passage, segment=segment, k=top)
        if as_json:
            print_json({**to_data(answer), **report_of(one)})
            return
        print_models(one)
        _print(console(), one, answer)


def _print(out: Console, document: SearchableDocument, answer: WhyNot) -> None:
    where = f"[dim]{answer.segment}[/] " if answer.segment else ""
    rank = "not ranked" if answer.rank is None else f"rank {answer.rank}"
    out.print(f"{where}[italic]{escape(' '.join(answer.passage.split()))}[/]")
    if answer.cause is Cause.FOUND:
        out.print(f"[bold green]{answer.cause.value}[/]: {escape(answer.detail)}")
    else:
        cause = f"[bold red]{answer.cause.value}[/]: {escape(answer.detail)}"
        out.print(f"{cause}  [dim]({rank})[/]")
    if answer.hit is not None:
        print_trace(out, document.index, answer.hit)
    change = answer.counterfactual
    if change is not None:
        before = "nowhere" if change.rank_before is None else f"rank {change.rank_before}"
        what = f"[bold]{escape(change.description)}[/]"
        out.print(f"{what} would move it from {before} to rank {change.rank_after}")
    print_patches(out, document)
