"""Synonyms: words of a document that an embedding finds close, for a model to decide about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from abstrag.indexing.prompted.alignment import Pair
from abstrag.indexing.prompted.merging import alike
from abstrag.model.term import Mention
from abstrag.neural.encoder import TextEncoder

_TERMS: Final = 300  # of a document that are compared, the most frequent
_PAIRS: Final = 60  # of a document that are asked about, the closest
_WORDS: Final = 4  # longer phrases hardly recur


def synonyms(
    labels: Mapping[str, str], mentions: Iterable[Mention], encoder: TextEncoder
) -> dict[Pair, int]:
    """Return close pairs of the terms that are mentioned, each with a segment that has one."""
    counts: Counter[str] = Counter()
    first: dict[str, int] = {}
    for mention in mentions:
        if mention.term in labels and _is_word(mention.term):
            counts[mention.term] += 1
            first.setdefault(mention.term, mention.segment)
    kept = sorted(counts, key=lambda term: (-counts[term], term))[:_TERMS]
    close = alike({term: labels[term] for term in kept}, encoder, _TERMS)
    telling = [(a, b) for a, b in close if not _contained(labels[a], labels[b])][:_PAIRS]
    return {pair: first[pair[0]] for pair in telling}


def _is_word(term: str) -> bool:
    """False for a sense of WordNet and for long phrases."""
    word = term.partition(":")[2]
    return "." not in word and len(word.split()) <= _WORDS


def _contained(left: str, right: str) -> bool:
    """True when one is the other with a modifier or without: the rules have that, at no cost."""
    a, b = (f" {label.casefold()}" for label in (left, right))
    return a.endswith(b) or b.endswith(a)
