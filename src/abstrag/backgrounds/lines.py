"""Files as streams: plain, gzip or bzip2, decoded line by line, and every fault with its place."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Final, cast

from abstrag.errors import BackgroundError

_LONGEST: Final = 64 * 1024 * 1024  # bytes of one line; a line is the most that is ever held
_GZIP: Final = b"\x1f\x8b"
_BZIP2: Final = b"BZh"
_WIDE: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def fault(path: Path, line: int, column: int, what: str, *, hint: str) -> BackgroundError:
    """Say what is wrong in a source, and where."""
    return BackgroundError(f"{str(path)!r} line {line}, column {column}: {what}", hint=hint)


@contextmanager
def opened(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file for reading bytes, unpacked where it is packed; its name does not matter."""
    with _as_it_lies(path) as file:
        head = file.read(len(_BZIP2))
        file.seek(0)
        if head.startswith(_GZIP):
            with gzip.open(file) as unpacked:
                yield cast("io.BufferedReader", unpacked)
        elif head.startswith(_BZIP2):
            with bz2.open(file) as unpacked:
                yield cast("io.BufferedReader", unpacked)
        else:
            yield file


@contextmanager
def _as_it_lies(path: Path) -> Iterator[io.BufferedReader]:
    """Open a file for reading bytes, and say in our words what is wrong with it."""
    try:
        with path.open("rb") as file:
            yield file
    except FileNotFoundError:
        raise BackgroundError(
            f"no Background source at {str(path)!r}", hint="check the path"
        ) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise BackgroundError(
            f"{str(path)!r} is packed and cut off or damaged: {error}", hint="fetch the file again"
        ) from error
    except OSError as error:
        raise BackgroundError(
            f"Background source {str(path)!r} cannot be read: {error}",
            hint="check that it is a file, whole, and that you may read it",
        ) from error


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Go through the lines of a text, numbered from 1, with their line ends.

    UTF-8 with or without a mark in front, or UTF-16 with one.
    """
    with opened(path) as file:
        if file.peek(2).startswith(_WIDE):
            yield from enumerate(_wide(path, file), 1)
            return
        number = 0
        while raw := file.readline(_LONGEST):
            number += 1
            if len(raw) == _LONGEST:
                raise fault(
                    path,
                    number,
                    _LONGEST,
                    "the line does not end",
                    hint="is this a text file with one entry a line?",
                )
            if number == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            yield number, _decoded(path, number, raw)


def _decoded(path: Path, number: int, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        column = len(raw[: error.start].decode("utf-8")) + 1
        byte = raw[error.start]
        raise fault(
            path,
            number,
            column,
            f"byte 0x{byte:02x} is not UTF-8",
            hint="save it as UTF-8, for instance with: iconv -f WINDOWS-1252 -t UTF-8",
        ) from error
    if (at := text.find("\0")) >= 0:
        raise fault(path, number, at + 1, "a NUL character", hint="is this a text file?")
    return text


def _wide(path: Path, file: io.BufferedReader) -> Iterator[str]:
    number, wrapper = 0, io.TextIOWrapper(file, "utf-16", newline="")
    try:
        for text in wrapper:
            number += 1
            yield text
    except UnicodeError as error:
        raise fault(path, number + 1, 1, f"not UTF-16: {error}", hint="save it as UTF-8") from error
    finally:
        wrapper.detach()  # whoever opened the file closes it


def content_digest(path: Path) -> str:
    """Hash the bytes of a file as it lies there, packed or not."""
    with _as_it_lies(path) as file:
        return file_digest(file, "sha256").hexdigest()
