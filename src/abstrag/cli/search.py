"""`abstrag search`: ranked, quoted, explained evidence; with --refine, mended first if it fails."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    print_ranking,
    report_of,
    report_of_models,
    tell_estimate,
)
from abstrag.cli.options import LlmOptions, json_option, llm_options, patch_options, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.trace import describe, print_hit, print_query, print_trace
from abstrag.errors import InputError
from abstrag.model.cost import LOWER_IS_BETTER
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Ranking, SupportSet
from abstrag.model.record import to_data
from abstrag.refine.sufficiency import WARN
from abstrag.search.relevance import Preset
from abstrag.workspace.collection import SearchableCollection
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace

if TYPE_CHECKING:
    from abstrag.refine.outcome import Refinement


# How a set of hits that belong together is printed.


def print_set(
    asked: SearchableDocument | SearchableCollection,
    query: str,
    found: SupportSet,
    *,
    as_json: bool,
) -> None:
    """Print the hits with what joins them, and what none of them meets."""
    if as_json:
        print_json(found)
        return
    out = console()
    many = None if isinstance(asked, SearchableDocument) else asked
    if isinstance(asked, SearchableDocument):
        print_query(out, asked.normalize(query))
    for rank, hit in enumerate(found.hits, 1):
        print_hit(out, hit, rank, asked.preset)
        if many is not None:
            title = many.workspace.store.find(hit.document).title
            out.print(f"    [bold]{escape(hit.document)}[/] {escape(title)}")
        if rank <= len(found.joined_by) and found.joined_by[rank - 1]:
            out.print(f"   [dim]joins   {escape(found.joined_by[rank - 1])}[/]")
    if found.unmet:
        out.print(f"\n[yellow]met by none of them:[/] {escape(', '.join(found.unmet))}")


@click.command("search")
@collection_options("target", "query")
@click.option("-k", "--top", default=5, show_default=True, type=click.IntRange(min=1), help="Hits.")
@search_options
@llm_options
@click.option("--set", "as_set", is_flag=True, help="The fewest hits that together meet QUERY.")
@click.option("--refine", is_flag=True, help="Where the evidence is missed, mend the search first.")
@patch_options
@click.option("--trace", "with_trace", is_flag=True, help="The full trace under every hit.")
@json_option
def search_command(
    config: WorkspaceConfig,
    models_options: LlmOptions,
    collection: CollectionOptions,
    target: str,
    query: str,
    top: int,
    as_set: bool,
    refine: bool,
    with_trace: bool,
    as_json: bool,
) -> None:
    """Find the evidence for QUERY in TARGET and say why it is evidence.

    TARGET is a file (indexed first when it is new or changed) or a document id. What `abstrag
    refine` has kept for its text is in force. With --llm a model reads the query and judges the
    segments. --set is for questions that need more than one place, and for all of something; the
    places may be in several documents of a collection.

    TARGET may also be a collection: a store (a file or postgresql://…), or a folder that was
    indexed; --all is the whole store. Then the best hits of all documents are shown.
    """
    place = collection.place(config, target)
    if place is not None:
        if refine:
            raise InputError(
                "--refine is for one document", hint="abstrag refine takes a collection"
            )
        with place.open(models_options, as_json=as_json) as many:
            if models_options.dry_run:
                tell_estimate(*estimate_of_many(many, query), as_json=as_json)
            elif as_set:
                print_set(many, query, many.support(query, k=top), as_json=as_json)
            else:
                _search_many(many, query, top, with_trace=with_trace, as_json=as_json)
        return
    if refine and not config.defaults.patched:
        raise InputError(
            "--refine goes on from the patches in force, and --no-patches leaves them out",
            hint="leave one of them out",
        )
    with opened(config, models_options) as workspace:
        if models_options.dry_run:
            _estimate(workspace, target, refine=refine, as_json=as_json)
            return
        document = workspace.document(target)
        document.expect(query)
        refinement = document.refine(query) if refine else None
        if refinement is not None:
            document = workspace.document(target)  # with what has just been kept
        if as_set:
            print_set(document, query, document.support(query, k=top), as_json=as_json)
            return
        ranking = document.search(query, k=top)
        if as_json:
            made = {"refinement": refinement} if refinement else {}
            print_json({**to_data(ranking), **report_of(document), **made})
            return
        print_models(document)
        out = console()
        _print(out, document, ranking, refinement, with_trace=with_trace)
        print_patches(out, document)


def _search_many(
    many: SearchableCollection, query: str, top: int, *, with_trace: bool, as_json: bool
) -> None:
    ranked = many.search(query, k=top)
    if as_json:
        print_json({**to_data(ranked), **report_of_models(many)})
        return
    print_models(many)
    print_ranking(console(), many, ranked, with_trace=with_trace)


def _estimate(workspace: Workspace, target: str, *, refine: bool, as_json: bool) -> None:
    """Say what a search would ask of the models, and what refining it would on top."""
    indexing, search = workspace.estimate(target)
    if workspace.models is not None and refine:
        from abstrag.engine.refinement import refinement_estimate
        from abstrag.refine.limits import RefineBudget

        search += refinement_estimate(workspace.models, RefineBudget().cycles)
    tell_estimate(indexing, search, as_json=as_json)


def _print(
    out: Console,
    document: SearchableDocument,
    ranking: Ranking,
    refinement: Refinement | None,
    *,
    with_trace: bool,
) -> None:
    print_query(out, ranking.query)
    if refinement is not None:
        out.print(f"[dim]refined  [/]  {escape(_outcome(refinement, document.index))}")
    for rank, hit in enumerate(ranking.hits, 1):
        print_hit(out, hit, rank, document.preset)
        if with_trace:
            print_trace(out, document.index, hit)
    _print_doubt(out, ranking)
    out.print(f"\n[dim]{_footer(ranking, document.preset)}[/]")


def _print_doubt(out: Console, ranking: Ranking) -> None:
    """Say what a reader may overlook: that there is no hit, or none that holds what was asked."""
    if not ranking.hits:
        out.print("nothing in the document meets any part of the query")
        words = "queries and documents are read as English"
        out.print(f"[dim]{words}; abstrag map {escape(ranking.document)} shows its own words[/]")
    elif not any(hit.trace.share for hit in ranking.hits):
        out.print("\n[yellow]none of these meets any part of the query[/]; they come closest")
    if ranking.absent is not None and ranking.absent >= WARN:
        sure = f"{ranking.absent:.0%} of queries whose hits look like this have no evidence"
        out.print(f"\n[yellow]probably not in this document[/] [dim]({sure})[/]")


def _footer(ranking: Ranking, preset: Preset) -> str:
    """Say what the ranking is made of and what it took."""
    parts = [f"{ranking.touched} of {ranking.segments} segments hold something of the query"]
    if ranking.judgements:
        candidates = ranking.judgements + ranking.judgements_avoided
        asked = f"judge asked about {ranking.judgements} of {candidates} segments"
        if preset.judged is None:
            asked += f", {ranking.judgements_avoided} could not get in"
        parts.append(asked)
    parts += [f"τ {ranking.tau:g}", f"preset {ranking.preset}", LOWER_IS_BETTER]
    return " · ".join(parts)


def _outcome(made: Refinement, index: DocumentIndex) -> str:
    """Say in a line what refinement accepted, or why nothing."""
    if made.patches:
        kept = "; ".join(f"{describe(patch, index)} ({patch.id})" for patch in made.patches)
        return f"kept {kept}"
    if not made.steps:
        return "nothing: the first hits hold evidence already"
    tried = [attempt for step in made.steps for attempt in step.attempts]
    if not tried:
        return "nothing was tried: text, lexicon, aligner and Background offer no change"
    reasons = tried[-1].verdict.reasons
    count = "the one patch tried was" if len(tried) == 1 else f"the {len(tried)} patches tried were"
    return f"nothing: {count} refused" + (f", the last because {reasons[0]}" if reasons else "")
