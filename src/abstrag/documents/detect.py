"""Which format a file is in, by what it holds; its name only settles ties between text formats."""

from __future__ import annotations

import io
import re
import zipfile
from enum import StrEnum
from pathlib import PurePath
from typing import Final

from abstrag.documents.decode import READABLE, binary, byte_order_mark, wide_encoding
from abstrag.errors import DocumentError, Encrypted, UnknownFormat
from abstrag.files import read_data_file

_PEEK: Final = 64 * 1024


class Format(StrEnum):
    """The formats we read."""

    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"
    PDF = "pdf"
    DOCX = "docx"
    LATEX = "latex"
    JSON = "json"
    XLSX = "xlsx"
    CSV = "csv"
    PPTX = "pptx"
    EPUB = "epub"
    EML = "eml"
    MBOX = "mbox"
    IMAGE = "image"


_LISTS: Final = read_data_file("abstrag.documents", "formats.toml")
_HINTS: Final = {**_LISTS["hints"], "readable": READABLE}
_PARTS: Final = {part: Format(name) for part, name in _LISTS["parts"].items()}


def _by_suffix(lists: dict[str, str]) -> dict[str, Format]:
    return {suffix: Format(name) for name, own in lists.items() for suffix in own.split()}


_SUFFIXES: Final = _by_suffix(_LISTS["suffixes"])
_PACKED: Final = _by_suffix(_LISTS["packed"])
_IMAGES: Final = (b"\x89PNG\r\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*")  # PNG, JPEG, TIFF
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def detect(data: bytes, name: str) -> Format:
    """Tell the format of a file, or refuse it and say what it looks like."""
    if data[:1024].lstrip().startswith(b"%PDF-") or (b"%PDF-" in data[:1024] and b"endobj" in data):
        return Format.PDF
    if data.startswith(_OLE):
        raise _ole(data, name)
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip(data, name)
    if data.startswith(_IMAGES):
        return Format.IMAGE
    for kind, known in _LISTS["magic"].items():
        for magic, what, hint in known:
            if data.startswith(magic.encode("latin-1")) and (kind == "binary" or _has_binary(data)):
                raise UnknownFormat(
                    f"{name!r} is {what}, not a document we read", hint=_HINTS[hint]
                )
    text = _peek(data, name)
    if text.lstrip().startswith("{") and (b'"blocks"' in data or '"blocks"' in text):
        return Format.JSON
    return _text_format(text, name)


def _has_binary(data: bytes) -> bool:
    """True when bytes that no text file holds appear early; "BMW" and "MZ" also begin prose."""
    return any(byte < 9 or 13 < byte < 27 for byte in data[:512])


def _ole(data: bytes, name: str) -> DocumentError:
    def holds(entry: str) -> bool:
        return entry.encode("utf-16-le") in data

    if holds("EncryptedPackage"):
        return Encrypted(
            f"{name!r} is an Office file that needs a password",
            hint="open it in Office, remove the password and save it again",
        )
    for entry, (what, suffix) in _LISTS["old"].items():
        if holds(entry):
            return UnknownFormat(
                f"{name!r} is {what}, which we do not read", hint=f"save it as {suffix}"
            )
    return UnknownFormat(
        f"{name!r} is an old Office file, which we do not read", hint=_HINTS["save"]
    )


def _zip(data: bytes, name: str) -> Format:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, NotImplementedError, ValueError, OSError):
        # cut off: the list of parts stands at the end of a zip file, their names also before each
        parts = ("[Content_Types].xml", *_PARTS, *_LISTS["zips"])
        names = {part for part in parts if part.encode() in data}
        named = _PACKED.get(PurePath(name).suffix.casefold())
        if names <= {"[Content_Types].xml"} and named is not None:
            return named
    for part, found in _PARTS.items():
        if part in names:
            return found
    for part, (what, hint) in _LISTS["zips"].items():
        if part in names:
            raise UnknownFormat(f"{name!r} is {what}, which we do not read", hint=_HINTS[hint])
    raise UnknownFormat(f"{name!r} is a zip archive, not a document", hint=_HINTS["unpack"])


def _peek(data: bytes, name: str) -> str:
    """Return the beginning of a text file, good enough to look for ASCII signs in it."""
    mark = byte_order_mark(data)
    if mark is not None:
        return data[mark[1] : _PEEK].decode(mark[0], "replace")
    wide = wide_encoding(data)
    if wide is None and b"\0" in data:
        raise binary(name)
    return data[:_PEEK].decode(wide or "latin-1", "replace")


