"""The aligner: reads a text once and gives a vector for each of its words, and one for the whole.

    aligner = default_aligner()
    (asked,) = aligner.read(["Did sales decline?"])
    (said,) = aligner.read(["Revenue fell by 3 %."])
    aligner.prices.of_words(asked.vectors @ said.vectors.T)   # rows: Did, sales, decline

How well a word is met by another is a price: 0 for certainly, 4 for not at all. A text is read by
itself, so that a document's words are read when it is indexed and a question's when it is asked.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from threading import Lock
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from abstrag.config import MAX_GAP
from abstrag.errors import InputError, ResourceMissing
from abstrag.neural.bundle import MODEL, REMEDY, TOKENIZER, WEIGHTS, Aligning, Bundle, ModelTask
from abstrag.neural.encoder import Vectors
from abstrag.neural.runtime import BundledModel, Tokenizer, session_of, side_by_side, thread_count
from abstrag.neural.vectors import (
    ANYWHERE,
    AlignedText,
    ValueCache,
    content_words,
    kept_texts,
    rounded,
    spread,
)

ALIGNER: Final = WEIGHTS / "aligner"
MEAN: Final = "mean.npy"  # of the vectors of whole texts
_TEXTS_KEPT: Final = 128

Prices = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PriceList:
    """Turns cosines into prices: log(1 + exp(offset − steep · cosine)), of words at most 4."""

    constants: Aligning

    def of_words(self, cosine: npt.NDArray[Any]) -> Prices:
        """Return what it costs to take one word for another."""
        return _price(cosine, self.constants.word_steep, self.constants.word_offset)

    def of_gist(self, cosine: npt.NDArray[Any]) -> Prices:
        """Return what it costs to take a text for being about the same as another.

        It is a line of its own in a score and no part of any Gap, so it may exceed 4: texts far
        from a short question are still nearer and farther ones.
        """
        return _price(cosine, self.constants.gist_steep, self.constants.gist_offset, 2 * MAX_GAP)


class Aligner(BundledModel):
    """Reads texts into vectors of words; safe to share between threads.

    What it makes of a text depends on nothing but the text. Of a long one only the first
    `max_tokens` tokens are read. With a `memory`, no text is read twice, whatever document it comes
    from.
    """

    task = ModelTask.ALIGN
    home = ALIGNER

    memory: ValueCache | None = None

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
        # a question is put to many documents, and a sentence is read for its words and as a whole
        self._once = lru_cache(maxsize=_TEXTS_KEPT)(self._read_one)

    def prepare(self) -> None:
        """Load what is still to be loaded."""
        self._loaded()

    def read(self, texts: Sequence[str]) -> list[AlignedText]:
        """Return each text as vectors of its words, in their order."""
        if isinstance(texts, str):
            raise InputError("read takes several texts, and got one string", hint="read([text])")
        if self.memory is None:
            return self._read(texts)
        return kept_texts(self.memory, ANYWHERE, self._read, self, texts)

    def _read(self, texts: Sequence[str]) -> list[AlignedText]:
        if len(texts) == 1:
            return [self._once(texts[0])]
        unique = list(dict.fromkeys(texts))
        made = side_by_side(self._once, unique, threads=self.threads, size=len)
        found = dict(zip(unique, made, strict=True))
        return [found[text] for text in texts]

    def wholes(self, texts: Sequence[str]) -> Vectors:
        """Return the vector of the whole of each text, as gists are compared."""
        rows = [one.gist for one in self.read(texts)]
        return np.stack(rows) if rows else np.zeros((0, self.dimensions), dtype=np.float32)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the vector of the whole of each text, less what all texts have in common."""
        return self.centred(self.wholes(texts))

    def centred(self, rows: Vectors) -> Vectors:
        """Return vectors of whole texts less what all texts have in common.

        Two texts that have nothing to do with one another then have a cosine of about 0; one
        without words has no direction.
        """
        apart = np.where(rows.any(axis=1, keepdims=True), rows - self._mean, 0)
        return _unit(apart.astype(np.float32))

    @cached_property
    def _mean(self) -> Vectors:
        found: Vectors = np.load(io.BytesIO(self._bundle.read(MEAN)), allow_pickle=False)
        return found

    def truncated(self, texts: Sequence[str]) -> tuple[int, ...]:
        """Return the positions of the texts that are longer than the model reads."""
        tokens, _ = self._loaded()
        return tuple(i for i, text in enumerate(texts) if tokens.truncates(text))

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
            spread(rounded(_unit(means))),
            (weights / weights.sum()).astype(np.float32),
            spread(rounded(gist)),
        )


@cache
def default_aligner() -> Aligner:
    """Return the packaged aligner; its graph is loaded when it first reads a text."""
    return Aligner.load(later=True)


def _price(cosine: npt.NDArray[Any], steep: float, offset: float, most: float = MAX_GAP) -> Prices:
    raw = np.logaddexp(0.0, offset - steep * np.asarray(cosine, np.float64))
    return np.minimum(raw, most)


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    found: Vectors = rows / np.maximum(lengths, 1e-12)
    return found
