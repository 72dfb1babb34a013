"""How long a whole search takes, from the words of a question to hits with traces.

    python benchmarks/search.py

The document is the bundled article, repeated until it has about 100 segments; `calculus.py` shows
how the part that depends on the document grows to 100,000.
"""

from __future__ import annotations

import statistics
import time

from abstrag.documents.load import load_bytes
from abstrag.engine.demo import DEMO_QUERY, demo_background, demo_document
from abstrag.engine.searcher import Searcher
from abstrag.indexing.pipeline import index
from abstrag.rank.relevance import DEFAULT_PRESET

QUERIES = (
    DEMO_QUERY,
    "Who visited TSMC?",
    "Which companies were founded before 1990?",
    "How did prices for accelerators change between January and April 2024?",
    "What did the consultant expect from chip suppliers?",
    "executives of AI companies in Taiwan",
)
ROUNDS = 20
COPIES = 3


def main() -> None:
    """Time every query in turn and print medians."""
    article = demo_document().text
    head, _, body = article.partition("\n# ")
    text = head + "".join(f"\n# Part {n}: {body}" for n in range(COPIES))
    made = index(load_bytes(text.encode(), name="long.md"), background=demo_background())
    started = time.perf_counter()
    searcher = Searcher(made, preset=DEFAULT_PRESET)
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
    print(f"{len(made.records)} segments, {len(made.map.edges)} edges")
    print(f"first search {1000 * first:.0f} ms, which builds the postings")
    print(
        f"median search {1000 * statistics.median(whole):.1f} ms, of which understanding the query "
        f"{1000 * statistics.median(words):.1f} ms; slowest {1000 * max(whole):.1f} ms"
    )


if __name__ == "__main__":
    main()
