"""δ_abs between two expressions: Wu–Palmer where WordNet knows both, else how close they mean."""

from __future__ import annotations

from abstrag.indexing.abstraction.nominals import class_key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.distances import abstraction_distance
from abstrag.neural.encoder import TextEncoder

_SENSES = 3  # of each word, the most frequent


class Distances:
    """Prices concept edges; the model that proposed them has no say in it."""

    def __init__(self, encoder: TextEncoder) -> None:
        self._encoder = encoder

    def __call__(self, left: str, right: str, *, one_way: bool) -> float:
        """Return δ_abs of two expressions, rounded to what a cost can tell apart."""
        similar = _wu_palmer(left, right)
        cosine = None
        if similar is None:
            a, b = self._encoder.embed([left, right])
            cosine = float(a @ b)
        return round(abstraction_distance(similar, cosine, one_way=one_way), 4)


def _wu_palmer(left: str, right: str) -> float | None:
    """Return the similarity of the closest senses; None when WordNet lacks one of the two."""
    net = wordnet()
    a, b = (net.synsets(class_key(words), Pos.NOUN)[:_SENSES] for words in (left, right))
    if not a or not b:
        return None
    return max(min(1.0, net.wup(x, y)) for x in a for y in b)
