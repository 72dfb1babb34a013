"""Lists of passages that nobody has marked, for a teacher's opinion of texts of every kind.

A list is a query and passages of one document. The query was asked about another document of the
same data set, or is a stretch of a passage: of another document, or of this one, whose passage is
then not in the list. What is near the query by its words comes first, as in marked lists.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

import numpy as np
from words import CONTENT, STARTS

from examples import Examples, Ids

Text = tuple[Ids, Ids]  # ids and marks
ASKED: Final = 0.5  # how often the query is one that somebody asked
SHORTEST, LONGEST = 5, 22  # words of a stretch
_NEAR: Final = 2  # near passages are drawn from so many times as many


class Unmarked:
    """Draws lists; every data set has the same chance, and every document of it."""

    def __init__(self, examples: Examples, without: Sequence[str], vocabulary: int = 30522) -> None:
        self.examples = examples
        self.documents: dict[int, list[int]] = {}
        for number, (source, first, end, _) in enumerate(examples.documents.tolist()):
            if examples.names[source] not in without and end - first > 1:
                self.documents.setdefault(source, []).append(number)
        self.queries: dict[int, list[int]] = {}
        for query in range(len(examples)):
            source = int(examples.documents[examples.document(query), 0])
            if source in self.documents:
                self.queries.setdefault(source, []).append(query)
        self.sources = sorted(self.documents)
        seen = np.bincount(examples.tokens, minlength=vocabulary)
        self._rarity = np.log1p(len(examples.tokens) / (1.0 + seen)).astype(np.float32)
        self._asked = np.zeros(vocabulary, np.float32)

    def draw(self, size: int, hard: int, chance: random.Random) -> tuple[Text, list[int]]:
        """Return a query and so many passages, about `hard` of them near it by their words."""
        source = chance.choice(self.sources)
        _, first, end, _ = self.examples.documents[chance.choice(self.documents[source])].tolist()
        text, left_out = self._query(source, first, end, chance)
        near = self._near(text[0], first, end)
        near = [p for p in near if p != left_out]
        chosen = chance.sample(near[: _NEAR * hard], min(hard, len(near)))
        rest = [p for p in near if p not in chosen]
        chosen += chance.sample(rest, min(len(rest), size - len(chosen)))
        while len(chosen) < size:
            _, begin, stop, _ = self.examples.documents[
                chance.choice(self.documents[source])
            ].tolist()
            chosen.append(chance.randrange(begin, stop))
        return text, chosen

    def _query(
        self, source: int, first: int, end: int, chance: random.Random
    ) -> tuple[Text, int | None]:
        """Return a query, and the passage that must not be shown with it."""
        examples = self.examples
        if source in self.queries and chance.random() < ASKED:
            query = chance.choice(self.queries[source])
            return (examples.query(query), examples.query_words(query)), None
        inside = chance.random() < 0.5
        if not inside:
            number = chance.choice(self.documents[source])
            _, first, end, _ = examples.documents[number].tolist()
        passage = chance.randrange(first, end)
        return self._stretch(passage, chance), passage if inside else None

    def _stretch(self, passage: int, chance: random.Random) -> Text:
        """Return some words of a passage that stand together."""
        ids, marks = self.examples.passage(passage), self.examples.passage_words(passage)
        starts = np.flatnonzero(marks & STARTS)
        long = chance.randint(SHORTEST, LONGEST)
        if len(starts) > long:
            at = chance.randrange(len(starts) - long)
            cut = slice(int(starts[at]), int(starts[at + long]))
            if (marks[cut] & CONTENT).any():
                return ids[cut], marks[cut]
        return ids[:96], marks[:96]

    def _near(self, ids: Ids, first: int, end: int) -> list[int]:
        """Return all passages of a document, those first that share rare tokens with a query."""
        flat, at = self.examples.tokens, self.examples.token_places
        self._asked[ids] = self._rarity[ids]
        begin = int(at[first])
        shared = np.concatenate(([0.0], np.cumsum(self._asked[flat[begin : int(at[end])]])))
        ends = at[first : end + 1] - begin
        sizes = np.diff(ends)
        score = np.diff(shared[ends]) / np.sqrt(20 + sizes)
        self._asked[ids] = 0.0
        found: list[int] = (first + np.argsort(-score, kind="stable")).tolist()
        return found
