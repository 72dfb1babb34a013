"""A small linear model of genre: how a text uses function words, and how it is laid out.

Words of a topic have no say: the model was fitted on sets of documents that are each about one
topic, and would have learnt that instead. `tools/fit_genre.py` makes the weights.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import numpy as np

from abstrag.documents.turns import speakers
from abstrag.language.parser import stop_words
from abstrag.model.document import BlockKind, Document, Genre

_WORD: Final = re.compile(r"[a-z]+|\d+")
_SENTENCE: Final = re.compile(r"[.!?][\"'”’)\]]*(?:\s|$)")
_MARKERS: Final = (  # what texts of a genre write whatever they are about
    r"\bet al\b|\[\d+(?:, ?\d+)*\]",
    r"\b(?:fig(?:ure)?s?|tables?|eq)\.? \d",
    r"\b(?:we|our) (?:show|find|found|propose|present|report|observe|use|demonstrate)\w*",
    r"\b(?:methods?|results?|conclusions?|objective|background)\b",
    r"\bp ?[<=] ?0?\.\d|\b95 ?% ci\b|±",
    r"\b(?:shall|hereby|herein\w*|hereof|hereto|thereof|whereas|pursuant)\b",
    r"\b(?:part(?:y|ies)|agreement|disclos\w+|confidential\w*|terminat\w+|liab\w+)\b",
    r"\b(?:fiscal|revenues?|net (?:income|sales|earnings)|(?:share|stock)holders?|dividends?)\b",
    r"\b(?:tax(?:es)?|assets?|liabilities|lease|impairment|amorti[sz]ation|provision|equity)\b",
    r"\b(?:december|march|june|september) 3[01]\b|\byears? ended\b",
    r"[$€£] ?\d|\d ?(?:million|billion|%)",
    r"\b(?:u[hm]+|yeah|okay|oh|hey|gonna|wanna)\b|\?",
    r"\b(?:said|told|according to|spokes\w+|announced)\b",
    r"\b(?:19|20)\d\d\b",
)
_COMPILED: Final = tuple(re.compile(marker) for marker in _MARKERS)
_LONGEST: Final = 60_000  # characters that are looked at: beginning, middle and end


@dataclass(frozen=True, slots=True)
class GenreModel:
    """Weights of features for each genre; `scale` brings features to one size."""

    genres: tuple[Genre, ...]
    mean: np.ndarray
    scale: np.ndarray
    weights: np.ndarray  # genres × features
    bias: np.ndarray

    def probabilities(self, document: Document) -> dict[Genre, float]:
        """Return how probable each genre is."""
        values = (features(document) - self.mean) / self.scale
        logits = self.weights @ values + self.bias
        powers = np.exp(logits - logits.max())
        return dict(zip(self.genres, (powers / powers.sum()).tolist(), strict=True))


def features(document: Document) -> np.ndarray:
    """Describe a document by how often it uses each function word, by markers and by layout."""
    prose = [b for b in document.blocks if b.kind is not BlockKind.HEADING]
    text = _sampled("\n".join(b.text for b in prose)).casefold()
    words = _WORD.findall(text)
    count = max(1, len(words))
    found = Counter(words)
    used = [math.sqrt(1000 * found[word] / count) for word in function_words()]
    marked = [math.sqrt(1000 * len(each.findall(text)) / count) for each in _COMPILED]
    return np.array([*used, *marked, *_layout(document, prose, text, count)])


def _layout(document: Document, prose: Sequence[object], text: str, words: int) -> list[float]:
    blocks = document.blocks
    headings = sum(b.kind is BlockKind.HEADING for b in blocks)
    tables = sum(b.kind is BlockKind.TABLE for b in blocks)
    turns = speakers(b.text for b in blocks if b.kind is not BlockKind.HEADING).total()
    digits = sum(c.isdigit() for c in text) / max(1, len(text))
    return [
        math.log10(words),
        headings / max(1, len(blocks)),
        tables / max(1, len(blocks)),
        min(1.0, turns / max(1, len(prose))),
        10 * digits,
        math.log10(1 + words / max(1, len(_SENTENCE.findall(text)))),
        float(len(prose) == 1),
    ]


@cache
def function_words() -> tuple[str, ...]:
    """Return the words whose use is counted, in order."""
    return tuple(sorted(word for word in stop_words() if word.isascii() and word.isalpha()))


@cache
def genre_model() -> GenreModel:
    """Return the bundled model."""
    data = json.loads((files("abstrag.data") / "genre" / "model.json").read_text("utf-8"))
    return GenreModel(
        tuple(Genre(name) for name in data["genres"]),
        np.array(data["mean"]),
        np.array(data["scale"]),
        np.array(data["weights"]),
        np.array(data["bias"]),
    )


def _sampled(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    third, middle = _LONGEST // 3, len(text) // 2
    return "\n".join((text[:third], text[middle : middle + third], text[-third:]))
