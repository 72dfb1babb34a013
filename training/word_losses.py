"""Losses about single words of queries, one of which was replaced by another.

A word from elsewhere must be unmet; one that means the same must be met by the word that stood
there. The softmax over passages asks only which of them is better, so it does not mind that every
word of a query is met by anything in a sentence about the same subject. These losses do. P =
exp(−price) is how probably a word is met: the logistic curve of `raised`, steep · cosine − offset.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F
from vocabulary import Vocabulary, spans
from words import CONTENT, STARTS

from examples import Ids

SWAPPED, RENAMED, OPPOSED = range(3)
OTHER = 0  # the sort of words that are neither numbers nor names
ASKING = frozenset("what which who whom whose when where why how many much not no".split())
Text = tuple[Ids, Ids]  # ids and marks


@dataclass(frozen=True)
class Variant:
    """A query with one word replaced."""

    kind: int
    row: int  # the query it was made from
    place: int  # of the word among the query's words
    text: Text
    before: int  # key of the word that stood there
    kin: tuple[int, ...]  # keys of the words that may meet what stands there now


def replaced(text: Text, span: tuple[int, int], pieces: Sequence[int]) -> Text:
    """Return a text with other pieces in one place."""
    ids, marks = text
    first, end = span
    new = [CONTENT | STARTS] + [CONTENT] * (len(pieces) - 1)
    return (
        np.concatenate([ids[:first], np.array(pieces, ids.dtype), ids[end:]]),
        np.concatenate([marks[:first], np.array(new, marks.dtype), marks[end:]]),
    )


def variants_of(
    vocabulary: Vocabulary,
    queries: Sequence[tuple[Text, Sequence[int]]],
    shown: Sequence[set[int]],
    chance: random.Random,
    *,
    held: bool = False,
) -> list[Variant]:
    """Return variants of queries, given as texts with the word each token belongs to.

    `shown` are the keys of the words in each query's passages: a word is renamed where it is there.
    With `held` the words that are kept to measure with are replaced, without it the others.
    """
    known: list[list[tuple[int, int, tuple[int, int]]]] = []  # word, place, span
    for (ids, marks), numbers in queries:
        some = []
        if (marks & CONTENT).any():
            for place, (first, end) in enumerate(spans(marks, numbers)):
                word = vocabulary.number(ids[first:end].tolist())
                if word is not None and vocabulary.words[word] not in ASKING:
                    some.append((word, place, (first, end)))
        known.append(some)
    pool: dict[int, list[int]] = {}
    for some in known:
        for word, _, _ in some:
            pool.setdefault(vocabulary.sort[word], []).append(word)
    found = []

    def able(word: int) -> bool:
        return vocabulary.sort[word] == OTHER and vocabulary.words[word] not in ASKING

    def add(kind: int, row: int, word: int, at: tuple[int, tuple[int, int]], new: int) -> None:
        if len(vocabulary.pieces[new]) <= 8:
            text = replaced(queries[row][0], at[1], vocabulary.pieces[new])
            before = vocabulary.base[word] + 1
            found.append(Variant(kind, row, at[0], text, before, tuple(vocabulary.kin(new))))

    for row, some in enumerate(known):
        if some:
            word, place, span = chance.choice(some)
            others = [w for w in pool[vocabulary.sort[word]] if vocabulary.held(w) == held]
            new = chance.choice(others) if others else word
            if vocabulary.base[new] + 1 not in vocabulary.kin(word):
                add(SWAPPED, row, word, (place, span), new)
        here = [one for one in some if vocabulary.base[one[0]] + 1 in shown[row]]
        here = [one for one in here if vocabulary.held(one[0]) == held and able(one[0])]
        for kind, lists in ((RENAMED, vocabulary.friends), (OPPOSED, vocabulary.foes)):
            linked = [one for one in here if lists[vocabulary.base[one[0]]]]
            if linked:
                word, place, span = chance.choice(linked)
                new = vocabulary.inflected(chance.choice(lists[vocabulary.base[word]]), word)
                if vocabulary.base[new] != vocabulary.base[word] and able(new):
                    add(kind, row, word, (place, span), new)
    return found


def among(keys: np.ndarray, variants: Sequence[Variant]) -> np.ndarray:
    """Return which words of passages, (variants, passages, words), may meet what was put in."""
    return np.stack([np.isin(keys[i], one.kin) for i, one in enumerate(variants)])


def word_losses(
    raised: Tensor, there: Tensor, kin: Tensor, original: Tensor, kinds: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the loss of words that must be unmet, and of those that must be met where they stood.

    `raised` is that of the replaced word with each word of each passage, (variants, passages,
    words); of the same shape are which words are there, which may meet it, and which are those
    that stood in the query before.
    """
    low = raised.masked_fill(~there, -30.0)
    best = low.amax(-1)
    free = ~(kin & there).any(-1)
    stood = (original & there).any(-1)
    unmet = raised.new_zeros(())
    for kind in (SWAPPED, OPPOSED):
        for asked in (free & ~stood, free & stood):
            some = F.softplus(best)[asked & (kinds == kind)[:, None]]
            if len(some):
                unmet = unmet + some.mean()
    met = raised.new_zeros(())
    asked = stood & (kinds == RENAMED)[:, None]
    if asked.any():
        right = (original | kin) & there
        high = low.masked_fill(~(original & there), -30.0).amax(-1)
        total = torch.logsumexp(low, -1)
        ours = torch.logsumexp(low.masked_fill(~right, -30.0), -1)
        met = (F.softplus(-high) + (total - ours))[asked].mean()
    return unmet, met


def unchanged(raised: Tensor, before: Tensor, real: Tensor) -> Tensor:
    """Return how far the words that were not replaced are met otherwise than before."""
    aim = torch.sigmoid(before.detach())
    return F.binary_cross_entropy_with_logits(raised, aim, reduction="none")[real].mean()
