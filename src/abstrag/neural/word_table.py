"""The words of all texts of a document, as the aligner has read them: one table, kept in one file.

The file is mapped into memory, so that opening it costs nothing and a search reads what it needs.
Vectors are signed bytes. A long document has its words in groups too: whoever looks for the words
near another one looks at the middle of each group first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Final

import numpy as np
import numpy.typing as npt

from abstrag.array_file import file_parts, mapped_arrays
from abstrag.neural.aligned_text import AlignedText, rounded, spread
from abstrag.neural.encoder import Vectors
from abstrag.neural.word_groups import grouped

GROUPED_FROM: Final = 20_000  # texts
_MAGIC: Final = b"ABSTRAG WORDS 2\n"
_AT_A_TIME: Final = 2048  # texts that are read before their vectors become bytes

Bytes = npt.NDArray[np.int8]
Ints = npt.NDArray[np.int32]
Added = tuple[int, int, str]  # where it stands in the text, and the word


@dataclass(frozen=True)
class WordTable:
    """The content words of texts, in their order; `starts[i]` is the first word of text i."""

    starts: npt.NDArray[np.int64]
    spans: Ints  # words, 2: where each begins and ends in its text
    numbers: Ints  # words: which of the vocabulary each is
    vectors: Bytes  # words, dimensions
    gists: Bytes  # texts, dimensions of the whole
    added: npt.NDArray[np.bool_]  # words: whether only another reading of the text has it
    letters: npt.NDArray[np.uint8]  # the vocabulary: UTF-8, a line each
    middles: Bytes  # groups, dimensions; none for a short document
    groups: npt.NDArray[np.uint16]  # words: the group of each; none for a short document

    @property
    def vocabulary(self) -> list[str]:
        """The words that there are."""
        text = self.letters.tobytes().decode()
        return text.split("\n")[:-1]

    @classmethod
    def read(
        cls,
        texts: Sequence[str],
        read: Callable[[Sequence[str]], list[AlignedText]],
        added: Sequence[Sequence[Added]] = (),
    ) -> WordTable:
        """Read texts, some at a time; words that are added to one have no direction."""
        sizes: list[int] = []
        spans, vectors, gists = [], [], []
        known: dict[str, int] = {}
        numbers: list[int] = []
        flags: list[bool] = []
        for start in range(0, len(texts), _AT_A_TIME):
            some = texts[start : start + _AT_A_TIME]
            others = added[start : start + _AT_A_TIME] or [()] * len(some)
            for text, one, more in zip(some, read(some), others, strict=True):
                sizes.append(len(one) + len(more))
                spans += [one.spans, np.array([at[:2] for at in more], np.int32).reshape(-1, 2)]
                vectors.append(rounded(one.vectors))
                vectors.append(np.zeros((len(more), one.vectors.shape[1]), np.int8))
                gists.append(rounded(one.gist))
                flags += [False] * len(one) + [True] * len(more)
                own = [text[a:b] for a, b in one.spans.tolist()]
                every = [word.replace("\n", " ") for word in (*own, *(at[2] for at in more))]
                numbers += [known.setdefault(word, len(known)) for word in every]
        rows = np.concatenate(vectors) if vectors else np.zeros((0, 0), np.int8)
        middles, groups = np.zeros((0, rows.shape[1]), np.int8), np.zeros(0, np.uint16)
        if len(texts) >= GROUPED_FROM:
            middles, groups = grouped(rows)
        lines = "".join(f"{word}\n" for word in known)
        return cls(
            np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))).astype(np.int64),
            np.concatenate(spans) if spans else np.zeros((0, 2), np.int32),
            np.array(numbers, np.int32),
            rows,
            np.stack(gists) if gists else np.zeros((0, 0), np.int8),
            np.array(flags, np.bool_),
            np.frombuffer(lines.encode(errors="replace"), np.uint8),
            middles,
            groups,
        )

    def parts(self) -> Iterator[bytes]:
        """Return the bytes of its file, in pieces."""
        return file_parts(_MAGIC, {each.name: getattr(self, each.name) for each in fields(self)})

    @classmethod
    def mapped(cls, data: memoryview) -> WordTable:
        """Return the table that lies in a file; nothing of it is copied.

        Raises:
            ValueError: The file is something else, or a part of one.
        """
        found = mapped_arrays(_MAGIC, data)
        if set(found) != {each.name for each in fields(cls)}:
            raise ValueError(f"the file has {sorted(found)}")
        return cls(**found)

    def cosines(self, asked: Vectors, words: npt.NDArray[np.int64] | None = None) -> Vectors:
        """Return the cosine of each vector with each word, or with each of some words."""
        chosen = self.vectors if words is None else self.vectors[words]
        found = np.empty((len(asked), len(chosen)), np.float32)
        for start in range(0, len(chosen), _BLOCK):
            found[:, start : start + _BLOCK] = asked @ spread(chosen[start : start + _BLOCK]).T
        return found

    def nearness(self, gist: Vectors) -> Vectors:
        """Return the cosine of a text with each text."""
        found = np.empty(len(self.gists), np.float32)
        for start in range(0, len(found), _BLOCK):
            found[start : start + _BLOCK] = spread(self.gists[start : start + _BLOCK]) @ gist
        return found


_BLOCK: Final = 8192  # rows that are spread at a time, so that they stay in the cache


def name_of(texts: Sequence[str], model: str, added: Sequence[Sequence[Added]] = ()) -> str:
    """Return the name of the file of some texts, read by a model, with words added."""
    digest = blake2b(digest_size=16)
    for text in (model, *texts, repr([list(one) for one in added if one])):
        data = text.encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return f"{digest.hexdigest()}.words"
