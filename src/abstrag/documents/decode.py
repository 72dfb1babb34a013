"""From bytes to characters, and never a guess that may be wrong.

Order: a byte order mark, UTF-16 or UTF-32 without one, the encoding the file declares, UTF-8,
Windows-1252 where every odd byte makes sense in a Western text, and last a statistical guess that
must be near certain. Nothing is normalized: spans point into exactly these characters.
"""

from __future__ import annotations

import codecs
import re
from typing import Final

from abstrag.errors import Undecodable, UnknownFormat

READABLE: Final = (  # the hint for whatever is no document
    "give a text, Markdown, HTML, PDF, DOCX, PPTX, XLSX, CSV, EPUB, e-mail, LaTeX or JSON file"
)
_MARKS: Final = (  # UTF-32 first: its little-endian mark begins like that of UTF-16
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE: Final = 64 * 1024  # characters looked at to tell text from data
_GUESS: Final = 1024 * 1024  # bytes the statistical guess looks at
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")
_MAX_CONTROL: Final = 0.005  # share of control characters a text may hold: stray ones do happen
_WESTERN: Final = re.compile(
    # accented letters beside letters, typographic signs anywhere; and no other sign at all
    r"(?:[\x00-\x7f]|[À-ÖØ-öø-ÿŠšŽžŒœŸ]|[‘’‚“”„†‡•…–—‹›«»€™©®°·§¶£¥¢\u00a0¡¿±²³µ¼½¾ªº×])*"
)
_MAX_CHAOS: Final = 0.10
_MIN_COHERENCE: Final = 0.35


def byte_order_mark(data: bytes) -> tuple[str, int] | None:
    """Return the encoding a byte order mark announces, and how many bytes the mark takes."""
    return next(((name, len(mark)) for mark, name in _MARKS if data.startswith(mark)), None)


def wide_encoding(data: bytes) -> str | None:
    """Recognize UTF-16 and UTF-32 without a mark by where their zero bytes stand."""
    sample = data[:4096]
    sample = sample[: len(sample) // 4 * 4]
    if b"\0" not in sample:
        return None
    zeros = [sample[i::4].count(0) / (len(sample) / 4) for i in range(4)]
    empty, full = [z > 0.7 for z in zeros], [z < 0.05 for z in zeros]
    for name, pattern in (
        ("utf-32-le", (0, 1, 1, 1)),
        ("utf-32-be", (1, 1, 1, 0)),
        ("utf-16-le", (0, 1, 0, 1)),
        ("utf-16-be", (1, 0, 1, 0)),
    ):
        if all(empty[i] if wide else full[i] for i, wide in enumerate(pattern)):
            return name
    return None


def decode(data: bytes, name: str, *, declared: str | None = None) -> str:
    """Turn a file's bytes into its characters."""
    mark = byte_order_mark(data)
    if mark is not None:
        return _text(_strict(data[mark[1] :], mark[0], name), name)
    wide = wide_encoding(data)
    if wide is not None:
        return _text(_strict(data, wide, name), name)
    if b"\0" in data:
        raise binary(name)
    for encoding in (declared, "utf-8"):
        text = _try(data, encoding) if encoding else None
        if text is not None:
            return _text(text, name)
    text = _western(data)
    if text is None:
        text = _guess(data)
    if text is None:
        raise _undecodable(name, "no encoding fits well enough to be sure")
    return _text(text, name)


def binary(name: str) -> UnknownFormat:
    """Say that a file holds no text; the caller raises it."""
    return UnknownFormat(f"{name!r} is binary data, not a document", hint=READABLE)


def _strict(data: bytes, encoding: str, name: str) -> str:
    text = _try(data, encoding)
    if text is None:
        raise _undecodable(name, f"it begins as {encoding.upper()} but is not")
    return text


def _try(data: bytes, encoding: str) -> str | None:
    try:
        text = data.decode(encoding)
    except (UnicodeDecodeError, LookupError, ValueError):
        return None
    return text


def _western(data: bytes) -> str | None:
    """Decode as Windows-1252 if what is not ASCII reads like a Western text."""
    text = _try(data, "cp1252")
    if text is None or _WESTERN.fullmatch(text) is None:
        return None
    letters = [char for char in text[:_SAMPLE] if char.isalpha()]
    plain = sum(char < "\x80" for char in letters)
    inside = re.search(r"[A-Za-z][¡¿±²³µ¼½¾×]+[a-z]", text)
    return text if plain >= 0.7 * len(letters) and inside is None else None


def _guess(data: bytes) -> str | None:
    """Ask charset-normalizer, and believe it only when the result is clearly a language."""
    from charset_normalizer import from_bytes  # loaded when all else has failed

    cut = data.rfind(b"\n", 0, _GUESS) + 1 if len(data) > _GUESS else len(data)
    best = from_bytes(data[: cut or _GUESS], threshold=_MAX_CHAOS).best()
    if best is None or best.chaos > _MAX_CHAOS or best.coherence < _MIN_COHERENCE:
        return None
    return _try(data, best.encoding)


def _text(text: str, name: str) -> str:
    """Refuse what decodes but is no text."""
    sample = text[:_SAMPLE]
    if "\0" in text or len(_CONTROL.findall(sample)) > _MAX_CONTROL * len(sample):
        raise binary(name)
    return text


def _undecodable(name: str, problem: str) -> Undecodable:
    return Undecodable(
        f"the bytes of {name!r} are text in no encoding we can tell: {problem}",
        hint="save the file as UTF-8",
    )
