"""How long a whole search takes, from the words of a question to ten hits with traces.

    python benchmarks/search.py

The document is the bundled article, its index repeated until it has as many segments as the row
says, so that the query's words grow more frequent with it: the worst case. `smooth` touches only
segments that hold something of the query; `general` also has BM25 look at all. `calculus.py` shows
the same for queries whose words stay rare.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import replace

from abstrag.engine.demo import DEMO_QUERY, demo_index
from abstrag.engine.searcher import Searcher
from abstrag.model.index import DocumentIndex
from abstrag.rank.relevance import GENERAL, SMOOTH

QUERIES = (
    DEMO_QUERY,
    "Who visited TSMC?",
    "Which companies were founded before 1990?",
    "How did prices for accelerators change between January and April 2024?",
    "What did the consultant expect from chip suppliers?",
    "executives of AI companies in Taiwan",
)
COPIES = (3, 30, 300, 3000)
ROUNDS = 5


def repeated(index: DocumentIndex, copies: int) -> DocumentIndex:
    """Return an index that holds everything of another several times over."""
    size = len(index.records)
    shifts = [n * size for n in range(copies)]
    return replace(
        index,
        records=index.records * copies,
        mentions=tuple(
            replace(m, segment=m.segment + shift) for shift in shifts for m in index.mentions
        ),
        frames=tuple(
            replace(f, segment=f.segment + shift) for shift in shifts for f in index.frames
        ),
    )


def timed(searcher: Searcher) -> tuple[float, float, float]:
    """Return milliseconds: the first search, the median, and understanding the query alone."""
    started = time.perf_counter()
    searcher.search(DEMO_QUERY)
    first = time.perf_counter() - started
    whole, words = [], []
    for _ in range(ROUNDS):
        for query in QUERIES:
            started = time.perf_counter()
            searcher.normalize(query)
            words.append(time.perf_counter() - started)
            started = time.perf_counter()
            searcher.search(query)
            whole.append(time.perf_counter() - started)
    return 1000 * first, 1000 * statistics.median(whole), 1000 * statistics.median(words)


def main() -> None:
    """Time every size under both presets and print the table."""
    index = demo_index()
    Searcher(index, preset=GENERAL).search(DEMO_QUERY)  # load everything before the clock starts
    print(
        f"{'segments':>9} {'preset':>8} {'first ms':>9} {'median ms':>10} {'of it the query':>16}"
    )
    for copies in COPIES:
        large = repeated(index, copies)
        for preset in (SMOOTH, GENERAL):
            first, whole, words = timed(Searcher(large, preset=preset))
            name = f"{len(large.records):,}"
            print(
                f"{name:>9} {preset.name:>8} {first:>9.0f} {whole:>10.1f} {words:>16.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
