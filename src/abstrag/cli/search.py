"""`abstrag search`: ranked, quoted, explained evidence."""

from __future__ import annotations

import click

from abstrag.cli.options import SearchOptions, json_option, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.trace import print_hit, print_query, print_trace
from abstrag.model.record import to_data


@click.command("search")
@click.argument("target")
@click.argument("query")
@click.option("-k", "--top", default=5, show_default=True, type=click.IntRange(min=1), help="Hits.")
@search_options
@click.option("--trace", "with_trace", is_flag=True, help="The full trace under every hit.")
@json_option
def search_command(
    options: SearchOptions,
    target: str,
    query: str,
    top: int,
    with_trace: bool,
    as_json: bool,
) -> None:
    """Find the evidence for QUERY in TARGET and say why it is evidence.

    TARGET is a file (indexed first when it is new or changed) or a document id.
    """
    searcher = options.open(target)
    ranking = searcher.search(query, k=top, tau=options.tau)
    if as_json:
        print_json(to_data(ranking))
        return
    out = console()
    print_query(out, ranking.query)
    for rank, hit in enumerate(ranking.hits, 1):
        print_hit(out, hit, rank)
        if with_trace:
            print_trace(out, searcher.index, hit)
    if not ranking.hits:
        out.print("nothing in the document meets any part of the query")
    out.print(
        f"\n[dim]{ranking.touched} of {ranking.segments} segments hold something of the query · "
        f"τ {ranking.tau:g} · preset {ranking.preset}[/]"
    )
