"""`abstrag demo`: the paper's example from end to end; `demo refine`: a tour of refinement."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import click
import numpy as np
from rich.console import Console
from rich.markup import escape

from abstrag.cli.options import json_option
from abstrag.cli.output import console, print_json
from abstrag.cli.trace import describe, print_hit, print_query, print_refinement, print_trace
from abstrag.engine.searcher import Searcher
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Ranking
from abstrag.refine.sufficiency import LOOKED_AT, WARN
from abstrag.search.dense import DenseSimilarity
from abstrag.search.lexical import Lexical
from abstrag.search.relevance import DEFAULT_PRESET, FAST, Similarity
from abstrag.stores.sqlite import MEMORY
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.tour import (
    DEMO_QUERY,
    DEMO_SENTENCE,
    EVIDENCE,
    FAILING,
    NEXT,
    PROFITING,
    STEP,
    UNANSWERED,
    FeedbackTour,
    demo_index,
    tour,
    tour_workspace,
)
from abstrag.workspace.workspace import Workspace


def print_feedback_tour(out: Console, shown: FeedbackTour, index: DocumentIndex) -> None:
    """Print the tour of feedback."""
    out.print(f"[bold]{escape(index.document.title)}[/]")
    out.print("[dim]default preset, shipped models, nobody has marked any answer[/]")
    out.rule("[bold]1[/] a question that the report does not answer")
    out.print(f"\n[dim]query[/]  [bold]{escape(UNANSWERED)}[/]")
    absent = shown.unanswered.absent
    told = "the critic has no opinion" if absent is None else f"absent with probability {absent}"
    if absent is not None and absent >= WARN:
        told = f"probably not in this document ({absent:.0%})"
    elif absent is None and len(shown.unanswered.hits) < LOOKED_AT:
        told = "probably not in this document: hardly anything of the question is there"
    out.print(f"  {told}")
    out.rule("[bold]2[/] a question that fails, and nobody says what is evidence")
    print_refinement(out, shown.refined, index)
    out.rule("[bold]3[/] a person calls a step right, and another question profits")
    for patch in shown.noted.patches:
        out.print(f"  [green]in force[/]  {patch.id}  {escape(describe(patch, index))}")
    out.print(f"\n[dim]query[/]  [bold]{escape(NEXT)}[/]")
    first = shown.before.hits[0]
    out.print(f"  {escape(first.text)}")
    was, now = (price(ranking) for ranking in (shown.before, shown.after))
    out.print(
        f"  “{STEP.said}” for “{STEP.asked}” cost {was:.2f}, and costs [green]{now:.2f}[/] now"
    )
    out.rule("[bold]4[/] it is taken back")
    same = "exactly as it was" if shown.exact else "[red]not as it was[/]"
    out.print(f"  the ranking is {same}")


def price(ranking: Ranking) -> float:
    """Return what the step costs in the first hit."""
    return next(word.price for word in ranking.hits[0].words if word.asked == STEP.asked)


@click.group("demo", invoke_without_command=True)
@json_option
@click.pass_context
def demo_command(context: click.Context, as_json: bool) -> None:
    """Index the bundled article and find what word matching cannot find."""
    if context.invoked_subcommand is None:
        _demo(as_json=as_json)


@demo_command.command("refine")
@json_option
def demo_refine(as_json: bool) -> None:
    """Watch a query fail, get mended, teach the next one, and be undone again."""
    with TemporaryDirectory() as folder, tour_workspace(Path(folder)) as workspace:
        shown = tour(workspace)
        index = workspace.index(shown.reverted.document)
    if as_json:
        print_json(shown)
        return
    out = console()
    out.print(f"[bold]{escape(index.document.title)}[/]")
    out.print("[dim]for each question one sentence was marked by hand as its evidence[/]")
    out.rule("[bold]1[/] a query fails, and a patch mends it")
    print_refinement(out, shown.refined, index)
    out.rule("[bold]2[/] another query profits, without refinement")
    out.print(f"\n[dim]query[/]  [bold]{escape(PROFITING)}[/]")
    before, after = (_place(r, PROFITING) for r in (shown.second_before, shown.second))
    out.print(f"  {escape(EVIDENCE[PROFITING])}")
    out.print(f"  {before} before the patch, [green]{after}[/] with it")
    out.rule("[bold]3[/] a patch that would let too much in is refused")
    print_refinement(out, shown.refused, index)
    out.rule("[bold]4[/] the patch is taken back")
    out.print(f"\n[dim]query[/]  [bold]{escape(FAILING)}[/]")
    same = "exactly as they were" if shown.exact else "[red]not as they were[/]"
    out.print(f"  {_place(shown.reverted, FAILING)} again; state and ranking are {same}")
    out.rule("the audit log")
    for line in shown.log:
        out.print(f"  [dim]{escape(line)}[/]")


@demo_command.command("feedback")
@json_option
def demo_feedback(as_json: bool) -> None:
    """Watch a person's word on one step help the next question: default preset, no answer key."""
    from abstrag.workspace.tour import feedback_tour, feedback_workspace

    with TemporaryDirectory() as folder, feedback_workspace(Path(folder)) as workspace:
        shown = feedback_tour(workspace)
        index = workspace.index(shown.before.document)
    if as_json:
        print_json(shown)
    else:
        print_feedback_tour(console(), shown, index)


