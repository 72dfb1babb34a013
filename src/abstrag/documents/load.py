"""From a path or from bytes to a document, whatever the format."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path, PurePath
from stat import S_ISREG
from typing import Any, Final

from abstrag.config import MAX_FILE_BYTES
from abstrag.documents.assemble import OverLimit, document_id
from abstrag.documents.clauses import with_clauses
from abstrag.documents.detect import Format, detect
from abstrag.documents.readers import DocumentReader, checked_read, read_with_own
from abstrag.errors import DocumentError, EmptyDocument, FileMissing, FileTooLarge, NotAFile
from abstrag.memory import collector_relaxed
from abstrag.model.document import Document

OnPage = Callable[[int, int], None]  # told which page is done, of how many


def load(
    path: str | Path, *, max_bytes: int = MAX_FILE_BYTES, on_page: OnPage = lambda _n, _all: None
) -> Document:
    """Read a file of any supported format; `on_page` is told which page is read, of how many."""
    path = Path(path)
    data = read_file(path, max_bytes)
    with collector_relaxed():
        return _document(data, str(path), path.parent, max_bytes, on_page)


def read_by(read: DocumentReader, path: Path, max_bytes: int = MAX_FILE_BYTES) -> Document:
    """Read a file with a reader of the user's."""
    data, who = read_file(path, max_bytes), getattr(read, "__name__", type(read).__name__)
    made = checked_read(lambda: read, who, data, path.name)
    return _named(made, path.name, str(path))


def load_bytes(data: bytes, *, name: str, max_bytes: int = MAX_FILE_BYTES) -> Document:
    """Read a document that is already in memory, such as an upload called `name`."""
    return _document(data, name, None, max_bytes)


def read_file(path: Path, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Read a file that may not be there, may be no file, or may be too large."""
    shown = str(path)
    try:
        # looked at when it is open, so that it stays what it is; a pipe is not waited for
        with open(path, "rb", opener=_without_waiting) as stream:
            found = os.fstat(stream.fileno())
            if not S_ISREG(found.st_mode):
                raise NotAFile(
                    f"{shown!r} is not a regular file", hint="copy its contents to a file"
                )
            if found.st_size > max_bytes:
                raise _too_large(shown, found.st_size, max_bytes)
            return stream.read(max_bytes + 1)
    except IsADirectoryError:
        raise NotAFile(
            f"{shown!r} is a folder, not a file", hint=f"abstrag index {shown} reads all of it"
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise FileMissing(
            f"there is no file {shown!r}", hint="check the path and where you are"
        ) from None
    except PermissionError:
        raise DocumentError(
            f"{shown!r} may not be read", hint="check the permissions of the file and its folders"
        ) from None
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte in it
        raise DocumentError(
            f"{shown!r} cannot be read: {error}", hint="check the path and the disk"
        ) from error


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _document(
    data: bytes,
    source: str,
    folder: Path | None,
    max_bytes: int,
    on_page: OnPage = lambda _n, _all: None,
) -> Document:
    name = Path(source).name or source
    _require_text_name(source)
    if len(data) > max_bytes:
        raise _too_large(name, len(data), max_bytes)
    if not data.strip():
        raise EmptyDocument(
            f"{name!r} is empty", hint="check that the file was saved or downloaded completely"
        )
    own = read_with_own(data, name)
    if own is not None:
        return _named(own, name, source)
    found = detect(data, name)
    try:
        document = _read(found, data, name, folder, on_page)
    except OverLimit as error:
        raise error.within(name) from None
    if found is Format.JSON:  # it says itself what it is called and was made from
        return replace(document, metadata=replace(document.metadata, source=source))
    document = with_clauses(document)
    metadata = replace(document.metadata, source=source, format=found.value)
    return replace(document, id=document_id(name), metadata=metadata)


def _named(own: Document, name: str, source: str) -> Document:
    """Return what a reader that is not ours made, called like its file."""
    stated = own.metadata.format or PurePath(name).suffix.lstrip(".").casefold()
    metadata = replace(own.metadata, source=source, format=stated)
    return replace(own, id=document_id(name), metadata=metadata)


def _require_text_name(source: str) -> None:
    try:
        source.encode()
    except UnicodeEncodeError:
        raise DocumentError(
            f"the name {source!r} is no text in UTF-8", hint="give the file another name"
        ) from None


_READERS: Final = {  # a module of this package and the function in it
    Format.TEXT: ("text", "load_text"),
    Format.MARKDOWN: ("markdown", "load_markdown"),
    Format.HTML: ("html", "load_html"),
    Format.PDF: ("pdf", "load_pdf"),
    Format.DOCX: ("docx", "load_docx"),
    Format.LATEX: ("latex", "load_latex"),
    Format.JSON: ("json_form", "load_json"),
    Format.XLSX: ("xlsx", "load_xlsx"),
    Format.CSV: ("sheet", "load_delimited"),
    Format.PPTX: ("pptx", "load_pptx"),
    Format.EPUB: ("epub", "load_epub"),
    Format.EML: ("mail", "load_eml"),
    Format.MBOX: ("mail", "load_mbox"),
    Format.IMAGE: ("pdf", "load_image"),
}


def _read(found: Format, data: bytes, name: str, folder: Path | None, on_page: OnPage) -> Document:
    """Read a document of a known format; only that format's reader and libraries are loaded."""
    module, function = _READERS[found]
    read = getattr(import_module(f"abstrag.documents.{module}"), function)
    more: dict[Format, tuple[Any, ...]] = {
        Format.LATEX: (folder,),
        Format.PDF: (on_page,),
        Format.IMAGE: (on_page,),
    }
    made: Document = read(data, name, *more.get(found, ()))
    return made


def _too_large(name: str, size: int, limit: int) -> FileTooLarge:
    return FileTooLarge(
        f"{name!r} has {_megabytes(size)}, the limit is {_megabytes(limit)}",
        hint="split the file, or raise the limit: --max-mb, or max_file_bytes in Settings",
    )


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.1f} MB" if size >= 2**20 else f"{size:,} bytes"
