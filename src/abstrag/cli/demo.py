"""`abstrag demo`: the paper's example from end to end, on the bundled article."""

from __future__ import annotations

import click
import numpy as np
from rich.console import Console
from rich.markup import escape

from abstrag.cli.options import json_option
from abstrag.cli.output import console, print_json
from abstrag.cli.trace import print_hit, print_query, print_trace
from abstrag.engine.demo import DEMO_QUERY, DEMO_SENTENCE, demo_index
from abstrag.engine.searcher import Searcher
from abstrag.model.index import DocumentIndex
from abstrag.model.record import to_data
from abstrag.rank.dense import DenseSimilarity
from abstrag.rank.lexical import Lexical
from abstrag.rank.match import Similarity
from abstrag.rank.relevance import DEFAULT_PRESET


@click.command("demo")
@json_option
def demo_command(as_json: bool) -> None:
    """Index the bundled article and find what word matching cannot find."""
    searcher = Searcher(demo_index(), preset=DEFAULT_PRESET)
    bare = Searcher(demo_index(with_background=False), preset=DEFAULT_PRESET)
    ranking = searcher.search(DEMO_QUERY, k=3)
    sentence = _segment(searcher.index)
    bm25 = _rank(searcher, Lexical(searcher.index))
    dense = _rank(searcher, DenseSimilarity(searcher.index))
    missing = bare.explain(DEMO_QUERY, sentence)
    if as_json:
        print_json(
            {
                "ranking": to_data(ranking),
                "bm25_rank": bm25,
                "dense_rank": dense,
                "empty_background": to_data(missing),
            }
        )
        return
    out = console()
    out.print(f"[bold]{escape(searcher.index.document.title)}[/]")
    out.print(
        f"{len(searcher.index.records)} segments, {len(searcher.index.map.terms)} terms, "
        f"{len(searcher.index.map.edges)} edges; Background {searcher.index.background.name}\n"
    )
    out.print(f"[dim]query[/]     {DEMO_QUERY}")
    print_query(out, ranking.query)
    for rank, hit in enumerate(ranking.hits, 1):
        print_hit(out, hit, rank)
        if hit.segment == sentence:
            print_trace(out, searcher.index, hit)
    out.print(
        f"\nBM25 puts [bold]{sentence}[/], the sentence about the visit, at rank {bm25}, "
        f"and the cosine of sentence embeddings at rank {dense}."
    )
    out.print("\n[bold]The same query with an empty Background[/]")
    print_hit(out, missing, None)
    print_trace(out, bare.index, missing)
    _print_next(out)


def _segment(index: DocumentIndex) -> str:
    return next(s.id for s in index.segments if s.text == DEMO_SENTENCE)


def _rank(searcher: Searcher, similarity: Similarity) -> int:
    """Return where the sentence about the visit stands by a similarity alone."""
    scores = similarity(searcher.normalize(DEMO_QUERY))
    order = np.lexsort((np.arange(len(scores)), -scores))
    return int(np.flatnonzero(order == searcher.position(_segment(searcher.index)))[0]) + 1


def _print_next(out: Console) -> None:
    out.print(
        "\n[dim]Now yours:  abstrag search FILE “question”   abstrag map FILE   abstrag --help[/]"
    )
