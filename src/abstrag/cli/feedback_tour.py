"""`abstrag demo feedback`, as it is printed."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from abstrag.cli.steps import describe, print_refinement
from abstrag.model.index import DocumentIndex
from abstrag.model.ranking import Ranking
from abstrag.refine.sufficiency import LOOKED_AT, WARN
from abstrag.workspace.tour import NEXT, STEP, UNANSWERED, FeedbackTour


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
