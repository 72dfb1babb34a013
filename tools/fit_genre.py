"""Fit the small model of genre on public sets, and print how it does on documents held back.

    python tools/fit_genre.py [--data ../shared/data] [--write]

Half of the documents of each set, by a hash of their text, are fitted on. Files of filings take no
part: they may not be used to make weights.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from hashlib import sha256
from pathlib import Path
from typing import Final

import numpy as np

from abstrag.indexing.genre import GenreModel, features
from abstrag.model.document import Document, Genre
from tools.genre_table import documents

TARGET: Final = Path("src/abstrag/data/genre/model.json")
STEPS: Final = 3_000
RATE: Final = 0.5
PENALTY: Final = 0.02


def is_held_back(document: Document) -> bool:
    """Tell which half a document belongs to."""
    return sha256(document.text.encode()).digest()[0] < 128


def fitted(rows: list[tuple[str, Genre, np.ndarray]]) -> GenreModel:
    """Fit a softmax by gradient descent; each set of documents weighs the same within its genre."""
    genres = tuple(genre for genre in Genre if any(row[1] is genre for row in rows))
    x = np.stack([row[2] for row in rows])
    y = np.array([genres.index(row[1]) for row in rows])
    per_set = Counter(row[:2] for row in rows)
    sets = Counter(genre for _, genre in per_set)
    weight = np.array([1 / (per_set[row[:2]] * sets[row[1]]) for row in rows])
    weight /= weight.sum()
    mean, scale = x.mean(axis=0), x.std(axis=0) + 0.1
    z, wanted = (x - mean) / scale, np.eye(len(genres))[y]
    weights, bias = np.zeros((len(genres), z.shape[1])), np.zeros(len(genres))
    for _ in range(STEPS):
        logits = z @ weights.T + bias
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        error = (powers / powers.sum(axis=1, keepdims=True) - wanted) * weight[:, None]
        weights -= RATE * (error.T @ z + PENALTY * weights)
        bias -= RATE * error.sum(axis=0)
    return GenreModel(genres, mean.round(4), scale.round(4), weights.round(4), bias.round(4))


def main() -> None:
    """Fit, print what is right among what was held back, and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--write", action="store_true", help=f"write {TARGET}")
    given = parser.parse_args()
    found = [(s, g, d) for s, g, d in documents(given.data) if s != "files"]
    model = fitted([(s, g, features(d)) for s, g, d in found if not is_held_back(d)])
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    for source, genre, document in found:
        if is_held_back(document):
            told = model.probabilities(document)
            asked[source] += 1
            right[source] += max(told, key=lambda each: told[each]) is genre
    for source, count in asked.items():
        print(f"{source:12} {right[source]:3d} of {count:3d}")
    print(f"{'all':12} {right.total():3d} of {asked.total():3d} held back are right")
    if given.write:
        TARGET.parent.mkdir(parents=True, exist_ok=True)
        data = {
            "genres": [genre.value for genre in model.genres],
            "mean": model.mean.tolist(),
            "scale": model.scale.tolist(),
            "weights": model.weights.tolist(),
            "bias": model.bias.tolist(),
        }
        TARGET.write_text(json.dumps(data, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
