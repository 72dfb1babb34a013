"""How hits, traces and refinements look on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import TYPE_CHECKING, Final

from rich.console import Console
from rich.markup import escape

from abstrag.cli.output import family_style
from abstrag.config import COST_UNIT
from abstrag.model.cost import told_sum
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
from abstrag.model.query import AnswerForm, Bridge, LiteralKind, Query
from abstrag.model.ranking import Hit, LiteralTrace
from abstrag.model.term import Mention
from abstrag.search.relevance import Preset, cost_parts

if TYPE_CHECKING:
    from rich.table import Table

    from abstrag.refine.outcome import Attempt, PlacedSegment, Refinement, RefineStep, Run

Labels = Mapping[str, str]
_YEAR: Final = re.compile(r"\b\d{4}\b")
_TEXT_WIDTH: Final = 88


def labels_of(index: DocumentIndex) -> Labels:
    """Return how terms are called."""
    return {t.id: t.label for t in index.map.terms}


def print_query(out: Console, query: Query) -> None:
    """Print what the query was understood as."""
    literals = "  ".join(
        f"[cyan]{t.kind.value}[/] [bold]{escape(t.label)}[/]"
        f"{'(' + ', '.join(t.slots) + ')' if t.slots else ''}"
        f"{' [red]negated[/]' if t.negated else ''} [dim]{t.weight:.2f}[/]"
        for t in query.literals
    )
    out.print(f"[dim]asks for[/]  {literals}")
    more = []
    if query.answer_type:
        more.append(f"answer type {query.answer_type}")
    if query.window:
        more.append(f"window {query.window.start} to {query.window.end}")
    if query.scope:
        more.append(f"only in {', '.join(query.scope)}")
    if query.sources:
        more.append(f"relying on {', '.join(query.sources)}")
    if query.answer_form:
        more += _said_of_answer(query.answer_form)
    if more:
        out.print(f"[dim]          {escape(' · '.join(more))}[/]")
    for note in filter(None, (query.widened, query.notice)):
        out.print(f"[yellow]note[/]      {escape(note)}")


def _said_of_answer(form: AnswerForm) -> list[str]:
    """Say what the query wants of its answer, which is no condition on evidence."""
    said = (
        (form.length, f"answer in {form.length}"),
        (form.unit, f"in {form.unit}"),
        (form.decimals is not None, f"{form.decimals} decimals"),
        (form.count, f"{form.count} things to name"),
        (form.reader, f"as {form.reader}"),
        (form.says_when_missing, "to say so when it is not stated"),
    )
    return [words for there, words in said if there]


def place(hit: Hit) -> str:
    """Return where a hit stands, for a person."""
    parts = [" › ".join(hit.section)] if hit.section else []
    if hit.page is not None:
        parts.append(f"page {hit.page}")
    if hit.cell is not None:
        parts.append(f"cell {hit.cell}")
    parts.append(f"characters {hit.span.start} to {hit.span.end}")
    return ", ".join(parts)


def print_hit(out: Console, hit: Hit, rank: int | None, preset: Preset) -> None:
    """Print a hit: quote, place, cost, reading."""
    number = "–" if rank is None else str(rank)
    out.print(f"\n[bold]{number:>2}[/]  [bold green]{escape(hit.text)}[/]")
    if hit.under:
        out.print(f"    [dim]{escape(hit.under)}[/]")
    out.print(f"    [dim]{hit.segment} · {escape(place(hit))}[/]")
    if hit.doubt:
        out.print(f"    [yellow]{escape(hit.doubt)}[/]")
    out.print(f"    [magenta]cost {told_sum(cost_parts(hit, preset))}[/]{_judged(hit, preset)}")
    if hit.reading:
        out.print(f"    [italic]{escape(hit.reading)}[/]")


def _judged(hit: Hit, preset: Preset) -> str:
    """Say what the judge takes a hit for, where a preset gives it a say."""
    if hit.judgement is not None:
        return f" [dim]· evidence with probability {hit.judgement:.2f}, says the judge[/]"
    return " [dim]· the judge was not asked[/]" if preset.judge_weight else ""


def print_trace(out: Console, index: DocumentIndex, hit: Hit) -> None:
    """Print a trace in full: literals, bridges with ω, δ and licence, what stayed unmet."""
    trace, labels = hit.trace, labels_of(index)
    for found in trace.literals:
        mark = "[green]✓[/]" if found.met else "[red]✗[/]"
        out.print(
            f"    {mark} [cyan]{found.literal.kind.value}[/] "
            f"[bold]{escape(found.literal.label)}[/]  {_how(found, labels)}"
        )
        timed = found.literal.kind is LiteralKind.TIME and found.mention is not None
        if timed and found.mention is not None and found.mention.term in labels:
            out.print(f"        {_resolved(index, found.mention, labels)}")
        for bridge in found.bridges:
            for line in _bridge(bridge, labels):
                out.print(f"        {line}")
        if found.alternatives:
            names = ", ".join(labels.get(t, t) for t in found.alternatives[:6])
            out.print(f"        [dim]as good: {escape(names)}[/]")
    for line in _word_lines(hit):
        out.print(f"    {line}")
    cost = "none within reach" if trace.bridge_cost is None else f"{trace.bridge_cost:.2f}"
    by = trace.over_budget_by
    over = "" if by is None else f", over budget together by {by:.2f}"
    out.print(
        f"    [dim]bridges together {cost}{over} · {trace.share:.0%} of the query met · "
        f"{'reachable' if trace.reachable else 'not reachable'} · gap {trace.gap:.2f}[/]"
    )


def _word_lines(hit: Hit) -> Iterator[str]:
    """Tell how each word of the query is met, and what the score is made of."""
    for word in hit.words:
        asked = f"[bold]{escape(word.asked)}[/]"
        added = f"[dim]adds {word.units / COST_UNIT:.4f}[/]"
        if word.met and word.family is None:
            yield f"[green]✓[/] word {asked}  {added}"
        elif word.met:
            how = "in another sense" if word.other_sense else word.family
            yield (
                f"[green]✓[/] word {asked} ← “{escape(word.said)}” [dim]{how}[/] "
                f"{word.price:.2f}  {added}"
            )
        else:
            near = f", nearest is “{escape(word.said)}” {word.price:.2f}" if word.said else ""
            yield f"[red]✗[/] word {asked} [dim]not met{near}[/]  {added}"
    if hit.lines:
        parts = " + ".join(f"{one.name} {one.units / COST_UNIT:.4f}" for one in hit.lines)
        total = sum(one.units for one in hit.lines) / COST_UNIT
        yield f"[dim]cost, which is −log of the score: {parts} = {total:.4f}[/]"


def _resolved(index: DocumentIndex, mention: Mention, labels: Labels) -> str:
    """Say which words stand for a time, and what they were resolved against."""
    record = index.records[mention.segment]
    text = record.segment.text
    if mention.header is not None:
        text = record.segment.headers[mention.header].text
    said, means = text[mention.start : mention.end], labels[mention.term]
    if _YEAR.search(said) or not record.context.time:
        return f"[dim]“{escape(said)}”, free: normalization[/]"
    anchor = record.context.time[0]
    at = "" if anchor.span is None else f" at {anchor.span.start}"
    return (
        f"[dim]“{escape(said)}” is {means}, free: normalization against the document's date "
        f"{anchor.value}{at}[/]"
    )


def _how(found: LiteralTrace, labels: Labels) -> str:
    if found.distance is None:
        return "[red]unmet[/]: no way at any budget"
    via = escape(labels.get(found.via or "", found.via or ""))
    state = "" if found.met else "[red]unmet[/]: "
    if found.context is not None:
        source = f"{found.context.name} {found.context.value}"
        return f"{state}through the {escape(source)}, {found.distance:.2f}"
    return f"{state}by {via}, {found.distance:.2f}"


def _bridge(bridge: Bridge, labels: Labels) -> Iterator[str]:
    style = family_style(bridge.family)
    source = escape(labels.get(bridge.source, bridge.source))
    target = escape(labels.get(bridge.target, bridge.target))
    price = (
        "free: a premise"
        if bridge.truth_preserving
        else f"{bridge.cost:.2f} = ω {bridge.weight:.2f} + δ {bridge.distance:.2f}"
    )
    detail = f" ({', '.join(bridge.details)})" if bridge.details else ""
    yield f"[{style}]{bridge.family.value}[/] {source} → {target}  {price}{escape(detail)}"
    if bridge.licence is not None:
        at = "" if bridge.licence.span is None else f" at {bridge.licence.span.start}"
        reference = " ".join(bridge.licence.reference.split())
        yield f"    [dim]licence: {bridge.licence.kind.value}{at}: {escape(reference)}[/]"


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
    from abstrag.refine.outcome import End

    out.print(f"\n[dim]query[/]  [bold]{escape(made.query)}[/]")
    for step in made.steps:
        _print_step(out, step, index)
    if not made.steps and made.end is End.ACCEPTED:
        out.print("the critic accepts what is found; there is nothing to refine")
    for patch in made.patches:
        kept = "not kept, as asked" if forgets else "kept"
        out.print(f"[green]{kept}[/]  {patch.id}  {escape(describe(patch, index))}")
    if made.accepted:
        out.print(_comparison(made, index))
    out.print(f"[dim]ended: {made.reason}[/]")


def _print_step(out: Console, step: RefineStep, index: DocumentIndex) -> None:
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
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for head in ("", "before", "after"):
        table.add_column(head, style="dim" if not head else "")
    kept = [a.after for step in made.steps for a in step.attempts if a.verdict.accepted]
    last = kept[-1]
    first = made.steps[0].before
    for rank in range(min(5, max(len(first), len(last)))):
        table.add_row(str(rank + 1), _cell(first, rank, index), _cell(last, rank, index))
    return table


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
