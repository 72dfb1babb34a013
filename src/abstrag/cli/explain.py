"""`abstrag explain`: the full trace of one segment."""

from __future__ import annotations

import click
from rich.markup import escape

from abstrag.cli.options import SearchOptions, json_option, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.trace import labels_of, print_hit, print_query, print_trace
from abstrag.errors import InputError
from abstrag.model.record import to_data


@click.command("explain")
@click.argument("target")
@click.argument("query")
@click.argument("hit")
@search_options
@json_option
def explain_command(
    options: SearchOptions,
    target: str,
    query: str,
    hit: str,
    as_json: bool,
) -> None:
    """Show how segment HIT of TARGET meets QUERY: literals, bridges with ω, δ and licence.

    HIT is a segment id (s12) or a rank (1 is the best hit).
    """
    searcher = options.open(target)
    if hit.isdecimal() and int(hit) > 0:
        hits = searcher.search(query, k=int(hit), tau=options.tau).hits
        if len(hits) < int(hit):
            raise InputError(f"there is no hit number {hit}; the search found {len(hits)}")
        hit = hits[-1].segment
    found = searcher.explain(query, hit, tau=options.tau)
    asked = searcher.normalize(query)
    clauses = searcher.clauses(query, tau=options.tau, most=6)
    if as_json:
        print_json({"hit": to_data(found), "alternatives": [to_data(c) for c in clauses]})
        return
    out = console()
    labels = labels_of(searcher.index)
    print_query(out, asked)
    print_hit(out, found, None)
    print_trace(out, searcher.index, found)
    out.print("\n[dim]the cheapest alternatives of the query considered:[/]")
    for clause in clauses:
        terms = " ∧ ".join(
            literal.label if term is None else labels.get(term, term)
            for literal, term in zip(asked.literals, clause.terms, strict=True)
        )
        out.print(f"    {clause.cost:.2f}  {escape(terms)}")
