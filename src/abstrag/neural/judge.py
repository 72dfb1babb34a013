"""The evidence judge: a small cross-encoder that reads a query and a passage together.

    judge = default_judge()
    judge.score("Who visited the plant?", ["The minister toured the factory.", "It rained."])

It says how probably a passage is evidence for the query, on the processor and without a key.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cache
from math import exp
from threading import Thread
from types import MappingProxyType
from typing import Final, Protocol, Self

import numpy as np

from abstrag.errors import InputError, ResourceMissing, StoreCorrupt
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.neural.aligner import Aligner, default_aligner
from abstrag.neural.bundle import REMEDY, WEIGHTS, Bundle, Judging, ModelTask
from abstrag.neural.encoder import Vectors
from abstrag.neural.runtime import (
    BundledModel,
    Ids,
    Loading,
    SideBySide,
    Tokenizer,
    segment_text,
    side_by_side,
    thread_count,
)
from abstrag.neural.vectors import (
    ANYWHERE,
    NamedModel,
    ValueCache,
    has_content,
    remembers,
    text_key,
)

# A query and a passage put together for a model that reads both at once.
#
# The model sees [CLS] query [SEP] passage [SEP]. Of a query only so much is kept that room is left;
# a passage that does not fit is read in windows that overlap, so that nothing of it goes unread.

AROUND: Final = 3  # tokens of the frame: one at the beginning, one after either text
_OVERLAP: Final = 4  # a window shares one part in so many with the one before
_WORD: Final = re.compile(r"\w+")


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


# What anything that scores pairs of texts must do, and how segments are put to it.


class PairScorer(Protocol):
    """Says how probably each passage is evidence for a query.

    The shipped one is `abstrag.neural.judge.EvidenceJudge`; pass your own wherever this type
    stands. A pair must get the same score whatever else is scored with it.
    """

    @property
    def fingerprint(self) -> str:
        """Names the model to the byte: scores of one fingerprint can be kept and compared."""
        ...

    @property
    def wants_title(self) -> bool:
        """Whether the document's title should stand before a passage."""
        ...

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a probability for each passage, in their order."""
        ...


class SegmentJudge(ABC):
    """Makes a scorer of texts a judge of segments, as `abstrag.search.judging.Judge` has it.

    A segment whose canonical text names what the query names, and whose own text does not, is read
    both ways, and the better counts: "It restarted" is evidence about the reactor that "it" is.
    """

    title = ""
    canonical: Mapping[str, str] = MappingProxyType({})
    fingerprint: str

    @property
    def wants_title(self) -> bool:
        """Whether the document's title should stand before a passage."""
        return False

    @abstractmethod
    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a probability for each passage, in their order."""

    def reading(self, title: str) -> Self:
        """Return this judge for the segments of a document with that title.

        A model that was trained without titles is not shown any.
        """
        judge = copy(self)
        judge.title = title if self.wants_title else ""
        return judge

    def resolving(self, canonical: Mapping[str, str]) -> Self:
        """Return this judge with the canonical texts of segments, by their ids."""
        judge = copy(self)
        judge.canonical = canonical
        return judge

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        """Return how probably each segment is evidence for the query."""
        asked = _words(query.reading)
        resolved = [(row, text) for row, s in enumerate(segments) if (text := self._also(s, asked))]
        passages = [segment_text(segment, title=self.title) for segment in segments]
        said = self.score(query.reading, [*passages, *(text for _, text in resolved)])
        found = said[: len(segments)]
        for (row, _), value in zip(resolved, said[len(segments) :], strict=True):
            found[row] = max(found[row], value)
        return found

    def _also(self, segment: Segment, asked: frozenset[str]) -> str | None:
        """Return the canonical text where it has words of the query that the segment has not."""
        text = self.canonical.get(segment.id, segment.text)
        if text == segment.text or not (_words(text) - _words(segment.text)) & asked:
            return None
        return segment_text(replace(segment, text=text), title=self.title)


def _words(text: str) -> frozenset[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word for word in words if has_content(word))


# What a judge has said about a document is remembered, and no pair is read twice.

JUDGEMENTS: Final = "judgements"


class CachedJudge(SegmentJudge):
    """Scores each pair of query and passage once; implements `PairScorer` and a `Judge`."""

    def __init__(self, judge: PairScorer, memory: ValueCache, *, content_hash: str) -> None:
        self.fingerprint = judge.fingerprint
        self._judge = judge
        self._memory = memory
        self._content = content_hash

    def __repr__(self) -> str:
        """Name the model: where its scores are kept makes no difference."""
        return repr(self._judge)

    @property
    def threads(self) -> int:
        """How many pairs are read side by side."""
        return self._judge.threads if isinstance(self._judge, SideBySide) else 1

    @property
    def wants_title(self) -> bool:
        """Whether the judge was trained with the document's title before a passage."""
        return self._judge.wants_title

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a probability for each passage, in their order."""
        return kept_scores(self._memory, self._content, self._judge.score, self, query, passages)


def kept_scores(
    memory: ValueCache,
    content_hash: str,
    score: Callable[[str, Sequence[str]], list[float]],
    model: NamedModel,
    query: str,
    passages: Sequence[str],
) -> list[float]:
    """Return a probability for each passage; only pairs that are not remembered are judged."""
    keys = {text: text_key(query, text) for text in passages}
    place = (JUDGEMENTS, content_hash, model.fingerprint)
    kept = memory.recall(*place, list(keys.values()))
    known = {key: _number(value) for key, value in kept.items()}
    missing = [text for text, key in keys.items() if key not in known]
    if missing:
        said = score(query, missing)
        fresh = {keys[text]: float(one) for text, one in zip(missing, said, strict=True)}
        memory.remember(*place, {key: np.float64(one).tobytes() for key, one in fresh.items()})
        known.update(fresh)
    return [known[keys[text]] for text in passages]


def _number(value: bytes) -> float:
    if len(value) != np.dtype("<f8").itemsize:
        raise StoreCorrupt(
            f"a kept judgement has {len(value)} bytes, not 8",
            hint="move the store away and index again",
        )
    return float(np.frombuffer(value, dtype="<f8")[0])


JUDGE: Final = WEIGHTS / "judge"


class EvidenceJudge(BundledModel, SegmentJudge):
    """Scores pairs of query and passage; implements `PairScorer` and `search.judging.Judge`.

    A score is a probability: the logit is calibrated with the numbers of the manifest. A passage
    longer than the model reads is read in windows that overlap and scores as its best one. Where
    query or passage has no words there is no evidence, and the score is 0.

    With a `memory`, no pair is read twice, whatever document it comes from.
    """

    task = ModelTask.JUDGE
    home = JUDGE

    memory: ValueCache | None = None

    def __init__(self, bundle: Bundle, *, threads: int | None = None) -> None:
        if bundle.manifest.judging is None:
            raise ResourceMissing(
                f"the manifest of {str(bundle.folder)!r} does not say how to read a logit",
                hint=REMEDY,
            )
        self.fingerprint = bundle.fingerprint
        self.max_tokens = bundle.manifest.max_tokens
        self._judging: Judging = bundle.manifest.judging
        self._reader = PairReader(bundle, query_tokens=self._judging.query_tokens, threads=threads)

    def prepare(self) -> None:
        """Load what is still to be loaded."""
        self._reader.load()

    @property
    def threads(self) -> int:
        """How many pairs are read side by side."""
        return self._reader.threads

    @property
    def wants_title(self) -> bool:
        """Whether it was trained with the document's title before a passage."""
        return self._judging.title

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        """Return a probability for each passage, in their order."""
        if self.memory is None:
            return self._read(query, passages)
        return kept_scores(self.memory, ANYWHERE, self._read, self, query, passages)

    def _read(self, query: str, passages: Sequence[str]) -> list[float]:
        return [
            max((self._probability(logit) for logit in logits), default=0.0)
            for logits in self._reader.read(query, passages)
        ]

    def truncates(self, query: str) -> bool:
        """Say whether only the beginning of a query is read."""
        return self._reader.truncates(query)

    def _probability(self, logit: Vectors) -> float:
        z = self._judging.slope * float(logit[0]) + self._judging.offset
        return 1 / (1 + exp(-z)) if z >= 0 else exp(z) / (1 + exp(z))


