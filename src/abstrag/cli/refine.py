"""`abstrag refine`: what failed and where, the patch, the gate's verdict, the ranking it leaves."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import click

from abstrag.cli.llm_options import LlmOptions, llm_options, print_ledger
from abstrag.cli.model_work import tell_estimate
from abstrag.cli.options import SearchOptions, json_option, search_options
from abstrag.cli.output import console, print_json
from abstrag.cli.steps import print_refinement, print_run
from abstrag.engine.refinement import (
    Refiner,
    local_judges,
    packaged_evaluator,
    prompted_judges,
    refinement_estimate,
)
from abstrag.errors import InputError
from abstrag.llm.connect import Models
from abstrag.llm.estimate import Estimate
from abstrag.model.record import to_data
from abstrag.policy.store import DEFAULT_FAMILY, PolicyStore
from abstrag.rank.judging import Judge
from abstrag.rank.overlap import OverlapJudge
from abstrag.refine.episode import Episode, read_episodes
from abstrag.refine.evaluator import COMPRESSIONS
from abstrag.refine.ledger import Ledger
from abstrag.refine.limits import Budget


@click.command("refine")
@click.argument("target", required=False)
@click.argument("query", required=False)
@click.option(
    "--episodes",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Refine on a file of JSON lines instead: target, query and, where known, gold.",
)
@click.option("--gold", multiple=True, help="Segment that is evidence; may be given several times.")
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
    "--cycles", type=click.IntRange(min=1), default=3, show_default=True, help="For each query."
)
@click.option(
    "--policy",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="ABSTRAG_POLICY",
    help="The policy folder.  [default: in your data folder]",
)
@click.option("--family", default=DEFAULT_FAMILY, show_default=True, help="Whose policy to use.")
@click.option("--forget", is_flag=True, help="Show everything and keep nothing.")
@search_options
@llm_options
@json_option
def refine_command(
    options: SearchOptions,
    models_options: LlmOptions,
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
    """Refine how TARGET is searched until QUERY is served, and harm no other query.

    A patch stays only if no query solved before loses its evidence, this one gains no
    distractors, and something gets better. `abstrag policy revert` takes it back.
    """
    cases = _cases(target, query, gold, episodes)
    with models_options.connect() or nullcontext() as models:
        if models_options.dry_run:
            tell_estimate(Estimate(), _estimate(options, models, cases, cycles), as_json=as_json)
            return
        desk = _Desk(
            options=options,
            models=models,
            judge=OverlapJudge() if evaluator == "overlap" else None,
            compression=compression,
            ledger=None if forget else Ledger(PolicyStore.open(policy, family)),
            budget=Budget(cycles=cycles),
            policy=policy,
            family=family,
        )
        if episodes is None:
            desk.one(cases[0], as_json=as_json)
        else:
            desk.many(cases, as_json=as_json)
        if models is not None:
            print_ledger(models.ledger())


@dataclass(frozen=True, slots=True)
class _Desk:
    """Everything a refinement is done with."""

    options: SearchOptions
    models: Models | None
    judge: Judge | None  # None: the packaged one
    compression: str
    ledger: Ledger | None
    budget: Budget
    policy: Path | None
    family: str

    def refiner(self, target: str) -> Refiner:
        """Open a document."""
        searcher = self.options.open(target, self.models)
        evaluator = packaged_evaluator(
            self.judge, title=searcher.index.document.title, compression=self.compression
        )
        judges = local_judges(searcher, evaluator)
        if self.models is not None:
            judges = prompted_judges(
                self.models, searcher, evaluator, family=self.family, root=self.policy
            )
        judges = replace(judges, budget=self.budget)
        return Refiner(searcher, judges, ledger=self.ledger, tau=self.options.tau)

    def one(self, episode: Episode, *, as_json: bool) -> None:
        """Refine on one query and print every step."""
        refiner = self.refiner(episode.target)
        made = refiner.refine(episode.query, gold=episode.gold)
        if as_json:
            print_json(to_data(made))
            return
        forgets = self.ledger is None
        print_refinement(console(), made, refiner.searcher.index, forgets=forgets)

    def many(self, episodes: tuple[Episode, ...], *, as_json: bool) -> None:
        """Refine document by document."""
        told = []
        for target in dict.fromkeys(episode.target for episode in episodes):
            refiner = self.refiner(target)
            run = refiner.run([episode for episode in episodes if episode.target == target])
            told.append(to_data(run))
            if not as_json:
                print_run(console(), run, refiner.searcher.index)
        if as_json:
            print_json(told)


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


def _estimate(
    options: SearchOptions, models: Models | None, cases: tuple[Episode, ...], cycles: int
) -> Estimate:
    """Opening the documents, and as many cycles as there may be."""
    total = Estimate(most=True)
    for target in dict.fromkeys(case.target for case in cases):
        indexing, search = options.estimate(target, models)
        total += indexing + search
    if models is not None:
        total += refinement_estimate(models, len(cases) * cycles)
    return total
