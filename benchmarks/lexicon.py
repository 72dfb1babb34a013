"""How fast the lexicon loads and answers.

    python benchmarks/lexicon.py [--pairs 200000]

Pairs are drawn at random from all nouns and verbs; "cold" meets each synset for the first time,
"warm" is a document's worth of synsets compared over and over.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from collections.abc import Callable
from typing import Final

import numpy as np

from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import DATA, WordNet

SEED: Final = 7
WARM_SYNSETS: Final = 500
WORDS: Final = ("dog", "collaboration", "chip supplier", "New York", "geese", "xyzzy")


def seconds(work: Callable[[], object], *, best_of: int = 1) -> float:
    times = []
    for _ in range(best_of):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def held_bytes() -> int:
    tracemalloc.start()
    kept = WordNet.load(DATA)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return held if len(kept) else 0


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the lexicon.")
    parser.add_argument("--pairs", type=int, default=200_000)
    n = parser.parse_args().pairs
    first_load = seconds(lambda: WordNet.load(DATA))
    load = seconds(lambda: WordNet.load(DATA), best_of=5)
    wn = WordNet.load(DATA)
    taxonomic = sum(wn.pos(s) in (Pos.NOUN, Pos.VERB) for s in range(len(wn)))
    pairs = np.random.default_rng(SEED).integers(taxonomic, size=(n, 2))
    warm = pairs % WARM_SYNSETS

    def scalar(some: list[list[int]]) -> None:
        for a, b in some:
            wn.wup(a, b)

    def look_up() -> None:
        for word in WORDS:
            wn.synsets(word, Pos.NOUN)

    rates = {
        "wup_many, pairs/s": n / seconds(lambda: wn.wup_many(pairs), best_of=3),
        "wup cold, pairs/s": n / seconds(lambda: scalar(pairs.tolist())),
        "wup warm, pairs/s": n / seconds(lambda: scalar(warm.tolist())),
        "synsets, words/s": len(WORDS) / seconds(look_up, best_of=100),
    }
    print(f"{wn!r}, {len(wn):,} synsets")
    print(f"{'file':<20} {DATA.stat().st_size / 1e6:>12.2f} MB")
    print(f"{'memory held':<20} {held_bytes() / 1e6:>12.2f} MB")
    print(f"{'first load':<20} {first_load * 1e3:>12.1f} ms")
    print(f"{'load, best of 5':<20} {load * 1e3:>12.1f} ms")
    for label, rate in rates.items():
        print(f"{label:<20} {rate:>12,.0f}")


if __name__ == "__main__":
    main()
