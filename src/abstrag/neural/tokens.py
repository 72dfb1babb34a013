"""Text to token ids, as much of it as the model reads."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from abstrag.errors import ResourceMissing
from abstrag.neural.bundle import REMEDY

Ids = npt.NDArray[np.int64]

_SPECIAL: Final = 2  # what stands before and after the tokens of a text
_CHARACTERS: Final = 16  # of a text to look at for each token wanted; most tokens have four or five
_WIDER: Final = 4  # how much more to look at when that was not enough


class Tokenizer:
    """Cuts texts into the tokens of one model; safe to share between threads.

    `limit` is how many the model reads at a time, `vocabulary` how many different ones it knows.
    """

    def __init__(self, data: bytes, *, limit: int, vocabulary: int) -> None:
        self._cutter = _cutter(data)
        known = self._cutter.get_vocab_size()
        if known != vocabulary:
            raise ResourceMissing(
                f"the tokenizer knows {known} tokens and the model {vocabulary}, so it belongs to "
                "another model",
                hint=REMEDY,
            )
        around = self._cutter.encode("").ids
        if len(around) != _SPECIAL:
            raise ResourceMissing(
                f"the tokenizer puts {len(around)} tokens around a text, not one before and one "
                "after",
                hint=REMEDY,
            )
        self.begin, self.end = around
        self._limit = limit

    def __call__(self, text: str) -> Ids:
        """Return the ids of a text as a model reads it; none at all when no word is in it."""
        ids, _ = self._cut(text)
        return np.array(ids if len(ids) > _SPECIAL else (), dtype=np.int64)

    def placed(self, text: str) -> tuple[list[int], list[int | None], list[tuple[int, int]]]:
        """Return the ids of a text, and for each its word and where in the text it stands.

        A token around the text has no word.
        """
        found, cut = self._encoded(text)
        ids, words, places = found.ids, found.word_ids, found.offsets
        if not cut:
            return ids, words, places
        keep = self._limit - 1
        return [*ids[:keep], ids[-1]], [*words[:keep], None], [*places[:keep], (0, 0)]

    def truncates(self, text: str) -> bool:
        """Say whether the model reads only the beginning of a text."""
        return self._cut(text)[1]

    def bare(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the ids of whole texts, however long, with nothing before or after them."""
        valid = [_valid(text) for text in texts]
        found = self._cutter.encode_batch_fast(valid, add_special_tokens=False)
        return [one.ids for one in found]

    def _cut(self, text: str) -> tuple[list[int], bool]:
        """Return the ids that fit, and whether there would be more."""
        found, cut = self._encoded(text)
        ids: list[int] = found.ids
        return ([*ids[: self._limit - 1], ids[-1]], True) if cut else (ids, False)

    def _encoded(self, text: str) -> tuple[Any, bool]:
        """Return the tokens of as much of a text as is needed, and whether some do not fit.

        A word is cut into tokens by itself, so only the last word of a text's beginning can change
        with what follows. It is enough to look at that beginning, however long the text is.
        """
        size = self._limit * _CHARACTERS
        while True:
            found = self._cutter.encode(_valid(text[:size]))
            if size >= len(text) or _settled(found) > self._limit - _SPECIAL:
                break
            size *= _WIDER
        return found, len(found.ids) > self._limit


@lru_cache(maxsize=2)
def _cutter(data: bytes) -> Any:
    """Read a tokenizer; models that ship with the same one share it."""
    from tokenizers import Tokenizer as Cutter  # loaded when a model is, and not before

    try:
        cutter = Cutter.from_str(data.decode())
    except Exception as error:  # the library raises nothing narrower
        raise ResourceMissing(f"the tokenizer cannot be read: {error}", hint=REMEDY) from error
    cutter.no_truncation()
    cutter.no_padding()
    return cutter


def _settled(found: Any) -> int:
    """Count the tokens of all words but the last."""
    words = [word for word in found.word_ids if word is not None]
    return sum(word != words[-1] for word in words)


def _valid(text: str) -> str:
    """Return a text without lone surrogates, which are no characters and have no UTF-8 form."""
    return text.encode(errors="ignore").decode()
