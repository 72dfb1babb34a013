"""`abstrag search`: ranked, quoted, explained evidence; with --refine, mended first if it fails."""

from __future__ import annotations

from dataclasses import dataclass, replace

import click
from rich.console import Console
from rich.markup import escape

from abstrag.cli.collection_options import CollectionOptions, collection_options
from abstrag.cli.collection_output import print_ranking
from abstrag.cli.llm_options import LlmOptions, llm_options
from abstrag.cli.model_work import Work, model_work
from abstrag.cli.options import SearchOptions, json_option, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.patch_options import Patched, PatchOptions, patch_options
from abstrag.cli.steps import describe
from abstrag.cli.trace import print_hit, print_query, print_trace
from abstrag.engine.refinement import Refiner, local_judges, packaged_evaluator, prompted_judges
from abstrag.errors import InputError
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Ranking
from abstrag.model.record import to_data
from abstrag.rank.relevance import Preset
from abstrag.refine.ledger import text_hash
from abstrag.refine.limits import Budget
from abstrag.refine.outcome import Refinement


@click.command("search")
@collection_options("target", "query")
@click.option("-k", "--top", default=5, show_default=True, type=click.IntRange(min=1), help="Hits.")
@search_options
@llm_options
@click.option("--refine", is_flag=True, help="Where the evidence is missed, mend the search first.")
@patch_options
@click.option("--trace", "with_trace", is_flag=True, help="The full trace under every hit.")
@json_option
def search_command(
    options: SearchOptions,
    models_options: LlmOptions,
    patches_options: PatchOptions,
    collection: CollectionOptions,
    target: str,
    query: str,
    top: int,
    refine: bool,
    with_trace: bool,
    as_json: bool,
) -> None:
    """Find the evidence for QUERY in TARGET and say why it is evidence.

    TARGET is a file (indexed first when it is new or changed) or a document id. What `abstrag
    refine` has kept for its text is in force. With --llm a model reads the query and judges the
    segments.

    TARGET may also be a collection: a store (a file or postgresql://…), or a folder that was
    indexed; --all is the whole store. Then the best hits of all documents are shown, and there is
    no --llm.
    """
    place = collection.place(options, target)
    if place is not None:
        if refine:
            raise InputError(
                "--refine mends the search of one document", hint="name the document as TARGET"
            )
        with place.open(options, patches_options, models_options, as_json=as_json) as searcher:
            ranked = searcher.search(query, k=top, tau=options.tau, filters=place.filters)
            if as_json:
                print_json(to_data(ranked))
            else:
                print_ranking(console(), searcher, ranked, with_trace=with_trace)
        return
    if refine and not patches_options.wanted:
        raise InputError(
            "--refine goes on from the patches in force, and --no-patches leaves them out",
            hint="leave one of them out",
        )
    cycles = Budget().cycles if refine else 0
    # a refiner lays the patches over the document itself
    opening = replace(patches_options, wanted=not refine and patches_options.wanted)
    with model_work(
        options, models_options, opening, target, as_json=as_json, cycles=cycles
    ) as work:
        if work is None:
            return
        if refine:
            found = _refined(work, options, patches_options, query, top)
        else:
            ranking = work.searcher.search(query, k=top, tau=options.tau)
            found = _Found(ranking, work.document)
        work = replace(work, document=found.document)
    if as_json:
        made = {"refinement": to_data(found.refinement)} if found.refinement else {}
        print_json({**to_data(found.ranking), **work.report(), **made})
        return
    work.print_report()
    out = console()
    _print(out, found, with_trace=with_trace)
    work.print_patches(out)


@dataclass(frozen=True, slots=True)
class _Found:
    """A ranking, what it was found in, and how it was refined."""

    ranking: Ranking
    document: Patched
    refinement: Refinement | None = None


def _refined(
    work: Work, options: SearchOptions, patches: PatchOptions, query: str, top: int
) -> _Found:
    """Refine on the query, keep what is accepted, and search under what that leaves."""
    searcher, ledger = work.searcher, patches.ledger
    index = searcher.index
    evaluator = packaged_evaluator(title=index.document.title)
    judges = local_judges(searcher, evaluator)
    if work.models is not None:
        judges = prompted_judges(
            work.models, searcher, evaluator, family=patches.family, root=patches.policy
        )
    refiner = Refiner(searcher, judges, ledger=ledger, tau=options.tau)
    made = refiner.refine(query)
    kept = ledger.kept(text_hash(index))
    return _Found(refiner.search(query, k=top), Patched(searcher, kept), made)


def _print(out: Console, found: _Found, *, with_trace: bool) -> None:
    ranking, searcher = found.ranking, found.document.searcher
    print_query(out, ranking.query)
    if found.refinement is not None:
        out.print(f"[dim]refined  [/]  {escape(_outcome(found.refinement, searcher.index))}")
    for rank, hit in enumerate(ranking.hits, 1):
        print_hit(out, hit, rank, searcher.preset)
        if with_trace:
            print_trace(out, searcher.index, hit)
    _print_doubt(out, ranking)
    out.print(f"\n[dim]{_footer(ranking, searcher.preset)}[/]")


def _print_doubt(out: Console, ranking: Ranking) -> None:
    """Say what a reader may overlook: that there is no hit, or none that holds what was asked."""
    if not ranking.hits:
        out.print("nothing in the document meets any part of the query")
        words = "queries and documents are read as English"
        out.print(f"[dim]{words}; abstrag map {escape(ranking.document)} shows its own words[/]")
    elif not any(hit.trace.share for hit in ranking.hits):
        out.print("\n[yellow]none of these meets any part of the query[/]; they come closest")


def _footer(ranking: Ranking, preset: Preset) -> str:
    """Say what the ranking is made of and what it took."""
    parts = [f"{ranking.touched} of {ranking.segments} segments hold something of the query"]
    if ranking.judgements:
        candidates = ranking.judgements + ranking.judgements_avoided
        asked = f"judge asked about {ranking.judgements} of {candidates} segments"
        if preset.judged is None:
            asked += f", {ranking.judgements_avoided} could not get in"
        parts.append(asked)
    parts += [f"τ {ranking.tau:g}", f"preset {ranking.preset}"]
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
        return "nothing: no change that text, lexicon, Background or embeddings license helps"
    reasons = tried[-1].verdict.reasons
    count = "the one patch tried was" if len(tried) == 1 else f"the {len(tried)} patches tried were"
    return f"nothing: {count} refused" + (f", the last because {reasons[0]}" if reasons else "")
