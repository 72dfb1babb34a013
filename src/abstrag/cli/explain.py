"""`abstrag explain`: the full trace of one segment."""

from __future__ import annotations

import click
from rich.markup import escape

from abstrag.cli.collection_options import CollectionOptions, Place, collection_options
from abstrag.cli.llm_options import LlmOptions, llm_options
from abstrag.cli.model_work import model_work
from abstrag.cli.options import SearchOptions, json_option, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.patch_options import PatchOptions, patch_options
from abstrag.cli.trace import labels_of, print_hit, print_query, print_trace
from abstrag.collection.searcher import CollectionSearcher
from abstrag.errors import InputError
from abstrag.model.record import to_data


@click.command("explain")
@collection_options("target", "query", "hit")
@search_options
@llm_options
@patch_options
@json_option
def explain_command(
    options: SearchOptions,
    models_options: LlmOptions,
    patches_options: PatchOptions,
    collection: CollectionOptions,
    target: str,
    query: str,
    hit: str,
    as_json: bool,
) -> None:
    """Show how segment HIT of TARGET meets QUERY: literals, bridges with ω, δ and licence.

    HIT is a segment id (s12) or a rank (1 is the best hit). Where TARGET is a collection, a segment
    is named with its document: report:s12.
    """
    place = collection.place(options, target)
    if place is not None:
        with place.open(options, patches_options, models_options, as_json=as_json) as many:
            _explain_one_of_many(many, place, query, hit, tau=options.tau, as_json=as_json)
        return
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


def _explain_one_of_many(
    searcher: CollectionSearcher, place: Place, query: str, hit: str, *, tau: float, as_json: bool
) -> None:
    """Explain a hit of a collection, named by its rank or as DOCUMENT:SEGMENT."""
    document, colon, segment = hit.rpartition(":")
    if hit.isdecimal() and int(hit):
        hits = searcher.search(query, k=int(hit), tau=tau, filters=place.filters).hits
        if len(hits) < int(hit):
            raise InputError(f"there is no hit number {hit}; the search found {len(hits)}")
        document, segment = hits[-1].hit.document, hits[-1].hit.segment
    elif not colon:
        raise InputError(
            f"{hit!r} names no segment of a collection",
            hint="a rank such as 1, or document and segment: report:s12",
        )
    found = searcher.explain(query, document, segment, tau=tau)
    standing = searcher.standing(query, found.document, filters=place.filters)
    if as_json:
        print_json({"hit": to_data(found), "standings": [to_data(each) for each in standing]})
        return
    out = console()
    inner = searcher.open(searcher.store.find(found.document))
    print_query(out, inner.normalize(query))
    print_hit(out, found, int(hit) if hit.isdecimal() else None, searcher.preset)
    title = escape(inner.index.document.title)
    sources = ", ".join(f"{s.source.value} {s.score:.2f} (#{s.rank})" for s in standing)
    out.print(f"    [bold]{escape(found.document)}[/] {title}  [dim]{sources}[/]")
    print_trace(out, inner.index, found)
