"""How fast the embedder loads and embeds.

    python benchmarks/embedder.py [--texts 120] [--weights DIR] [--static DIR]

Texts are runs of words of the bundled article: sentences of 20 words and chunks of 150. "Load" is
what a first search waits for, measured in a process of its own: the libraries are imported, the
checksums compared, the graph and the tokenizer built, and one text is embedded. With `--weights`
another export can be measured, such as a float32 one of `python -m tools.export`. A static
model (`--static DIR`) is measured on the sentences a hundred times over.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence
from itertools import cycle, islice
from pathlib import Path
from typing import Final

from abstrag.engine.demo import demo_document
from abstrag.neural.embedder import EMBEDDER, Embedder
from abstrag.neural.encoder import TextEncoder
from abstrag.neural.static import StaticEmbedder

LENGTHS: Final = {"sentence, 20 words": 20, "chunk, 150 words": 150}
THREADS: Final = (1, 2)
ROUNDS: Final = 3
LOAD: Final = """
import sys, time, numpy
begin = time.perf_counter()
from pathlib import Path
from abstrag.neural.embedder import Embedder
embedder = Embedder.load(Path(sys.argv[1]))
loaded = time.perf_counter()
embedder.embed(["Who visited the plant in May?"])
print(loaded - begin, time.perf_counter() - loaded)
"""


def load_seconds(weights: Path) -> tuple[float, float]:
    """Return the best times of a fresh process: to be ready, and for the first text."""
    runs = [
        subprocess.run(
            [sys.executable, "-c", LOAD, str(weights)], capture_output=True, text=True, check=True
        )
        for _ in range(ROUNDS)
    ]
    ready, first = zip(*(map(float, run.stdout.split()) for run in runs), strict=True)
    return min(ready), min(first)


def some_texts(words: Sequence[str], *, length: int, count: int) -> list[str]:
    """Return texts that overlap, but none of which is another's."""
    return [" ".join(islice(cycle(words), 7 * i, 7 * i + length)) for i in range(count)]


def rate(embedder: TextEncoder, texts: Sequence[str]) -> float:
    """Return texts a second, the best of a few rounds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        embedder.embed(texts)
        times.append(time.perf_counter() - start)
    return len(texts) / min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time the embedder.")
    parser.add_argument("--texts", type=int, default=120)
    parser.add_argument("--weights", type=Path, default=EMBEDDER)
    parser.add_argument("--static", type=Path, help="the folder of a static model to time as well")
    given = parser.parse_args()
    words = demo_document().text.split()
    ready, first = load_seconds(given.weights)
    size = sum(file.stat().st_size for file in given.weights.iterdir())
    print(f"{Embedder.load(given.weights)!r}, {size / 1e6:.1f} MB")
    print(f"{'load':<22} {ready * 1e3:>8.0f} ms")
    print(f"{'first text after it':<22} {first * 1e3:>8.0f} ms")
    for label, length in LENGTHS.items():
        texts = some_texts(words, length=length, count=given.texts)
        for threads in THREADS:
            made = rate(Embedder.load(given.weights, threads=threads), texts)
            print(f"{label:<22} {made:>8.0f} a second, threads: {threads}")
    if given.static is not None:
        static = StaticEmbedder.load(given.static)
        label, length = next(iter(LENGTHS.items()))
        made = rate(static, some_texts(words, length=length, count=given.texts) * 100)
        print(f"{static!r}\n{label:<22} {made:>8.0f} a second")


if __name__ == "__main__":
    main()
