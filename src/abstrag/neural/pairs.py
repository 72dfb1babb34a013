"""A query and a passage put together for a model that reads both at once.

The model sees [CLS] query [SEP] passage [SEP]. Of a query only so much is kept that room is left; a
passage that does not fit is read in windows that overlap, so that nothing of it goes unread.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from abstrag.errors import InputError, ResourceMissing
from abstrag.neural.bundle import REMEDY, Bundle
from abstrag.neural.encoder import Vectors
from abstrag.neural.loading import Loading
from abstrag.neural.side_by_side import side_by_side, thread_count
from abstrag.neural.tokens import Ids, Tokenizer

AROUND: Final = 3  # tokens of the frame: one at the beginning, one after either text
_OVERLAP: Final = 4  # a window shares one part in so many with the one before


@dataclass(frozen=True, slots=True)
class Pair:
    """Tokens as a model takes them, and to which text each belongs: 0 the query, 1 the passage."""

    row: int  # which passage it is
    ids: Ids
    types: Ids

    def __len__(self) -> int:
        """Count the tokens."""
        return len(self.ids)


def windows(length: int, room: int) -> Iterator[slice]:
    """Cut so many tokens into stretches that fit, the last one reaching exactly to the end."""
    step = room - room // _OVERLAP
    start = 0
    while start + room < length:
        yield slice(start, start + room)
        start += step
    yield slice(max(0, length - room), length)


class PairReader:
    """Runs a model on pairs, one at a time and several side by side.

    What it gives for a pair depends on nothing but the pair: not on its neighbours, their order or
    the number of threads, to the last bit on one machine.
    """

    def __init__(self, bundle: Bundle, *, query_tokens: int, threads: int | None) -> None:
        manifest = bundle.manifest
        if not 0 < query_tokens < manifest.max_tokens - AROUND:
            raise ResourceMissing(
                f"the model {manifest.name!r} reads {manifest.max_tokens} tokens, and its manifest "
                f"gives the query {query_tokens} of them",
                hint=REMEDY,
            )
        self.threads = thread_count(threads)
        self._query_tokens = query_tokens
        self._limit = manifest.max_tokens
        self._parts = Loading(bundle, inputs=2)

    def load(self) -> None:
        """Load the model if it is not loaded yet.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """
        self._parts()

    @property
    def _tokens(self) -> Tokenizer:
        return self._parts().tokens

    def _run(self, ids: Ids, types: Ids) -> Vectors:
        return self._parts().run(ids, types)

    def truncates(self, query: str) -> bool:
        """Say whether only the beginning of a query is read."""
        return len(self._tokens.bare([query])[0]) > self._query_tokens

    def read(self, query: str, passages: Sequence[str]) -> list[list[Vectors]]:
        """Return the logits of each passage's windows; none when either text has no words."""
        if isinstance(passages, str):
            raise InputError("several passages are wanted, and got one string", hint="[passage]")
        unique = {text: row for row, text in enumerate(dict.fromkeys(passages))}
        pairs = self._pairs(query, list(unique))
        made = side_by_side(self._read_one, pairs, threads=self.threads, size=len)
        found: list[list[Vectors]] = [[] for _ in unique]
        for pair, logits in zip(pairs, made, strict=True):
            found[pair.row].append(logits)
        return [found[unique[text]] for text in passages]

    def read_joined(self, query: str, pieces: Sequence[str], *, each: int) -> Vectors | None:
        """Return the logits of a query with several pieces read as one text, in their order.

        Of each piece `each` tokens are read, and of all of them what fits. None when either side
        has no words.
        """
        asked, *texts = self._tokens.bare([query, *pieces])
        front = [self._tokens.begin, *asked[: self._query_tokens], self._tokens.end]
        behind = [token for text in texts if text for token in (*text[:each], self._tokens.end)]
        if not asked or not behind:
            return None
        return self._read_one(self._pair(0, front, behind[: self._limit - len(front)][:-1]))

    def _pairs(self, query: str, passages: Sequence[str]) -> list[Pair]:
        asked, *texts = self._tokens.bare([query, *passages])
        asked = asked[: self._query_tokens]
        if not asked:
            return []
        room = self._limit - AROUND - len(asked)
        front = [self._tokens.begin, *asked, self._tokens.end]
        return [
            self._pair(row, front, text[window])
            for row, text in enumerate(texts)
            if text
            for window in windows(len(text), room)
        ]

    def _pair(self, row: int, front: list[int], text: list[int]) -> Pair:
        ids = np.array([*front, *text, self._tokens.end], dtype=np.int64)
        types = np.ones(len(ids), dtype=np.int64)
        types[: len(front)] = 0
        return Pair(row, ids, types)

    def _read_one(self, pair: Pair) -> Vectors:
        logits = self._run(pair.ids, pair.types)
        if not np.isfinite(logits).all():
            raise ResourceMissing(
                f"the model answered {logits.tolist()!r}, which is no number",
                hint=REMEDY,
            )
        return logits