@cache
def default_judge() -> EvidenceJudge:
    """Return the packaged judge; its graph is loaded when it first reads a pair."""
    return EvidenceJudge.load(later=True)


def preload(*, aligner: bool = True, judge: bool = True) -> Thread:
    """Load the shipped models in the background, the one that is needed first before the other.

    Most of that leaves the interpreter free. Whoever needs a model that is being loaded waits for
    it; nobody has to wait for the thread, but the process does before it ends.
    """
    wanted: list[Aligner | EvidenceJudge] = []
    with suppress(ResourceMissing):  # whoever needs the model gets the error
        wanted += [default_aligner()] if aligner else []
        wanted += [default_judge()] if judge else []
    thread = Thread(target=_prepare, args=(wanted,), name="preload")
    thread.start()
    return thread


def preload_for(
    question: str,
    memory: ValueCache,
    *,
    content_hash: str,
    aligner: bool = True,
    judge: bool = True,
) -> Thread | None:
    """Load in the background what a question needs; nothing where it was put to the text before.

    Then all that the models said about it is remembered, and no model is needed.
    """
    with suppress(ResourceMissing):
        if aligner and remembers(memory, content_hash, default_aligner(), question):
            return None
    return preload(aligner=aligner, judge=judge) if aligner or judge else None


def _prepare(models: Sequence[Aligner | EvidenceJudge]) -> None:
    for model in models:
        with suppress(ResourceMissing):  # it is tried again when the model is used
            model.prepare()
