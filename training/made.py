"""Documents that questions are written about, and the questions once they are written.

    python training/made.py --data DATA --tokenizer tokenizer.json --output unasked.npz
    python training/made.py --data DATA --tokenizer tokenizer.json --output made.npz \
        --queries made.jsonl

The first has no queries; `questions.py` writes some. The second has them, under sources of their
own (`made-scifact`). A line is `{"document": 7, "style": "scifact", "gold": [3], "query": "…"}`,
the document being its number in the first file; `.gz` is read too. Of SciFact it is the whole
corpus, of the others the documents of the tuning split; the `report` part of each is left out.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from prepare import Writer, read_tokenizer
from sources import SOURCES

from abstrag_bench.baselines.bm25 import Bm25
from abstrag_bench.baselines.system import Pool
from abstrag_bench.case import Case, SplitPart, part_of
from abstrag_bench.datasets import scifact
from abstrag_bench.datasets.load import load_dataset

ABOUT = ("scifact", "qasper", "covidqa", "xquad", "contractnli")


def documents(data: Path) -> Iterator[tuple[str, Pool]]:
    """Go through the documents, each once, in a fixed order."""
    for source in ABOUT:
        if source == "scifact":
            pools = scifact.corpus(data)
        else:
            name, split = SOURCES[source]
            cases = load_dataset(name, data, split).cases
            pools = {case.document.id: case.document for case in cases}
        for pool in pools.values():
            if part_of(pool.id) is SplitPart.TUNE and len(pool.elements) > 1:
                yield f"made-{source}", pool


def main() -> None:
    """Read, tokenize, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--queries", type=Path)
    given = parser.parse_args()
    asked: dict[int, list[dict[str, Any]]] = {}
    if given.queries:
        packed = given.queries.suffix == ".gz"
        with (gzip.open if packed else open)(given.queries, "rt", encoding="utf-8") as lines:
            for one in map(json.loads, lines):
                asked.setdefault(one["document"], []).append(one)
    writer = Writer(read_tokenizer(given.tokenizer), [f"made-{source}" for source in ABOUT])
    lexical = Bm25(stem=True)
    for number, (source, pool) in enumerate(documents(given.data)):
        writer.document(source, pool)
        if number in asked:
            lexical.index(pool)
        for place, one in enumerate(asked.get(number, ())):
            query = str(one["query"])
            ranked = lexical.search(query, len(pool.elements))
            gold = tuple(pool.ids[int(i)] for i in one["gold"])
            case = Case(source, "made", f"{number}.{place}", pool, query, gold)
            writer.case(source, case, ranked)
    writer.save(given.output)
    print(f"{len(writer.documents)} documents, {len(writer.asked)} queries")


if __name__ == "__main__":
    main()
