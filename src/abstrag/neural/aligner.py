"""The aligner: reads a text once and gives a vector for each of its words, and one for the whole.

    aligner = default_aligner()
    (asked,) = aligner.read(["Did sales decline?"])
    (said,) = aligner.read(["Revenue fell by 3 %."])
    aligner.prices.of_words(asked.vectors @ said.vectors.T)   # rows: Did, sales, decline

How well a word is met by another is a price: 0 for certainly, 4 for not at all. A text is read by
itself, so that a document's words are read when it is indexed and a question's when it is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from abstrag.config import MAX_GAP
from abstrag.errors import InputError, ResourceMissing
from abstrag.neural.bundle import MODEL, REMEDY, TOKENIZER, WEIGHTS, Aligning, Bundle, Task
from abstrag.neural.content_words import content_words
from abstrag.neural.encoder import Vectors
from abstrag.neural.runtime import session_of
from abstrag.neural.side_by_side import side_by_side, thread_count
from abstrag.neural.tokens import Tokenizer

ALIGNER: Final = WEIGHTS / "aligner"
_SCALE: Final = 127  # a component of a vector of length 1, as a signed byte
_HEAD: Final = np.dtype([("words", "<u4"), ("dimensions", "<u2"), ("gist", "<u2")])

Spans = npt.NDArray[np.int32]
Prices = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text as the aligner has read it; rows are its content words, in their order.

    Vectors are those of signed bytes: what is kept and what was just read are equal.
    """

    spans: Spans  # words, 2: where each begins and ends in the text
    vectors: Vectors  # words, dimensions; of length 1 but for rounding
    weights: npt.NDArray[np.float32]  # words: what each counts in a query; they sum to 1
    gist: Vectors

    def __len__(self) -> int:
        return len(self.spans)

    def keeping(self, kept: npt.NDArray[np.bool_]) -> AlignedText:
        """Return the text with some of its words alone; their weights sum to 1 again."""
        weights = self.weights[kept]
        share = weights / max(float(weights.sum()), 1e-9)
        return AlignedText(self.spans[kept], self.vectors[kept], share, self.gist)

    def to_bytes(self) -> bytes:
        """Return it as it is kept."""
        head = np.array([(len(self), self.vectors.shape[1], len(self.gist))], _HEAD)
        return b"".join(
            (
                head.tobytes(),
                self.spans.astype("<i4").tobytes(),
                self.weights.astype("<f4").tobytes(),
                _rounded(self.vectors).tobytes(),
                _rounded(self.gist).tobytes(),
            )
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> AlignedText:
        """Read what `to_bytes` wrote.

        Raises:
            ValueError: The bytes are something else.
        """
        head = np.frombuffer(data, _HEAD, count=1)[0]
        count, wide, gist = int(head["words"]), int(head["dimensions"]), int(head["gist"])
        parts, at = [], _HEAD.itemsize
        for kind, size in (("<i4", 2 * count), ("<f4", count), ("i1", count * wide), ("i1", gist)):
            parts.append(np.frombuffer(data, kind, count=size, offset=at))
            at += parts[-1].nbytes
        if at != len(data):
            raise ValueError(f"{len(data)} bytes, not {at}")
        spans, weights, vectors, whole = parts
        return cls(
            spans.reshape(count, 2).astype(np.int32),
            _spread(vectors.reshape(count, wide)),
            weights.astype(np.float32),
            _spread(whole),
        )


@dataclass(frozen=True, slots=True)
class PriceList:
    """Turns cosines into prices: log(1 + exp(offset − steep · cosine)), at most 4."""

    constants: Aligning

    def of_words(self, cosine: npt.NDArray[Any]) -> Prices:
        """Return what it costs to take one word for another."""
        return _price(cosine, self.constants.word_steep, self.constants.word_offset)

    def of_gist(self, cosine: npt.NDArray[Any]) -> Prices:
        """Return what it costs to take a text for being about the same as another."""
        return _price(cosine, self.constants.gist_steep, self.constants.gist_offset)


class Aligner:
    """Reads texts into vectors of words; safe to share between threads.

    What it makes of a text depends on nothing but the text. Of a long one only the first
    `max_tokens` tokens are read. It is a `TextEncoder` too, by the vector of the whole.
    """

    def __init__(self, bundle: Bundle, *, threads: int | None = None) -> None:
        if bundle.manifest.aligning is None:
            raise ResourceMissing(
                f"the manifest of {str(bundle.folder)!r} does not say what a cosine costs",
                hint=REMEDY,
            )
        self.threads = thread_count(threads)
        self.fingerprint = bundle.fingerprint
        self.constants: Aligning = bundle.manifest.aligning
        self.prices = PriceList(self.constants)
        self.dimensions = self.constants.gist_dimensions
        self.word_dimensions = bundle.manifest.dimensions
        self.max_tokens = bundle.manifest.max_tokens
        self._bundle = bundle
        self._lock = Lock()
        self._parts: tuple[Tokenizer, Any] | None = None

    @classmethod
    def load(
        cls, folder: Path = ALIGNER, *, threads: int | None = None, later: bool = False
    ) -> Aligner:
        """Read a model that `tools.export` wrote; `threads` is every core by default.

        With `later`, only the manifest is read now, and the rest when there is a text to read.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """
        made = cls(Bundle.open(folder, Task.ALIGN), threads=threads)
        if not later:
            made.prepare()
        return made

    def prepare(self) -> None:
        """Load what is still to be loaded.

        Raises:
            ResourceMissing: A file is missing, damaged or cannot be run.
        """
        self._loaded()

    def __repr__(self) -> str:
        """Name the model, so that a fingerprint made of this changes with it."""
        return f"Aligner({self.fingerprint!r})"

    def read(self, texts: Sequence[str]) -> list[AlignedText]:
        """Return each text as vectors of its words, in their order."""
        if isinstance(texts, str):
            raise InputError("read takes several texts, and got one string", hint="read([text])")
        unique = list(dict.fromkeys(texts))
        made = side_by_side(self._read_one, unique, threads=self.threads, size=len)
        found = dict(zip(unique, made, strict=True))
        return [found[text] for text in texts]

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vector of the whole of each text."""
        rows = [one.gist for one in self.read(texts)]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    def _loaded(self) -> tuple[Tokenizer, Any]:
        if self._parts is None:
            with self._lock:
                if self._parts is None:
                    manifest = self._bundle.manifest
                    tokens = Tokenizer(
                        self._bundle.read(TOKENIZER),
                        limit=manifest.max_tokens,
                        vocabulary=manifest.vocabulary,
                    )
                    self._parts = tokens, session_of(self._bundle.read(MODEL))
        return self._parts

    def _read_one(self, text: str) -> AlignedText:
        tokens, session = self._loaded()
        ids, word_ids, offsets = tokens.placed(text)
        words = content_words(text, word_ids, offsets)
        if not words:
            return AlignedText(
                np.zeros((0, 2), np.int32),
                np.zeros((0, self.word_dimensions), np.float32),
                np.zeros(0, np.float32),
                np.zeros(self.dimensions, np.float32),
            )
        given = np.array([ids], dtype=np.int64)
        states, logits, gist = (
            made[0]
            for made in session.run(
                ["words", "weights", "gist"],
                {"input_ids": given, "attention_mask": np.ones_like(given)},
            )
        )
        firsts = np.array([word.first for word in words])
        sizes = np.array([word.last - word.first for word in words])[:, None]
        # words may leave gaps between them, so each is summed by its own two ends
        sums = np.vstack((np.zeros((1, states.shape[1]), states.dtype), states.cumsum(axis=0)))
        means = (sums[firsts + sizes[:, 0]] - sums[firsts]) / sizes
        levels = np.concatenate((np.zeros(1, logits.dtype), logits.cumsum()))
        weights = np.logaddexp(0.0, (levels[firsts + sizes[:, 0]] - levels[firsts]) / sizes[:, 0])
        return AlignedText(
            np.array([(word.start, word.end) for word in words], np.int32),
            _spread(_rounded(_unit(means))),
            (weights / weights.sum()).astype(np.float32),
            _spread(_rounded(gist)),
        )


@cache
def default_aligner() -> Aligner:
    """Return the packaged aligner; its graph is loaded when it first reads a text."""
    return Aligner.load(later=True)


def _price(cosine: npt.NDArray[Any], steep: float, offset: float) -> Prices:
    raw = np.logaddexp(0.0, offset - steep * np.asarray(cosine, np.float64))
    return np.minimum(raw, MAX_GAP)


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    found: Vectors = rows / np.maximum(lengths, 1e-12)
    return found


def _spread(rounded: npt.NDArray[np.int8]) -> Vectors:
    found: Vectors = rounded.astype(np.float32) / np.float32(_SCALE)
    return found


def _rounded(vectors: Vectors) -> npt.NDArray[np.int8]:
    return np.rint(np.asarray(vectors) * _SCALE).astype(np.int8)
