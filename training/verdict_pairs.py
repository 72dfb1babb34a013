"""Claims that come with their evidence, as token ids.

    python training/verdict_pairs.py --data DATA --tokenizer tokenizer.json --output pairs.json.gz

Reads `verdicts/*.jsonl.gz`: lines `{id, claim, evidence, label}`. A source is called after its
file; Check-COVID's, which the packs have too, has their name, so that both are left out together.
"""

from __future__ import annotations

import argparse
import gzip
import json
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Tokenizer

LABELS = {"SUPPORTS": 0, "REFUTES": 1, "NEI": 2}
MOST = 318


@dataclass(frozen=True)
class Pair:
    """A claim and its evidence as token ids, and what the evidence says of it."""

    source: str
    claim: tuple[int, ...]
    evidence: tuple[int, ...]
    label: int


def read_pairs(path: Path | None) -> list[Pair]:
    """Return the pairs of a file, none where there is no file."""
    if path is None:
        return []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        rows = map(json.loads, lines)
        return [Pair(source, tuple(c), tuple(e), label) for source, c, e, label in rows]


def main() -> None:
    """Read, tokenize, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    given = parser.parse_args()
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    tokenizer.no_truncation()
    tokenizer.no_padding()

    def ids(text: str, most: int) -> list[int]:
        found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return found[:most]

    count = 0
    given.output.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(given.output, "wt", encoding="utf-8") as output:
        for path in sorted((given.data / "verdicts").glob("*.jsonl.gz")):
            source = path.name.removesuffix(".jsonl.gz")
            with gzip.open(path, "rt", encoding="utf-8") as lines:
                for one in map(json.loads, lines):
                    label = LABELS[one["label"]]
                    row = [source, ids(one["claim"], 96), ids(one["evidence"], MOST), label]
                    output.write(json.dumps(row) + "\n")
                    count += 1
    print(f"{count} pairs")


if __name__ == "__main__":
    main()
