"""`abstrag refine`: what failed and where, the patch, the gate's verdict, the ranking it leaves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import click
from rich.markup import escape

from abstrag.cli.engine_options import EngineOptions, engine_options, refuse_with_model
from abstrag.cli.opened import (
    CollectionOptions,
    collection_options,
    estimate_of_many,
    opened,
    print_models,
    tell_estimate,
)
from abstrag.cli.options import (
    LlmOptions,
    json_option,
    llm_options,
    policy_option,
    print_ledger,
    search_options,
)
from abstrag.cli.output import console, counted, print_json
from abstrag.cli.trace import print_refinement, print_run
from abstrag.engine.refinement import refinement_estimate
from abstrag.errors import InputError, PartialFailure
from abstrag.llm.budget import Estimate
from abstrag.model.index import DocumentIndex
from abstrag.policy.location import DEFAULT_FAMILY
from abstrag.refine.evaluator import COMPRESSIONS
from abstrag.refine.feedback import Episode, read_episodes
from abstrag.refine.limits import RefineBudget
from abstrag.refine.outcome import Run
from abstrag.search.judging import OverlapJudge
from abstrag.workspace.collection import SearchableCollection
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.refining import (
    WINDOW,
    CollectionRefinement,
    RefineOptions,
    one_by_one,
    side_by_side,
)
from abstrag.workspace.workspace import Workspace


@click.command("refine")
@collection_options("target", "query", required=False)
@click.option(
    "--episodes",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Refine on a file of JSON lines instead: target, query and, where known, gold.",
)
@click.option(
    "--gold",
    multiple=True,
    help="A segment that is evidence: its id or its exact words; may be given several times.",
)
@click.option(
    "--evaluator",
    type=click.Choice(["judge", "overlap"]),
    default="judge",
    show_default=True,
    help="Who says what is evidence: the packaged judge, or shared letters alone.",
)
@click.option(
    "--compression",
    type=click.Choice(sorted(COMPRESSIONS)),
    default="distractors",
    show_default=True,
    help="What must not fall on the query at hand.",
)
@click.option(
    "--cycles",
    type=click.IntRange(min=1),
    default=3,
    show_default=True,
    help="How often each query is tried.",
)
@policy_option
@click.option("--family", default=DEFAULT_FAMILY, show_default=True, help="Whose policy to use.")
@click.option("--forget", is_flag=True, help="Show everything and keep nothing.")
@engine_options("1")
@search_options
@llm_options
@json_option
def refine_command(
    config: WorkspaceConfig,
    models_options: LlmOptions,
    workers_options: EngineOptions,
    collection: CollectionOptions,
    target: str | None,
    query: str | None,
    episodes: Path | None,
    gold: tuple[str, ...],
    evaluator: str,
    compression: str,
    cycles: int,
    policy: Path | None,
    family: str,
    forget: bool,
    as_json: bool,
) -> None:
    """Find out why QUERY fails on TARGET, and mend what failed if nothing else breaks.

    A patch stays only if no query solved before loses its evidence, this one gains no
    distractors, and something gets better; `abstrag policy revert` takes it back. --gold says what
    the evidence is, and without it a judge does. With --episodes, --workers refine several
    documents side by side; the cases of one document stay in order.

    TARGET may be a collection, as for `abstrag search`. Then each document that the search opens is
    refined as if it were the one that is asked; --gold names a segment as DOCUMENT:SEGMENT.
    """
    if episodes is not None and collection.whole:
        raise InputError("--episodes names its targets itself", hint="leave --all out")
    place = None if episodes or query is None else collection.place(config, target)
    cases = () if place else _cases(target, query, gold, episodes)
    if workers_options.is_given and episodes is None:
        raise InputError("several workers need several documents", hint="use --episodes FILE")
    how = RefineOptions(
        judge=OverlapJudge() if evaluator == "overlap" else None,
        compression=compression,
        budget=RefineBudget(cycles=cycles),
        keep=not forget,
    )
    if place is not None and query is not None:
        place = replace(place, config=replace(place.config, policy=policy, family=family))
        with place.open(models_options, as_json=as_json) as many:
            if models_options.dry_run:
                _tell_estimate_of_many(many, query, cycles, as_json=as_json)
                return
            _print_many(many, many.refine(query, gold=gold, options=how), how, as_json=as_json)
            print_models(many)
        return
    config = replace(config, policy=policy, family=family)
    with opened(config, models_options) as workspace:
        models = workspace.models
        if models is not None:
            refuse_with_model(workers_options)
        if models_options.dry_run:
            tell_estimate(Estimate(), _estimate(workspace, cases, cycles), as_json=as_json)
            return
        if episodes is None:
            _one(workspace, cases[0], how, as_json=as_json)
        elif workers_options.is_given:
            engine = workers_options.make(1, window=WINDOW)
            lost: list[str] = []
            _many(side_by_side(workspace, cases, how, engine, lost), as_json=as_json)
            _raise_lost(lost)
        else:
            _many(one_by_one(workspace, cases, how), as_json=as_json)
        if models is not None:
            print_ledger(models.ledger())


def _one(workspace: Workspace, episode: Episode, how: RefineOptions, *, as_json: bool) -> None:
    """Refine on one query and print every step."""
    document = workspace.document(episode.target)
    made = document.refine(episode.query, gold=episode.gold, options=how)
    if as_json:
        print_json(made)
        return
    print_refinement(console(), made, document.index, forgets=not how.keep)


def _print_many(
    many: SearchableCollection, made: CollectionRefinement, how: RefineOptions, *, as_json: bool
) -> None:
    """Print what was done to each document, and the new ranking over all."""
    if as_json:
        print_json(made)
        return
    out = console()
    for one in made.documents:
        out.print(f"\n[bold]{escape(one.document)}[/]", end="")
        print_refinement(out, one, many.document(one.document).index, forgets=not how.keep)
    kept = counted(len(made.patches), "patch", "patches")
    out.print(f"\n{counted(len(made.documents), 'document', 'documents')} refined, {kept} kept")


def _tell_estimate_of_many(
    many: SearchableCollection, query: str, cycles: int, *, as_json: bool
) -> None:
    indexing, total = estimate_of_many(many, query)
    models = many.workspace.models
    if models is not None:
        total += refinement_estimate(models, cycles * many.searcher.shortlist_size)
    tell_estimate(indexing, total, as_json=as_json)


def _many(runs: Iterable[tuple[Run, DocumentIndex]], *, as_json: bool) -> None:
    """Print the outcome of each document."""
    told = []
    for run, index in runs:
        told.append(run)
        if not as_json:
            print_run(console(), run, index)
    if as_json:
        print_json(told)


def _raise_lost(lost: list[str]) -> None:
    for line in lost:
        click.echo(f"failed    {line}", err=True)
    if lost:
        what = "document was" if len(lost) == 1 else "documents were"
        raise PartialFailure(f"{len(lost)} {what} given up; the others are refined")


def _cases(
    target: str | None, query: str | None, gold: tuple[str, ...], episodes: Path | None
) -> tuple[Episode, ...]:
    if episodes is not None:
        if target is not None:
            raise InputError("--episodes names its targets itself", hint="leave TARGET out")
        return read_episodes(episodes)
    if target is None or query is None:
        raise InputError(
            "refine needs a TARGET and a QUERY, or --episodes FILE",
            hint='abstrag refine report.pdf "Who paid for it?"',
        )
    return (Episode(target, query, gold),)


def _estimate(workspace: Workspace, cases: tuple[Episode, ...], cycles: int) -> Estimate:
    """Opening the documents, and as many cycles as there may be."""
    total = Estimate(most=True)
    for target in dict.fromkeys(case.target for case in cases):
        indexing, search = workspace.estimate(target)
        total += indexing + search
    if workspace.models is not None:
        total += refinement_estimate(workspace.models, len(cases) * cycles)
    return total
