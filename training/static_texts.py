"""Write what the static embedder learns from: texts as token ids, and the embedder's vectors.

    python training/static_texts.py --data DATA --output build/training/texts.npz

The texts are the passages and queries of the `tune` parts that `prepare.py` uses, and the SciFact
abstracts no claim there is about; nothing of a document in the `report` part is among them. Long
passages are cut into sentences, and some are taken whole as well. Besides, every token is embedded
by itself: that is where training starts. The embedder is the one that ships, in 8 bits; the figures
in LOG.md are from when that was all-MiniLM-L6-v2 as published.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import numpy as np
from prepare import Ragged, passage_of
from sources import SOURCES

from abstrag.baselines.pool import Pool
from abstrag.bench.datasets.load import load_dataset
from abstrag.bench.split import Part, part_of
from abstrag.neural.bundle import MODEL, TOKENIZER, Bundle, Task
from abstrag.neural.embedder import EMBEDDER, Embedder
from abstrag.neural.runtime import Runtime
from abstrag.neural.side_by_side import side_by_side
from abstrag.neural.tokens import Tokenizer

SHORT = 40  # words; what is longer is cut into sentences
FEWEST = 3  # words of a sentence worth learning from
_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z0-9(\"“])")
ELSEWHERE = len(SOURCES)  # the number of abstracts that belong to no case


def sentences(text: str) -> list[str]:
    """Cut a text after what looks like the end of a sentence."""
    return [part for part in _END.split(text) if len(part.split()) >= FEWEST]


def cut(texts: Iterable[str]) -> Iterator[str]:
    """Go through texts, the long ones sentence by sentence."""
    for text in texts:
        yield from [text] if len(text.split()) <= SHORT else sentences(text)


def gathered(data: Path) -> tuple[dict[str, int], dict[str, int], dict[str, int]]:
    """Return queries, sentences and long passages, each with the number of its source."""
    queries: dict[str, int] = {}
    short: dict[str, int] = {}
    whole: dict[str, int] = {}
    for number, (name, split) in enumerate(SOURCES.values()):
        pools: dict[str, Pool] = {}
        for case in load_dataset(name, data, f"{split}:tune").cases:
            queries.setdefault(case.query, number)
            pools[case.document.id] = case.document
        for pool in pools.values():
            texts = [passage_of(element) for element in pool.elements]
            for text in cut(texts):
                short.setdefault(text, number)
            for text in texts:
                if len(text.split()) > SHORT:
                    whole.setdefault(text, number)
    for text in cut(abstracts(data)):
        short.setdefault(text, ELSEWHERE)
    return queries, short, whole


def abstracts(data: Path) -> Iterator[str]:
    """Go through the sentences of SciFact abstracts outside the report part."""
    with (data / "scifact" / "corpus.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            abstract = json.loads(line)
            if part_of(str(abstract["doc_id"])) is Part.TUNE:
                yield from abstract["abstract"]


def some(texts: dict[str, int], most: int) -> dict[str, int]:
    """Return so many of the texts, chosen by a hash of their words."""
    order = sorted(texts, key=lambda text: sha256(text.encode()).digest())
    return {text: texts[text] for text in order[:most]}


def token_vectors(bundle: Bundle, tokens: Tokenizer, threads: int) -> np.ndarray:
    """Return the embedder's vector of each token by itself."""
    run = Runtime(bundle.read(MODEL), dimensions=bundle.manifest.dimensions)
    alone = [np.array([tokens.begin, i, tokens.end]) for i in range(bundle.manifest.vocabulary)]
    return np.stack(side_by_side(run, alone, threads=threads, size=len))


def main() -> None:
    """Gather, embed, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=30_000)
    parser.add_argument("--passages", type=int, default=1_500, help="long ones, taken whole")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    queries, short, whole = gathered(given.data)
    print(f"{len(queries)} queries, {len(short)} sentences, {len(whole)} long passages", flush=True)
    texts = queries | some(short, given.sentences) | some(whole, given.passages)
    bundle = Bundle.open(EMBEDDER, Task.EMBED)
    limits = {"limit": bundle.manifest.max_tokens, "vocabulary": bundle.manifest.vocabulary}
    tokens = Tokenizer(bundle.read(TOKENIZER), **limits)
    ids = Ragged()
    for text in texts:
        ids.add([int(i) for i in tokens(text)[1:-1]])
    alone = token_vectors(bundle, tokens, given.threads)
    targets = Embedder(bundle, threads=given.threads).embed(list(texts))
    given.output.parent.mkdir(parents=True, exist_ok=True)
    np.savez(
        given.output,
        **ids.arrays("texts"),
        sources=np.array(list(texts.values()), np.int16),
        targets=targets.astype(np.float16),
        tokens=alone,
    )
    print(f"{len(texts)} texts, {len(ids.flat)} tokens")


if __name__ == "__main__":
    main()
