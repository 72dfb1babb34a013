"""How long a whole search takes, from the words of a question to ten hits with traces.

    python benchmarks/search.py [FILE]

First the document is the bundled article, its index repeated until it has as many segments as the
row says, so that the query's words grow more frequent with it: the worst case. `smooth` touches
only segments that hold something of the query; `general` also has BM25 look at all. `calculus.py`
shows the same for queries whose words stay rare.

Then it is FILE, or a hundred paragraphs of 120 to 180 words made of the article's sentences in
other orders, with more or less of it judged: "first" is a question to a document that is opened for
it and of which nothing is embedded yet, "in a row" one of several to the same document.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

from abstrag.config import Settings
from abstrag.documents.load import load, load_bytes
from abstrag.indexing.pipeline import index as build_index
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.search.relevance import ALIGNED, FAST, GENERAL, SMOOTH, Preset
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.tour import DEMO_QUERY, demo_index
from abstrag.workspace.workspace import Workspace

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
PARAGRAPHS = 100
WORDS = 120  # of a paragraph at least


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


def fresh() -> Workspace:
    """Return a workspace in which nobody has asked anything."""
    return Workspace(WorkspaceConfig(store=":memory:"))


def opened(workspace: Workspace, index: DocumentIndex, preset: Preset) -> SearchableDocument:
    """Open an index under a preset."""
    return workspace.document(index, SearchOptions(preset=preset, patched=False))


def timed(index: DocumentIndex, preset: Preset) -> tuple[float, float, float]:
    """Return milliseconds: opening and the first search, the median, and the query's words alone.

    Blanks at its end change no word of a question and make it new: nothing said before is reused.
    """
    with fresh() as workspace:
        started = time.perf_counter()
        document = opened(workspace, index, preset)
        document.search(DEMO_QUERY)
        first = time.perf_counter() - started
        whole, words = [], []
        for number in range(1, ROUNDS + 1):
            for query in QUERIES:
                started = time.perf_counter()
                document.normalize(query + " " * number)
                words.append(1000 * (time.perf_counter() - started))
                whole.append(milliseconds(document, query + " " * (ROUNDS + number)))
    return 1000 * first, statistics.median(whole), statistics.median(words)


def shuffled() -> Document:
    """Return the article's sentences as many paragraphs, the same ones every time."""
    chance = random.Random(0)
    sentences = [segment.text for segment in demo_index().segments]
    made = []
    for _ in range(PARAGRAPHS):
        paragraph: list[str] = []
        while sum(len(sentence.split()) for sentence in paragraph) < WORDS:
            paragraph.append(chance.choice(sentences))
        made.append(" ".join(paragraph))
    return load_bytes("\n\n".join(made).encode(), name="shuffled.txt")


def judging(paragraphs: int) -> Preset:
    """Return the default with the judge reading so much."""
    return replace(GENERAL, name=f"{paragraphs} judged", judged=paragraphs)


def milliseconds(document: SearchableDocument, query: str) -> float:
    """Return how long a search takes."""
    started = time.perf_counter()
    document.search(query)
    return 1000 * (time.perf_counter() - started)


def alone(index: DocumentIndex, preset: Preset, query: str) -> float:
    """Return how long a first search takes, with opening the document."""
    with fresh() as workspace:
        started = time.perf_counter()
        opened(workspace, index, preset).search(query)
        return 1000 * (time.perf_counter() - started)


def growing(index: DocumentIndex) -> None:
    """Time every size under two presets and print the table."""
    print(
        f"{'segments':>9} {'preset':>8} {'first ms':>9} {'median ms':>10} {'of it the query':>16}"
    )
    for copies in COPIES:
        large = repeated(index, copies)
        for preset in (SMOOTH, GENERAL):
            first, whole, words = timed(large, preset)
            name = f"{len(large.records):,}"
            print(
                f"{name:>9} {preset.name:>8} {first:>9.0f} {whole:>10.1f} {words:>16.1f}",
                flush=True,
            )


def reading(document: Document) -> None:
    """Time a text that nobody has asked before, by how much is judged, and print the table."""
    made = build_index(document, settings=Settings(granularity="paragraph"))
    print(f"{len(made.records)} paragraphs; median of {len(QUERIES)} questions, ms")
    print(f"{'':>12} {'first':>8} {'in a row':>9}")
    for preset in (FAST, ALIGNED, judging(12), judging(32)):
        first = [alone(made, preset, query) for query in QUERIES]
        with fresh() as workspace:
            kept = opened(workspace, made, preset)
            row = [milliseconds(kept, query) for query in QUERIES]
        median = statistics.median
        print(f"{preset.name:>12} {median(first):>8.0f} {median(row):>9.0f}", flush=True)


def main() -> None:
    """Print both tables."""
    index = demo_index()
    alone(index, GENERAL, DEMO_QUERY)  # load everything before the clock starts
    growing(index)
    reading(load(Path(sys.argv[1])) if len(sys.argv) > 1 else shuffled())


if __name__ == "__main__":
    main()