def _place(ranking: Ranking, query: str) -> str:
    """Say where the evidence for a query stands."""
    for rank, hit in enumerate(ranking.hits, 1):
        if hit.text == EVIDENCE[query]:
            return f"at rank {rank}"
    return f"not among the first {len(ranking.hits)}"


def _demo(*, as_json: bool) -> None:
    with Workspace(WorkspaceConfig(store=MEMORY)) as workspace:
        # the judge reads words and no Background, so it cannot know what the visit stands for
        fast = SearchOptions(preset=FAST)
        document = workspace.document(demo_index(), fast)
        bare = workspace.document(demo_index(with_background=False), fast)
        judged = workspace.document(document.index).searcher
        ranking = document.search(DEMO_QUERY, k=3)
        sentence = _segment(document.index)
        bm25 = _rank(document.searcher, Lexical(document.index))
        dense = _rank(document.searcher, DenseSimilarity(document.index))
        default = judged.scoring(DEMO_QUERY)
        position = judged.position(sentence)
        rank, judgement = default.rank(position), default.hit(position).judgement
        missing = bare.explain(DEMO_QUERY, sentence)
    if as_json:
        print_json(
            {
                "ranking": ranking,
                "bm25_rank": bm25,
                "dense_rank": dense,
                "judged_rank": rank,
                "judgement": judgement,
                "empty_background": missing,
            }
        )
        return
    out, index = console(), document.index
    out.print(f"[bold]{escape(index.document.title)}[/]")
    out.print(
        f"{len(index.records)} segments, {len(index.map.terms)} terms, "
        f"{len(index.map.edges)} edges; Background {index.background.name}\n"
    )
    out.print(f"[dim]query[/]     {DEMO_QUERY}")
    print_query(out, ranking.query)
    for number, hit in enumerate(ranking.hits, 1):
        print_hit(out, hit, number, document.preset)
        if hit.segment == sentence:
            print_trace(out, index, hit)
    out.print(
        f"\nBM25 puts [bold]{sentence}[/], the sentence about the visit, at rank {bm25}, "
        f"and the cosine of sentence embeddings at rank {dense}."
    )
    out.print(
        f"The evidence judge, which reads words and no Background, gives it {judgement or 0:.2f}; "
        f"above, the judge has no say. With it (preset {DEFAULT_PRESET.name}) it is at rank {rank}."
    )
    out.print("\n[bold]The same query with an empty Background[/]")
    print_hit(out, missing, None, bare.preset)
    print_trace(out, bare.index, missing)
    out.print(
        "\n[dim]Now yours:  abstrag search FILE “question”   abstrag map FILE   abstrag --help[/]"
    )


def _segment(index: DocumentIndex) -> str:
    return next(s.id for s in index.segments if s.text == DEMO_SENTENCE)


def _rank(searcher: Searcher, similarity: Similarity) -> int:
    """Return where the sentence about the visit stands by a similarity alone."""
    everywhere = np.arange(len(searcher.index.records))
    scores = similarity(searcher.normalize(DEMO_QUERY), everywhere)
    order = np.lexsort((everywhere, -scores))
    return int(np.flatnonzero(order == searcher.position(_segment(searcher.index)))[0]) + 1
