"""`abstrag why-not`: the first reason why a passage was not found."""

from __future__ import annotations

import click
from rich.markup import escape

from abstrag.cli.collection_options import CollectionOptions, collection_options
from abstrag.cli.collection_output import print_why_not
from abstrag.cli.llm_options import LlmOptions, llm_options
from abstrag.cli.model_work import model_work
from abstrag.cli.options import SearchOptions, json_option, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.patch_options import PatchOptions, patch_options
from abstrag.cli.trace import print_trace
from abstrag.collection.why_not import Passage, why_not
from abstrag.errors import InputError
from abstrag.model.ranking import Cause
from abstrag.model.record import to_data


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
    options: SearchOptions,
    models_options: LlmOptions,
    patches_options: PatchOptions,
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
    place = collection.place(options, target)
    if place is not None:
        meant = Passage(passage, segment, document)
        with place.open(options, patches_options, models_options, as_json=as_json) as many:
            told = why_not(many, query, meant, k=top, tau=options.tau, filters=place.filters)
            if as_json:
                print_json(to_data(told))
            else:
                print_why_not(console(), many, told)
        return
    if document is not None:
        raise InputError(
            f"--document names one of several documents, and {target!r} is one already",
            hint="leave it out",
        )
    with model_work(
        options, models_options, patches_options, target, as_json=as_json, singly=True
    ) as work:
        if work is None:
            return
        searcher = work.searcher
        answer = searcher.why_not(query, passage=passage, segment=segment, k=top, tau=options.tau)
    if as_json:
        print_json({**to_data(answer), **work.report()})
        return
    work.print_report()
    out = console()
    where = f"[dim]{answer.segment}[/] " if answer.segment else ""
    found = answer.cause is Cause.FOUND
    rank = "not ranked" if answer.rank is None else f"rank {answer.rank}"
    out.print(f"{where}[italic]{escape(' '.join(answer.passage.split()))}[/]")
    if found:
        out.print(f"[bold green]{answer.cause.value}[/]: {escape(answer.detail)}")
    else:
        cause = f"[bold red]{answer.cause.value}[/]: {escape(answer.detail)}"
        out.print(f"{cause}  [dim]({rank})[/]")
    if answer.hit is not None:
        print_trace(out, searcher.index, answer.hit)
    change = answer.counterfactual
    if change is not None:
        before = "nowhere" if change.rank_before is None else f"rank {change.rank_before}"
        what = f"[bold]{escape(change.description)}[/]"
        out.print(f"{what} would move it from {before} to rank {change.rank_after}")
    work.print_patches(out)
