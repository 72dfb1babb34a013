"""`abstrag why-not`: the first reason why a passage was not found."""

from __future__ import annotations

import click
from rich.markup import escape

from abstrag.cli.options import SearchOptions, json_option, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.trace import print_trace
from abstrag.model.record import to_data


@click.command("why-not")
@click.argument("target")
@click.argument("query")
@click.option("--text", "passage", help="The passage, in its own words.")
@click.option("--span", "segment", help="Its segment id.")
@click.option("-k", "--top", default=10, show_default=True, help="Found means: among these.")
@search_options
@json_option
def why_not_command(
    options: SearchOptions,
    target: str,
    query: str,
    passage: str | None,
    segment: str | None,
    top: int,
    as_json: bool,
) -> None:
    """Say why a passage of TARGET is not among the first hits for QUERY, and what would lift it."""
    searcher = options.open(target)
    answer = searcher.why_not(query, passage=passage, segment=segment, k=top, tau=options.tau)
    if as_json:
        print_json(to_data(answer))
        return
    out = console()
    where = f"[dim]{answer.segment}[/] " if answer.segment else ""
    rank = "not ranked" if answer.rank is None else f"rank {answer.rank}"
    out.print(f"{where}[italic]{escape(' '.join(answer.passage.split()))}[/]")
    colour = "green" if answer.cause.value == "found" else "red"
    out.print(f"[bold {colour}]{answer.cause.value}[/]: {escape(answer.detail)}  [dim]({rank})[/]")
    if answer.hit is not None:
        print_trace(out, searcher.index, answer.hit)
    change = answer.counterfactual
    if change is not None:
        before = "nowhere" if change.rank_before is None else f"rank {change.rank_before}"
        what = f"[bold]{escape(change.description)}[/]"
        out.print(f"{what} would move it from {before} to rank {change.rank_after}")
