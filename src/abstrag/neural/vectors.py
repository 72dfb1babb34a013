"""Texts as vectors of their words, and models that remember the vectors of a document.

The memory is anything with `recall` and `remember`; the embedded store has both. Whatever comes
back is what the model said, to the last bit, so a ranking does not change with what is remembered.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from hashlib import blake2b
from typing import Final, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from abstrag.errors import StoreCorrupt
from abstrag.files import file_parts, mapped_arrays
from abstrag.neural.bundle import Aligning
from abstrag.neural.encoder import TextEncoder, Vectors

# Words as the aligner sees them: what the tokenizer cuts at spaces and punctuation.
#
# All pieces of a word belong together, and a number with points or commas inside ("1,250.5") is one
# word. Function words and punctuation carry no content; signs of units and currencies do. Training
# cuts texts by the same rules.

FUNCTION_WORDS: Final = frozenset(
    "a an the of in on at to for by with from as is are was were be been being am do does did done"
    " has have had having it its this that these those there their theirs they them he she his her"
    " hers him we us our ours you your yours i me my mine and or but if then than so such into onto"
    " over under about between among within during per via also both each any some can could may"
    " might shall should will would must s t re ve ll d m".split()
)
_SIGNS: Final = frozenset("%$€£¥°")
_HIDDEN: Final = "[mask]"  # a token that stands for a word nobody is to know
_NUMBER: Final = re.compile(r"\d+(?:[.,]\d+)+")


class Pieces(NamedTuple):
    """A word of a text: its place, and the tokens it is made of."""

    start: int
    end: int
    first: int  # token
    last: int  # token, not included


def words_of(
    text: str, word_ids: Sequence[int | None], offsets: Sequence[tuple[int, int]]
) -> Iterator[Pieces]:
    """Go through all words of an encoded text, function words and punctuation included.

    Tokens that belong to no word, as those around a text, are left out.
    """
    inside = {
        place: match.start()
        for match in _NUMBER.finditer(text)
        for place in range(match.start(), match.end())
    }
    known: object = None
    begun: Pieces | None = None
    for place, (word, (start, end)) in enumerate(zip(word_ids, offsets, strict=True)):
        if word is None:
            continue
        key = ("number", inside[start]) if start in inside else ("word", word)
        if begun is not None and key == known and begun.last == place:
            begun = begun._replace(end=end, last=place + 1)
            continue
        if begun is not None:
            yield begun
        begun, known = Pieces(start, end, place, place + 1), key
    if begun is not None:
        yield begun


def content_words(
    text: str, word_ids: Sequence[int | None], offsets: Sequence[tuple[int, int]]
) -> list[Pieces]:
    """Return the words that carry content; all of them where none does."""
    words = list(words_of(text, word_ids, offsets))
    return [word for word in words if has_content(text[word.start : word.end].lower())] or words


def has_content(word: str) -> bool:
    """Tell whether a word, in lower case, is more than grammar or punctuation."""
    if word in _SIGNS:
        return True
    return any(c.isalnum() for c in word) and word not in FUNCTION_WORDS and word != _HIDDEN


# One text: vectors of its words, and the bytes they are kept as.

_SCALE: Final = 127  # a component of a vector of length 1, as a signed byte
_HEAD: Final = np.dtype([("words", "<u4"), ("dimensions", "<u2"), ("gist", "<u2")])

Spans = npt.NDArray[np.int32]


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
                rounded(self.vectors).tobytes(),
                rounded(self.gist).tobytes(),
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
            spread(vectors.reshape(count, wide)),
            weights.astype(np.float32),
            spread(whole),
        )


def spread(whole: npt.NDArray[np.int8]) -> Vectors:
    """Return numbers of signed bytes as they were, but for rounding."""
    found: Vectors = whole.astype(np.float32) / np.float32(_SCALE)
    return found


def rounded(vectors: Vectors) -> npt.NDArray[np.int8]:
    """Return components of vectors of length 1 as signed bytes."""
    return np.rint(np.asarray(vectors) * _SCALE).astype(np.int8)


# The words of all texts of a document, as the aligner has read them: one table, kept in one file.
#
# The file is mapped into memory, so that opening it costs nothing and a search reads what it needs.
# Vectors are signed bytes. A long document has its words in groups too: whoever looks for the words
# near another one looks at the middle of each group first.

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


# Groups of words that lie near one another: k-means on the sphere, over a sample of the words.

GROUPS: Final = 1024
_SAMPLE: Final = 64 * GROUPS  # words that the middles are found with
_ROUNDS: Final = 6
_GROUPED_AT_ONCE: Final = 16_384


def grouped(vectors: Bytes) -> tuple[Bytes, npt.NDArray[np.uint16]]:
    """Return the middles of the groups, and the group of each word: that of the nearest middle."""
    chance = np.random.default_rng(0)
    drawn = chance.choice(len(vectors), min(_SAMPLE, len(vectors)), replace=False)
    sample = spread(vectors[np.sort(drawn)])
    middles = sample[chance.choice(len(sample), min(GROUPS, len(sample)), replace=False)]
    for _ in range(_ROUNDS):
        own = _nearest(sample, middles)
        sums = np.zeros_like(middles)
        np.add.at(sums, own, sample)
        empty = np.bincount(own, minlength=len(middles)) == 0
        sums[empty] = middles[empty]
        middles = sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9)
    kept = rounded(middles)
    middles = spread(kept)
    parts = [
        _nearest(spread(vectors[start : start + _GROUPED_AT_ONCE]), middles)
        for start in range(0, len(vectors), _GROUPED_AT_ONCE)
    ]
    return kept, np.concatenate(parts).astype(np.uint16)


def _nearest(rows: Vectors, middles: Vectors) -> npt.NDArray[np.int64]:
    found = [
        (rows[start : start + _GROUPED_AT_ONCE] @ middles.T).argmax(axis=1)
        for start in range(0, len(rows), _GROUPED_AT_ONCE)
    ]
    return np.concatenate(found)


EMBEDDINGS: Final = "embeddings"
ANYWHERE: Final = ""  # in place of a document's content: what was said belongs to no document
_KEY_BYTES: Final = 16


class ValueCache(Protocol):
    """Keeps short values by kind, content of a document, model and key."""

    def recall(
        self, kind: str, content_hash: str, model: str, keys: Sequence[bytes]
    ) -> dict[bytes, bytes]:
        """Return the values of those keys that are remembered."""
        ...

    def remember(
        self, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
    ) -> None:
        """Keep values by their keys."""
        ...


class FileCache(Protocol):
    """Keeps files by content of a document and name; what it gives is not read into memory."""

    def get(self, content_hash: str, name: str) -> memoryview | None:
        """Return the bytes of a file, or None."""
        ...

    def put(self, content_hash: str, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Keep a file, where the disk takes it."""
        ...


