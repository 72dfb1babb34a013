"""`abstrag explain`: the full trace of one segment."""

from __future__ import annotations

import click
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
from abstrag.cli.trace import labels_of, print_hit, print_query, print_trace
from abstrag.workspace.collection import SearchableCollection
from abstrag.workspace.options import WorkspaceConfig


@click.command("explain")
@collection_options("target", "query", "hit")
@search_options
@llm_options
@patch_options
@json_option
def explain_command(
    config: WorkspaceConfig,
    models_options: LlmOptions,
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
    place = collection.place(config, target)
    if place is not None:
        with place.open(models_options, as_json=as_json) as many:
            if models_options.dry_run:
                tell_estimate(*estimate_of_many(many, query), as_json=as_json)
                return
            _explain_one_of_many(many, query, hit, as_json=as_json)
        return
    with opened(config, models_options) as workspace:
        if models_options.dry_run:
            tell_estimate(*workspace.estimate(target, singly=True), as_json=as_json)
            return
        document = workspace.document(target)
        document.expect(query)
        found = document.hit(query, hit)
        asked = document.normalize(query)
        clauses = document.clauses(query, most=6)
        if as_json:
            print_json({"hit": found, "alternatives": clauses, **report_of(document)})
            return
        print_models(document)
        out = console()
        labels = labels_of(document.index)
        print_query(out, asked)
        print_hit(out, found, _rank(hit), document.preset)
        print_trace(out, document.index, found)
        out.print("\n[dim]the cheapest alternatives of the query considered:[/]")
        for clause in clauses:
            terms = " ∧ ".join(
                literal.label if term is None else labels.get(term, term)
                for literal, term in zip(asked.literals, clause.terms, strict=True)
            )
            out.print(f"    {clause.cost:.2f}  {escape(terms)}")
        print_patches(out, document)


def _rank(hit: str) -> int | None:
    return int(hit) or None if hit.isdecimal() else None


def _explain_one_of_many(
    many: SearchableCollection, query: str, hit: str, *, as_json: bool
) -> None:
    """Explain a hit of a collection, named by its rank or as DOCUMENT:SEGMENT."""
    found = many.hit(query, hit)
    standing = many.standing(query, found.document)
    if as_json:
        print_json({"hit": found, "standings": standing, **report_of_models(many)})
        return
    print_models(many)
    out = console()
    document = many.document(found.document)
    print_query(out, document.normalize(query))
    print_hit(out, found, _rank(hit), many.preset)
    title = escape(document.index.document.title)
    sources = ", ".join(f"{s.source.value} {s.score:.2f} (#{s.rank})" for s in standing)
    out.print(f"    [bold]{escape(found.document)}[/] {title}  [dim]{sources}[/]")
    print_trace(out, document.index, found)
