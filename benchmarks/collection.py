"""What a question over many documents costs, and how that grows with their number.

    python benchmarks/collection.py
    python benchmarks/collection.py --store scifact.db --queries claims.txt

Without a store a small library of made-up notes is indexed first. With one, its first third, two
thirds and whole are measured. A query is timed with no document open, as the first of its kind;
`shortlist` is the part of it before any is opened. With --judge the shipped judge reads.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Final

from abstrag.collection.card_table import CardTable
from abstrag.collection.cards import Cards, all_cards
from abstrag.collection.sentences import STEMS as SENTENCE_STEMS
from abstrag.collection.sentences import VECTORS as SENTENCE_VECTORS
from abstrag.documents.load import load
from abstrag.neural.whole_text import default_encoder
from abstrag.search.relevance import DEFAULT_PRESET, FAST
from abstrag.stores.cards import CARD, VECTORS
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace

SIZES: Final = (50, 150, 450)
NOUNS: Final = (
    "harbour lock crane ferry council engineer vaccine hospital nurse virus antibody protein mouse "
    "telescope planet crater satellite metal furnace bridge tunnel railway bank loan tax court "
    "contract school pupil teacher forest wolf hound river flood dam farmer harvest wheat"
).split()
VERBS: Final = "built bought sold tested closed repaired measured visited lost found".split()
PLACES: Final = "Esbjerg Hamburg Taipei Kyoto Leeds Porto Graz Bergen Lyon Turku".split()
QUERIES: Final = (
    "Who repaired the lock in Hamburg?",
    "vessels that were bought in 2021",
    "Did a nurse test the vaccine?",
    "animals found near a river",
    "Which buildings were closed in Kyoto in 2019?",
)


def made_up(workspace: Workspace, count: int) -> None:
    """Index notes of eight sentences each."""
    random = Random(5)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(count):
            lines = [
                f"The {random.choice(NOUNS)} of {random.choice(PLACES)} {random.choice(VERBS)} "
                f"the {random.choice(NOUNS)} in {random.randint(2010, 2024)}."
                for _ in range(8)
            ]
            title = f"{random.choice(NOUNS).title()} and {random.choice(NOUNS)}"
            path = Path(folder) / f"note{number}.md"
            path.write_text(f"# {title}\n\n{' '.join(lines)}\n", "utf-8")
            workspace.indexing().index_document(load(path))


def first(cards: Cards, count: int) -> Cards:
    """Return the first of some cards."""
    return replace(
        cards, documents=cards.documents[:count], parts=tuple(islice(cards.parts, count))
    )


def timed(work: Callable[[], object]) -> float:
    """Return milliseconds."""
    started = time.perf_counter()
    work()
    return 1000 * (time.perf_counter() - started)


def measure(
    workspace: Workspace, cards: Cards, queries: Sequence[str], *, judge: bool
) -> tuple[float, float, float, float]:
    """Return milliseconds for cards, shortlist and query: the median, and the slowest twentieth."""
    gathered = timed(lambda: CardTable.of(cards))
    options = SearchOptions(preset=DEFAULT_PRESET if judge else FAST, patched=False)
    searcher = workspace.collection(options=options, card_table=CardTable.of(cards)).searcher
    searcher.search(queries[0])  # models and lexicon are loaded before the clock starts
    listed, whole = [], []
    for query in queries:
        searcher.forget()
        listed.append(timed(lambda text=query: searcher.shortlist(text)))  # type: ignore[misc]
        whole.append(timed(lambda text=query: searcher.search(text)))  # type: ignore[misc]
    slow = sorted(whole)[int(0.95 * (len(whole) - 1))]
    return gathered, statistics.median(listed), statistics.median(whole), slow


def report(
    workspace: Workspace,
    sizes: Sequence[int],
    queries: Sequence[str],
    disk: int | None,
    *,
    judge: bool,
) -> None:
    """Measure every size and print the table."""
    store, encoder = workspace.store, default_encoder()
    making = timed(lambda: all_cards(store, encoder=encoder))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    cards = all_cards(store, encoder=encoder)
    again = timed(lambda: CardTable.of(cards))
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    total = len(cards.documents)
    layers = (CARD, VECTORS, SENTENCE_STEMS, SENTENCE_VECTORS)
    kept = {name: sum(len(d) for *_, d in store.layers_named(name)) / total for name in layers}
    print(
        f"cards of {total:,} documents: made in {making / 1000:.1f} s, "
        f"put together in {again:.0f} ms"
    )
    print(f"a card has {kept[CARD]:,.0f} bytes, its vectors {kept[VECTORS]:,.0f}")
    print(
        f"its sentences have {kept[SENTENCE_STEMS]:,.0f} bytes of stems "
        f"and {kept[SENTENCE_VECTORS]:,.0f} of vectors"
    )
    if disk is not None:
        print(f"the store takes {disk / total:,.0f} bytes a document")
    print(f"putting all cards together raised the peak of memory by {grown:,} KiB")
    heads = ("documents", "shelf ms", "bytes/doc", "shortlist", "query ms", "95 %")
    print(" ".join(f"{head:>9}" for head in heads))
    for size in sizes:
        some = first(cards, size)
        gathered, listed, whole, slow = measure(workspace, some, queries, judge=judge)
        each = CardTable.of(some).nbytes / size
        print(
            f"{size:>9,} {gathered:>9.0f} {each:>9,.0f} {listed:>9.1f} {whole:>9.1f} {slow:>9.1f}",
            flush=True,
        )


@contextmanager
def opened(given: str | None) -> Iterator[tuple[Workspace, Sequence[int], int | None]]:
    """Open the store that is named, or make one up; with the sizes to measure.

    No document stays open, so that each is opened by the query that is timed.
    """
    if given is not None:
        with Workspace(WorkspaceConfig(store=given, create=False, keep=0)) as workspace:
            total = len(workspace.documents())
            size = Path(given).stat().st_size if Path(given).is_file() else None
            yield workspace, sorted({max(1, total // 3), max(1, 2 * total // 3), total}), size
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "notes.db"
        with Workspace(WorkspaceConfig(store=path, keep=0)) as workspace:
            made_up(workspace, SIZES[-1])
            yield workspace, SIZES, path.stat().st_size


def main() -> None:
    """Measure a store, or a made-up one."""
    parser = argparse.ArgumentParser(description="Time questions over many documents.")
    parser.add_argument("--store", help="A store to measure.")
    parser.add_argument("--queries", type=Path, help="A file with a query on each line.")
    parser.add_argument("--sizes", type=int, nargs="*", help="How many documents, several times.")
    parser.add_argument("--judge", action="store_true", help="Let the shipped judge read.")
    given = parser.parse_args()
    queries = QUERIES if given.queries is None else given.queries.read_text("utf-8").splitlines()
    with opened(given.store) as (workspace, sizes, disk):
        report(workspace, given.sizes or sizes, queries, disk, judge=given.judge)


if __name__ == "__main__":
    main()