@runtime_checkable
class MappedMemory(Protocol):
    """A memory that has files too, or a place where there may be some."""

    @property
    def mapped(self) -> FileCache | None:
        """The files."""
        ...


class NamedModel(Protocol):
    """A model that names itself to the byte."""

    @property
    def fingerprint(self) -> str:
        """What it says is kept under this."""
        ...


class TextAligner(Protocol):
    """Reads texts into vectors of words; the shipped one is `abstrag.neural.aligner.Aligner`."""

    @property
    def fingerprint(self) -> str:
        """Names the model to the byte."""
        ...

    @property
    def constants(self) -> Aligning:
        """What turns its cosines into prices."""
        ...

    def read(self, texts: Sequence[str]) -> list[AlignedText]:
        """Return each text as vectors of its words, in their order."""
        ...


class CachedEncoder:
    """Embeds each text of a document once; implements `TextEncoder`."""

    def __init__(self, encoder: TextEncoder, memory: ValueCache, *, content_hash: str) -> None:
        self.fingerprint = encoder.fingerprint
        self._encoder = encoder
        self._memory = memory
        self._content = content_hash

    def __repr__(self) -> str:
        """Name the model: where its vectors are kept makes no difference."""
        return repr(self._encoder)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text, in their order."""
        return kept_vectors(self._memory, self._content, self._encoder.embed, self, texts)


class CachedAligner:
    """Reads each text of a document once; implements `TextAligner`."""

    def __init__(self, aligner: TextAligner, memory: ValueCache, *, content_hash: str) -> None:
        self.fingerprint = aligner.fingerprint
        self.constants = aligner.constants
        self._aligner = aligner
        self._memory = memory
        self._content = content_hash

    def __repr__(self) -> str:
        """Name the model: where its vectors are kept makes no difference."""
        return repr(self._aligner)

    def read(self, texts: Sequence[str]) -> list[AlignedText]:
        """Return each text as vectors of its words, in their order."""
        return kept_texts(self._memory, self._content, self._aligner.read, self, texts)

    def table(self, texts: Sequence[str], added: Sequence[Sequence[Added]] = ()) -> WordTable:
        """Return the words of all texts of the document: as a file has them, or read anew."""
        files = self._memory.mapped if isinstance(self._memory, MappedMemory) else None
        if files is None:
            return WordTable.read(texts, self.read, added)
        name = name_of(texts, self.fingerprint, added)
        data = files.get(self._content, name)
        if data is not None:
            with suppress(ValueError):  # cut off, or of another release: it is written anew
                return WordTable.mapped(data)
        table = WordTable.read(texts, self._aligner.read, added)
        files.put(self._content, name, table.parts())
        return table


def kept_vectors(
    memory: ValueCache,
    content_hash: str,
    embed: Callable[[Sequence[str]], Vectors],
    model: NamedModel,
    texts: Sequence[str],
) -> Vectors:
    """Return one row for each text; only those that are not remembered are embedded."""
    keys = {text: text_key(text) for text in texts}
    place = (EMBEDDINGS, content_hash, model.fingerprint)
    known = memory.recall(*place, list(keys.values()))
    missing = [text for text, key in keys.items() if key not in known]
    if missing or not texts:
        made = np.ascontiguousarray(embed(missing), dtype="<f4")
        if not texts:
            return made
        fresh = {keys[text]: row.tobytes() for text, row in zip(missing, made, strict=True)}
        memory.remember(*place, fresh)
        known = {**known, **fresh}
    rows = [known[keys[text]] for text in texts]
    if len({len(row) for row in rows}) > 1:
        raise StoreCorrupt(
            f"the vectors kept for {model.fingerprint!r} are not all of one length",
            hint="move the store away and index again",
        )
    return np.frombuffer(b"".join(rows), dtype="<f4").reshape(len(rows), -1)


def kept_texts(
    memory: ValueCache,
    content_hash: str,
    read: Callable[[Sequence[str]], list[AlignedText]],
    model: NamedModel,
    texts: Sequence[str],
) -> list[AlignedText]:
    """Return each text as vectors of its words; only those not remembered are read."""
    keys = {text: text_key(text) for text in texts}
    place = (EMBEDDINGS, content_hash, model.fingerprint)
    known = memory.recall(*place, list(keys.values()))
    missing = [text for text, key in keys.items() if key not in known]
    if missing:
        fresh = {
            keys[text]: one.to_bytes() for text, one in zip(missing, read(missing), strict=True)
        }
        memory.remember(*place, fresh)
        known = {**known, **fresh}
    try:
        return [AlignedText.from_bytes(known[keys[text]]) for text in texts]
    except ValueError as error:
        raise StoreCorrupt(
            f"the word vectors kept for {model.fingerprint!r} are damaged: {error}",
            hint="move the store away and index again",
        ) from error


def remembers(memory: ValueCache, content_hash: str, model: NamedModel, text: str) -> bool:
    """Tell whether a text was embedded before."""
    key = text_key(text)
    return key in memory.recall(EMBEDDINGS, content_hash, model.fingerprint, [key])


def text_key(*texts: str) -> bytes:
    """Return a short name for texts; lengths are part of it, so no two splits of one are alike."""
    digest = blake2b(digest_size=_KEY_BYTES)
    for text in texts:
        data = text.encode(errors="surrogatepass")
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()
