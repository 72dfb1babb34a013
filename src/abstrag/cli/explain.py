"""`abstrag explain`: the full trace of one segment."""

from __future__ import annotations

import click
from rich.markup import escape

from abstrag.cli.llm_options import LlmOptions, llm_options
from abstrag.cli.model_work import model_work
from abstrag.cli.options import SearchOptions, json_option, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.patch_options import PatchOptions, patch_options
from abstrag.cli.trace import labels_of, print_hit, print_query, print_trace
from abstrag.errors import InputError
from abstrag.model.record import to_data


@click.command("explain")
@click.argument("target")
@click.argument("query")
@click.argument("hit")
@search_options
@llm_options
@patch_options
@json_option
def explain_command(
    options: SearchOptions,
    models_options: LlmOptions,
    patches_options: PatchOptions,
    target: str,
    query: str,
    hit: str,
    as_json: bool,
) -> None:
    """Show how segment HIT of TARGET meets QUERY: literals, bridges with ω, δ and licence.

    HIT is a segment id (s12) or a rank (1 is the best hit).
    """
    with model_work(
        options, models_options, patches_options, target, as_json=as_json, singly=True
    ) as work:
        if work is None:
            return
        searcher = work.searcher
        rank = int(hit) if hit.isdecimal() else None
        if rank:
            hits = searcher.search(query, k=rank, tau=options.tau).hits
            if len(hits) < rank:
                raise InputError(f"there is no hit number {hit}; the search found {len(hits)}")
            hit = hits[-1].segment
        found = searcher.explain(query, hit, tau=options.tau)
        asked = searcher.normalize(query)
        clauses = searcher.clauses(query, tau=options.tau, most=6)
    if as_json:
        alternatives = [to_data(c) for c in clauses]
        print_json({"hit": to_data(found), "alternatives": alternatives, **work.report()})
        return
    work.print_report()
    out = console()
    labels = labels_of(searcher.index)
    print_query(out, asked)
    print_hit(out, found, rank, searcher.preset)
    print_trace(out, searcher.index, found)
    out.print("\n[dim]the cheapest alternatives of the query considered:[/]")
    for clause in clauses:
        terms = " ∧ ".join(
            literal.label if term is None else labels.get(term, term)
            for literal, term in zip(asked.literals, clause.terms, strict=True)
        )
        out.print(f"    {clause.cost:.2f}  {escape(terms)}")
    work.print_patches(out)
