"""How a search over many documents looks on a terminal."""

from __future__ import annotations

from typing import Final

from rich.console import Console
from rich.markup import escape

from abstrag.cli.trace import print_hit, print_query, print_trace
from abstrag.collection.results import (
    CollectionHit,
    CollectionRanking,
    CollectionWhyNot,
    DocumentScore,
    LostAt,
)
from abstrag.model.cost import LOWER_IS_BETTER, cost_of, told
from abstrag.search.relevance import Preset
from abstrag.workspace.collection import SearchableCollection

_DOCUMENTS: Final = 5  # whose scores are printed


def print_ranking(
    out: Console, many: SearchableCollection, ranking: CollectionRanking, *, with_trace: bool
) -> None:
    """Print hits, each with its document, and what the documents score."""
    print_query(out, ranking.query)
    for rank, found in enumerate(ranking.hits, 1):
        print_found(out, found, rank, many.preset)
        if with_trace:
            print_trace(out, many.document(found.hit.document).index, found.hit)
    if not ranking.hits:
        out.print(_nothing(ranking))
    if ranking.documents:
        out.print("\n[bold]documents[/]  [dim]cost of the mean of the best hits · of the best[/]")
        for document in ranking.documents[:_DOCUMENTS]:
            print_score(out, document)
    out.print(f"\n[dim]{_footer(ranking)}[/]")


def print_found(out: Console, found: CollectionHit, rank: int | None, preset: Preset) -> None:
    """Print a hit below its document."""
    print_hit(out, found.hit, rank, preset)
    also = f", also {', '.join(found.also)}" if found.also else ""
    out.print(
        f"    [bold]{escape(found.hit.document)}[/] {escape(found.title)}{escape(also)}  "
        f"[dim]cost {told(cost_of(found.score))} among all, with what its document adds[/]"
    )


def print_score(out: Console, document: DocumentScore) -> None:
    """Print what a document costs, and what the sources made of it."""
    costs = f"{told(cost_of(document.top_k_mean))} · {told(cost_of(document.top_1))}"
    sources = ", ".join(f"{s.source.value} {s.score:.2f} (#{s.rank})" for s in document.standings)
    date = f" {document.date}" if document.date else ""
    out.print(
        f"  {costs}  [bold]{escape(document.document)}[/]{date} {escape(document.title)}  "
        f"[dim]{sources}[/]"
    )


def print_why_not(out: Console, many: SearchableCollection, answer: CollectionWhyNot) -> None:
    """Print where a passage got lost."""
    where = f"[bold]{escape(answer.document)}[/] " if answer.document else ""
    segment = f"[dim]{answer.within.segment}[/] " if answer.within else ""
    out.print(f"{where}{segment}[italic]{escape(' '.join(answer.passage.split()))}[/]")
    style = "green" if answer.lost is LostAt.FOUND else "red"
    out.print(f"[bold {style}]{answer.lost.value}[/]: {escape(answer.detail)}")
    if answer.within is not None and answer.within.hit is not None and answer.document:
        print_trace(out, many.document(answer.document).index, answer.within.hit)


def _nothing(ranking: CollectionRanking) -> str:
    if not ranking.passed:
        return f"none of the {ranking.collection} documents passes the filters"
    return f"nothing in {ranking.passed} documents meets any part of the query"


def _footer(ranking: CollectionRanking) -> str:
    """Say what was searched and what it took."""
    asked = f"{len(ranking.documents)} of {ranking.collection} documents opened"
    if ranking.passed != ranking.collection:
        asked += f", {ranking.passed} pass the filters"
    parts = [asked]
    if ranking.judgements:
        candidates = ranking.judgements + ranking.judgements_avoided
        parts.append(f"judge asked about {ranking.judgements} of {candidates} segments")
    parts += [f"τ {ranking.tau:g}", f"preset {ranking.preset}", LOWER_IS_BETTER]
    return " · ".join(parts)
