"""An encoder and an aligner that remember what they said about a document.

The memory is anything with `recall` and `remember`; the embedded store has both. Whatever comes
back is what the model said, to the last bit, so a ranking does not change with what is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from hashlib import blake2b
from typing import Final, Protocol, runtime_checkable

import numpy as np

from abstrag.errors import StoreCorrupt
from abstrag.neural.aligned_text import Added, AlignedText, WordTable, name_of
from abstrag.neural.bundle import Aligning
from abstrag.neural.encoder import TextEncoder, Vectors

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
