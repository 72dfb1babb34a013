"""Turn tuning splits and training packs into one file of token ids, ready for a GPU.

    python training/prepare.py --data DATA --tokenizer tokenizer.json --output build/training

Every document of the `report` part is left out, so that nothing further down can train on one;
`--part report` writes a file of those alone, to measure with. Each document is given one of six
folds by a hash of its id: a recipe is chosen with one fold held out, and only then are the weights
that ship trained on all of them. `lexical.npz` beside it has what stemmed BM25 says of everything.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from sources import SOURCES, fold_of
from tokenizers import Tokenizer
from words import marks

from abstrag.model.answer import Label
from abstrag.neural.runtime import passage
from abstrag_bench.baselines.bm25 import Bm25
from abstrag_bench.baselines.system import Element, Pool, Ranked
from abstrag_bench.case import Case
from abstrag_bench.datasets.load import load_dataset

LABELS = (Label.SUPPORTS, Label.REFUTES, Label.NOT_ENOUGH_INFO)
MOST_TOKENS = 318
MOST_HARD = 64


@dataclass
class Ragged:
    """Lists of different lengths, kept as one flat array and where each begins."""

    flat: list[int] = field(default_factory=list)
    starts: list[int] = field(default_factory=lambda: [0])

    def add(self, values: list[int]) -> int:
        """Append one list and return its number."""
        self.flat.extend(values)
        self.starts.append(len(self.flat))
        return len(self.starts) - 2

    def arrays(self, name: str, kind: Any = np.uint16) -> dict[str, Any]:
        """Return the two arrays as they go into the file."""
        return {f"{name}_flat": np.array(self.flat, kind), f"{name}_at": np.array(self.starts)}


class Writer:
    """Collects passages, documents and queries."""

    def __init__(self, tokenizer: Tokenizer, sources: Sequence[str] = tuple(SOURCES)) -> None:
        self._tokenizer = tokenizer
        self._sources = list(sources)
        self.passages, self.titles, self.queries = Ragged(), Ragged(), Ragged()
        self.passage_words, self.query_words = Ragged(), Ragged()
        self.gold, self.hard = Ragged(), Ragged()
        self.documents: list[tuple[int, int, int, int]] = []  # data set, first, end, fold
        self.asked: list[tuple[int, int]] = []  # document, label
        self.lexical: list[list[float]] = []  # BM25 of each passage of a query's document
        self._numbers: dict[tuple[str, str], tuple[int, dict[str, int]]] = {}

    def ids(self, text: str) -> list[int]:
        """Return the token ids of a text, without the special ones."""
        return self.read(text)[0]

    def read(self, text: str) -> tuple[list[int], list[int]]:
        """Return the token ids of a text, and what `words.py` says of each."""
        found = self._tokenizer.encode(text, add_special_tokens=False)
        return found.ids[:MOST_TOKENS], marks(text, found)[:MOST_TOKENS]

    def document(self, source: str, pool: Pool) -> tuple[int, dict[str, int]]:
        """Add a document if it is new; return its number and where its elements are."""
        key = (source, pool.id)
        if key not in self._numbers:
            number, first = self._sources.index(source), len(self.passages.starts) - 1
            for element in pool.elements:
                ids, words = self.read(passage_of(element))
                self.passages.add(ids)
                self.passage_words.add(words)
            self.titles.add(self.ids(pool.title)[:48])
            self.documents.append((number, first, first + len(pool.elements), fold_of(pool.id)))
            places = {element.id: place for place, element in enumerate(pool.elements)}
            self._numbers[key] = len(self.documents) - 1, places
        return self._numbers[key]

    def case(self, source: str, case: Case, ranked: Sequence[tuple[str, float]]) -> None:
        """Add one query with BM25's ranking of its document, and that document if it is new."""
        document, places = self.document(source, case.document)
        ids, words = self.read(case.query)
        self.queries.add(ids[:96])
        self.query_words.add(words[:96])
        self.gold.add([places[span] for span in case.gold if span in places])
        self.hard.add([places[span] for span, _ in ranked[:MOST_HARD]])
        scores = dict(ranked)
        self.lexical.append([scores.get(span, 0.0) for span in places])
        label = LABELS.index(Label.read(case.label)) if case.label else -1
        self.asked.append((document, label))

    def save_lexical(self, path: Path) -> None:
        """Write what BM25 says, in the form of a judge's logits."""
        np.savez_compressed(
            path,
            q=np.arange(len(self.lexical), dtype=np.int32),
            n=np.array([len(scores) for scores in self.lexical], np.int32),
            l=np.array([score for scores in self.lexical for score in scores], np.float16),
        )

    def save(self, path: Path) -> None:
        """Write everything else."""
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez_compressed(
            path,
            names=np.array(self._sources),
            documents=np.array(self.documents, np.int32).reshape(-1, 4),
            asked=np.array(self.asked, np.int32).reshape(-1, 2),
            **self.passages.arrays("passages"),
            **self.titles.arrays("titles"),
            **self.queries.arrays("queries"),
            **self.passage_words.arrays("passage_words", np.uint8),
            **self.query_words.arrays("query_words", np.uint8),
            **self.gold.arrays("gold"),
            **self.hard.arrays("hard"),
        )


def passage_of(element: Element) -> str:
    """Return an element as models read it."""
    return passage(element.text, section=element.section, headers=element.headers)


def read_tokenizer(path: Path) -> Tokenizer:
    """Return a tokenizer that neither cuts nor pads."""
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def cases(data: Path, part: str, most: int | None) -> Iterator[tuple[str, Case, Ranked]]:
    """Go through every case with stemmed BM25's ranking of its document."""
    for source, (name, split) in SOURCES.items():
        lexical = Bm25(stem=True)
        indexed = None
        for case in load_dataset(name, data, f"{split}:{part}").cases[:most]:
            if len(case.document.elements) < 2:
                continue
            if indexed is not case.document:
                lexical.index(case.document)
                indexed = case.document
            yield source, case, lexical.search(case.query, len(case.document.elements))


def main() -> None:
    """Read, tokenize, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--part", choices=("tune", "report"), default="tune")
    parser.add_argument("--most", type=int, help="cases of each data set, for a quick look")
    given = parser.parse_args()
    writer = Writer(read_tokenizer(given.tokenizer))
    for source, case, ranked in cases(given.data, given.part, given.most):
        writer.case(source, case, ranked)
    name = "examples" if given.part == "tune" else given.part
    writer.save(given.output / f"{name}.npz")
    writer.save_lexical(
        given.output / ("lexical.npz" if name == "examples" else "lexical-report.npz")
    )
    counted = np.bincount([writer.documents[d][0] for d, _ in writer.asked])
    for source, queries in zip(SOURCES, counted, strict=False):
        print(f"{source:12} {queries:6} queries")


if __name__ == "__main__":
    main()