_HTML: Final = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*)?(?:<!--(?:(?!-->).)*-->\s*)*+<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)
_FRAGMENT: Final = re.compile(
    r"\s*<(?:p|div|h[1-6]|article|section|main|table|ul|ol)\b[^>]*>", re.IGNORECASE
)
_CLOSING: Final = re.compile(r"</(?:p|div|h[1-6]|article|section|main|table|ul|ol|li)>", re.I)
_XML: Final = re.compile(r"\s*<\?xml\b")
_FENCED: Final = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_TEX_COMMENTS: Final = re.compile(r"\A(?:\s*%[^\n]*\n)*\s*")
_TEX_SURE: Final = re.compile(r"^[ \t]*\\(?:documentclass|documentstyle|begin\{document\})", re.M)
_TEX_CUES: Final = re.compile(
    r"^[ \t]*\\(?:(?:part|chapter|(?:sub)*section|paragraph)\*?[\[{]|begin\{\w+\*?\}|item\b|label\{"
    r"|input\{|(?:re)?newcommand\b|usepackage\b|maketitle\b)",
    re.MULTILINE,
)
_POSTMARK: Final = re.compile(
    r"From \S+ [^\n]*\d:\d\d[^\n]*\n(?:[\w-]+:[^\n]*|[ \t][^\n]*)\n", re.ASCII
)
_HEADER_LINES: Final = re.compile(r"(?:[\w-]+:[^\n]*\n(?:[ \t]+\S[^\n]*\n)*+)++", re.ASCII)
_MAIL: Final = re.compile(
    r"^(received|return-path|message-id|mime-version|delivered-to|dkim-signature):", re.I | re.M
)
_MARKDOWN_CUES: Final = tuple(
    re.compile(cue, re.MULTILINE)
    for cue in (
        r"\A---\r?\n[\w-]+:.*\r?\n(?:.*\r?\n){0,60}?---[ \t]*$",  # front matter
        r"^#{1,6} \S.*\r?\n\s*?(?:\r?\n|[^#\s])",  # heading
        r"^(```|~~~).*\r?\n(?:.*\r?\n)*?\1",  # fenced code
        r"^ {0,3}\|?[ \t]*:?-{3,}:?[ \t]*\|[-:| \t]*$",  # the rule below a table's header
        r"\[[^\]\n]{1,200}\]\((?:https?://|[./#\w])[^)\s]{1,500}\)",  # link
        r"(?<![\w*])\*\*[^\s*][^*\n]*\*\*",  # strong
        r"^\[\^[^\]\s]+\]:",  # footnote
    )
)


def _text_format(text: str, name: str) -> Format:
    named = _SUFFIXES.get(PurePath(name).suffix.casefold())
    if _HTML.match(text) or (
        _FRAGMENT.match(text) and (named is Format.HTML or len(_CLOSING.findall(text)) > 1)
    ):
        return Format.HTML
    if _XML.match(text):
        raise UnknownFormat(f"{name!r} is an XML file", hint="convert it to HTML or text")
    if named is Format.JSON:
        raise UnknownFormat(
            f"{name!r} is JSON, but no document of ours",
            hint='write an object with "title" and a list "blocks"',
        )
    if named is Format.CSV or (named := _mail(text, named)) in (Format.EML, Format.MBOX):
        return named
    if _is_latex(text, named):
        return Format.LATEX
    cues = sum(bool(cue.search(text)) for cue in _MARKDOWN_CUES)
    if named is Format.MARKDOWN or cues >= 2:
        return Format.MARKDOWN
    return named or Format.TEXT


def _mail(text: str, named: Format | None) -> Format | None:
    """Return the kind of mail a file is, by its name or by what only mail programs write."""
    if _POSTMARK.match(text):
        return Format.MBOX
    header = _HEADER_LINES.match(text)
    if header is not None and len(set(map(str.casefold, _MAIL.findall(header[0])))) > 1:
        return Format.EML
    return named


def _is_latex(text: str, named: Format | None) -> bool:
    bare = _TEX_COMMENTS.sub("", _FENCED.sub("", text), count=1)
    if _TEX_SURE.search(bare) and (named is not Format.MARKDOWN or bare.startswith("\\")):
        return True
    cues = len(_TEX_CUES.findall(bare))
    return cues >= 3 or (cues > 0 and named in (Format.LATEX, Format.TEXT, None))
