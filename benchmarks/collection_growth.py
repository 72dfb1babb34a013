"""How search grows with the number of documents, far beyond those that are at hand.

    python benchmarks/collection_growth.py --store scifact.db --queries claims.txt

Documents beyond those of the store are mixtures: half of the stems and terms of one document's card
and half of another's, with the vectors of the first, which is also what is opened when a mixture
is found. So the card table has as many entries as real documents would give it, and every document
that is opened is a real one. Queries are asked with no document open, and again with the best
ones still open (warm); under `general` the judge is asked as well, and what it said is kept in the
store. Times are processor time of all threads, which other work on the machine does not change;
memory is that of the whole process.
"""

from __future__ import annotations

import argparse
import re
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.collection.card_table import CardTable
from abstrag.collection.cards import Cards, all_cards
from abstrag.collection.searcher import CollectionSearcher
from abstrag.neural.whole_text import default_encoder
from abstrag.search.relevance import ALIGNED, FAST, GENERAL
from abstrag.stores.cards import Bytes, Card, Hashes
from abstrag.stores.open import open_store

SIZES: Final = (1_000, 10_000, 100_000)
PRESETS: Final = {"fast": FAST, "aligned": ALIGNED, "general": GENERAL}


def grown(cards: Cards, size: int) -> Cards:
    """Return so many cards: those there are, then mixtures of two of them each."""
    random, parts = np.random.default_rng(7), tuple(cards.parts)
    pairs = random.integers(0, len(parts), (max(0, size - len(parts)), 2)).tolist()
    mixed = [(_mixture(parts[a][0], parts[b][0], random), parts[a][1]) for a, b in pairs]
    return replace(
        cards,
        documents=(*cards.documents[:size], *(cards.documents[a] for a, _ in pairs)),
        parts=(*parts[:size], *mixed),
    )


def _mixture(one: Card, other: Card, random: np.random.Generator) -> Card:
    stems, counts = _halves((one.stems, one.counts), (other.stems, other.counts), random)
    terms, costs = _halves((one.terms, one.costs), (other.terms, other.costs), random)
    text = int(random.integers(0, 2**63))
    return replace(one, text=text, stems=stems, counts=counts, terms=terms, costs=costs)


def _halves(
    one: tuple[Hashes, Bytes], other: tuple[Hashes, Bytes], random: np.random.Generator
) -> tuple[Hashes, Bytes]:
    """Take about half of the entries of each, every hash once."""
    hashes, values = np.concatenate((one[0], other[0])), np.concatenate((one[1], other[1]))
    kept = random.random(len(hashes)) < 0.5
    found, places = np.unique(hashes[kept], return_index=True)
    return found, values[kept][places]


def measured(many: CollectionSearcher, queries: Sequence[str]) -> tuple[list[float], ...]:
    """Return milliseconds of the shortlist, of a search, and of the same search again."""
    many.search(queries[0])  # models and lexicon are loaded before the clock starts
    listed: list[float] = []
    new: list[float] = []
    warm: list[float] = []
    for query in queries:
        many.forget()
        for times, work in ((listed, many.shortlist), (new, many.search), (warm, many.search)):
            started = time.process_time()
            work(query)
            times.append(1000 * (time.process_time() - started))
    return listed, new, warm


def megabytes() -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) // 1024 if found else 0


def told(times: Sequence[float]) -> str:
    """Return the median and the 95th percentile."""
    return f"{np.percentile(times, 50):9.0f} {np.percentile(times, 95):9.0f}"


def main() -> None:
    parser = argparse.ArgumentParser(description="Time questions over ever more documents.")
    parser.add_argument("--store", required=True)
    parser.add_argument("--queries", type=Path, required=True, help="one on each line")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES)
    parser.add_argument("--preset", choices=PRESETS, default="aligned")
    given = parser.parse_args()
    queries = given.queries.read_text("utf-8").splitlines()
    encoder, preset = default_encoder(), PRESETS[given.preset]
    heads = ("documents", "shelf s", "MB", "listed 50", "95", "new 50", "95", "warm 50", "95")
    print(" ".join(f"{head:>9}" for head in heads), flush=True)
    with open_store(given.store, create=False) as store:
        cards = all_cards(store, encoder=encoder)
        for size in given.sizes:
            some = grown(cards, size)
            started = time.process_time()
            card_table = CardTable.of(some)
            took = time.process_time() - started
            del some
            many = CollectionSearcher(store, preset=preset, encoder=encoder, card_table=card_table)
            times = " ".join(map(told, measured(many, queries)))
            print(f"{size:>9,} {took:>9.1f} {megabytes():>9,} {times}", flush=True)
            del many, card_table


if __name__ == "__main__":
    main()
