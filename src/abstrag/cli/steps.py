"""How a refinement looks on a terminal: step by step, then what is kept."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import shorten
from typing import Final

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from abstrag.model.index import DocumentIndex
from abstrag.model.patch import (
    Alias,
    ClauseCost,
    EventMapping,
    HypernymRestriction,
    Patch,
    Precedent,
    RoleRule,
    StepPrice,
    TimeWindow,
)
from abstrag.refine.outcome import Attempt, End, PlacedSegment, Refinement, RefineStep, Run

_TEXT_WIDTH: Final = 88


def print_run(out: Console, run: Run, index: DocumentIndex) -> None:
    """Print a run: each trigger, then what the whole file has gained."""
    out.rule(f"[bold]{escape(run.document)}[/]: {run.episodes} queries")
    for made in run.refinements:
        print_refinement(out, made, index)
    (solved, found), (now, found_now) = run.potential_before, run.potential_after
    out.print(
        f"\n[bold]{solved} → {now} of {run.episodes} queries solved[/], "
        f"gold among the first hits {found} → {found_now}, {len(run.patches)} patches kept"
    )
    out.print(f"[dim]ended: {run.end.value}[/]")


def print_refinement(
    out: Console, made: Refinement, index: DocumentIndex, *, forgets: bool = False
) -> None:
    """Print a refinement step by step; `forgets` when nothing of it outlives the command."""
    out.print(f"\n[dim]query[/]  [bold]{escape(made.query)}[/]")
    for step in made.steps:
        print_step(out, step, index)
    if not made.steps and made.end is End.ACCEPTED:
        out.print("the critic accepts what is found; there is nothing to refine")
    for patch in made.patches:
        kept = "not kept, as asked" if forgets else "kept"
        out.print(f"[green]{kept}[/]  {patch.id}  {escape(describe(patch, index))}")
    if made.accepted:
        out.print(_comparison(made, index))
    out.print(f"[dim]ended: {made.reason}[/]")


def print_step(out: Console, step: RefineStep, index: DocumentIndex) -> None:
    """Print one cycle: the failure, the stage, and every patch with its verdict."""
    seen = step.failure.diagnosis
    out.print(f"\n[bold]cycle {step.cycle}[/]")
    out.print(f"  [red]failed[/]   {escape(step.criticism.reason)}")
    out.print(f"  [cyan]why[/]      {escape(seen.reading)}")
    if step.failure.segment is not None:
        out.print(f"           [dim]{escape(_text(index, step.failure.segment))}[/]")
    for term in seen.dominant[:1]:
        out.print(f"           [dim]dearest: {term.family.value} bridges, {term.cost:.2f}[/]")
    for wide in seen.over_expansion[:2]:
        steps = f"{_name(wide.source, index)} → {_name(wide.target, index)}"
        out.print(f"           [dim]too wide: {escape(steps)}, {wide.segments} unfit segments[/]")
    place = step.localization
    out.print(f"  [cyan]where[/]    stage {place.stage.value}: {escape(place.reason)}")
    if step.controls:
        out.print(f"  [cyan]controls[/] {escape('; '.join(step.controls))}")
    for attempt in step.attempts:
        _print_attempt(out, attempt, index)
    if not step.attempts:
        out.print(
            "  [dim]nothing was tried: text, lexicon, aligner and Background offer nothing[/]"
        )


def _print_attempt(out: Console, attempt: Attempt, index: DocumentIndex) -> None:
    mark = "[green]✓ accepted[/]" if attempt.verdict.accepted else "[red]✗ refused[/] "
    what = attempt.said if attempt.patch is None else describe(attempt.patch, index)
    out.print(f"  {mark} {escape(what)}")
    if attempt.patch is not None:
        licence = attempt.patch.licence
        out.print(
            f"             [dim]{attempt.effect.value} · cost {attempt.patch.cost:.2f} · licence "
            f"{licence.kind.value}: {escape(' '.join(licence.reference.split())[:_TEXT_WIDTH])}[/]"
        )
    for reason in attempt.verdict.reasons:
        out.print(f"             [red]{escape(reason)}[/]")


def describe(patch: Patch, index: DocumentIndex) -> str:
    """Say in words what a patch changes."""
    match patch.delta:
        case Alias(surface=str() as surface, source=source, target=target):
            return f"read “{surface}” in the text as {_name(target or source, index)}"
        case Alias(source=source, target=target):
            return f"alias {_name(source, index)} → {_name(target, index)}"
        case RoleRule(source=source, target=target):
            return f"role rule {_name(source, index)} → {_name(target, index)}"
        case EventMapping(source=source, target=target):
            return f"event rule {_name(source, index)} → {_name(target, index)}"
        case HypernymRestriction(source=source, target=target):
            return f"no longer take {_name(source, index)} for {_name(target, index)}"
        case TimeWindow(target=target, window=window):
            return f"for {_name(target, index)} also look from {window.start} to {window.end}"
    return _of_query(patch)


def _of_query(patch: Patch) -> str:
    """Say in words what a patch changes about how queries are weighed."""
    match patch.delta:
        case ClauseCost(query=str(), tau=tau):
            return f"a budget τ of {tau:g} for this query"
        case ClauseCost(family=family, weight=weight):
            return f"ω of {family.value if family else ''} bridges becomes {weight:g}"
        case StepPrice() as step:
            return step_words(step)
        case Precedent(question=question):
            return f"look where documents had the answer to “{question}”"
    return "a prompt edit" if patch.edit else "nothing"


def step_words(step: StepPrice) -> str:
    """Say what a step costs from now on."""
    price = f"at least {step.at_least:g}" if step.refuses else f"at most {step.at_most:g}"
    return f"“{step.said}” for “{step.asked}” costs {price}"


def _comparison(made: Refinement, index: DocumentIndex) -> Table:
    """The first hits before and after, side by side."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("", "before", "after"):
        table.add_column(head, style="dim" if not head else "")
    last = _after(made)
    first = made.steps[0].before
    for rank in range(min(5, max(len(first), len(last)))):
        table.add_row(str(rank + 1), _cell(first, rank, index), _cell(last, rank, index))
    return table


def _after(made: Refinement) -> tuple[PlacedSegment, ...]:
    kept = [a.after for step in made.steps for a in step.attempts if a.verdict.accepted]
    return kept[-1]


def _cell(placed: Sequence[PlacedSegment], rank: int, index: DocumentIndex) -> str:
    if rank >= len(placed):
        return ""
    one = placed[rank]
    text = escape(shorten(f"{one.segment} {_text(index, one.segment)}", 50, placeholder=" …"))
    return f"[green]✓ {text}[/]" if one.evidence else f"  {text}"


def _text(index: DocumentIndex, segment: str) -> str:
    found = next((s.text for s in index.segments if s.id == segment), segment)
    return found if len(found) <= _TEXT_WIDTH else found[: _TEXT_WIDTH - 1] + "…"


def _name(term: str, index: DocumentIndex) -> str:
    labels = {t.id: t.label for t in index.map.terms}
    return labels.get(term, term.partition(":")[2] or term)
