"""How hits and traces look on a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from rich.console import Console
from rich.markup import escape

from abstrag.cli.output import family_style
from abstrag.config import COST_UNIT
from abstrag.model.cost import told_sum
from abstrag.model.index import DocumentIndex
from abstrag.model.query import AnswerForm, Bridge, LiteralKind, Query
from abstrag.model.ranking import Hit, LiteralTrace
from abstrag.model.term import Mention
from abstrag.search.costs import cost_parts
from abstrag.search.relevance import Preset

Labels = Mapping[str, str]
_YEAR: Final = re.compile(r"\b\d{4}\b")


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
        out.print(
            f"    {_mark(found)} [cyan]{found.literal.kind.value}[/] "
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


def _mark(found: LiteralTrace) -> str:
    return "[green]✓[/]" if found.met else "[red]✗[/]"


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
