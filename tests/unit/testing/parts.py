"""Parts as a user would write them: small, and right."""

import re
from collections.abc import Sequence
from hashlib import sha256

import numpy as np

from abstrag.documents.text import load_text
from abstrag.model.document import Document
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.neural.encoder import Vectors


class LetterEncoder:
    """Puts texts close that begin words with the same letters."""

    fingerprint = "letters-1"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        rows = np.zeros((len(texts), 64), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in re.findall(r"\w+", text.casefold()):
                row[sha256(word[:2].encode()).digest()[0] % 64] += 1
            row /= np.linalg.norm(row) or 1
        return rows


def shared_words(query: Query, segments: Sequence[Segment]) -> list[float]:
    """Judge by the share of the query's words that a segment has."""
    asked = set(query.text.casefold().split())
    return [len(asked & set(each.text.casefold().split())) / len(asked) for each in segments]


def read_shouted(data: bytes, name: str) -> Document:
    """Read a text file whose lines are marked with `!`."""
    return load_text(data.replace(b"!", b""), name)
