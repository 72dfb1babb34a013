"""A mutator of bytes that knows a little about formats; the same seed gives the same mutant.

Zipped formats are mutated inside their parts more often than as a whole, for nearly every change
to the packed bytes only breaks a checksum and never reaches a parser.
"""

import io
import random
import zipfile
import zlib
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from typing import Any

from lxml import etree

Element = Any  # of lxml

MOST_BYTES = 400_000  # of a mutant: cost by sheer size is what crafted files are for
_NUMBERS = (
    *("0", "-1", "1", "255", "65535", "65536", "2147483647", "2147483648", "4294967296"),
    *("9223372036854775808", "-9223372036854775809", "1e308", "1e999", "NaN", "-0.0", "0x41"),
    "9" * 30,
)
_SIGNS = (
    *("\0", "\ufeff", "\u202e", "\u200d", "\u0301", "\ud7ff", "\uffff", "\U0001f600", "\u2028"),
    *("(", ")", "[", "]", "{", "}", "<", ">", '"', "'", "\\", "%", "&", "$", "#", "|", "\t"),
    *("\r", "\n", "\r\n", "\f", "\v", "\x1b", "\xad", "…", "“", "”", "’", "—"),
)
_BYTES = (b"\x00", b"\xff", b"\xfe", b"\x80", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80")
WORDS: Mapping[str, Sequence[str]] = {
    "txt": ("Section 1.1", "(the “Fund”)", "he", "it", "on May 15, 2024", "Q:", "A:", "12 %", "1."),
    "md": ("# ", "- ", "> ", "```", "|", "|---|", "[a](b)", "![", "<b>", "***", "---\n", "[^1]:"),
    "html": ("<table>", "<td colspan=9>", "</p>", "<ul>", "&#x0;", "&amp", "<!--", "<svg>", "<p>"),
    "tex": ("\\begin{", "\\end{", "\\def\\a#1{", "\\input{x}", "\\verb|", "$", "\\\\", "&", "\\a"),
    "pdf": (" obj", "endobj", "stream\n", "/Kids [2 0 R]", "BT", "ET", " Tf", " Tj", "<<", ">>"),
    "docx": ("<w:p>", "</w:p>", "<w:tbl>", 'w:val="', "<w:t>", "<w:tc>", "&lt;", "<w:txbxContent>"),
    "xlsx": ("<c ", 'r="A1"', 't="s"', "<v>", "</v>", "<row>", "<mergeCell ref=", "A1:XFD1048576"),
    "pptx": ("<sp>", "<grpSp>", "<t>", "</p>", "<tbl>", 'type="title"', "<ph", 'r:id="r1"'),
    "epub": ("<h1>", "<item ", 'href="', "..", "/", "<itemref", "<nav>", "&nbsp;"),
    "eml": ("Content-Type: multipart/mixed; boundary=x", "--x", "=?utf-8?q?=", "\n\n", "Date: "),
    "mbox": ("From a@b Thu Jan  1 00:00:00 1970\n", "\nFrom ", "Content-Type: ", "\n\n"),
    "csv": (",", ";", '"', "\n", '""', "=1+1", "\t"),
    "json": ("{", "}", "[", "]", '"text"', '"blocks"', '"span"', '"level"', "null", "true", ":"),
    "png": ("IHDR", "IDAT", "IEND", "PLTE"),
    "query": ("who", "when", "not", "in 2024", "more than", "or", '"', "Section 2", "FY18", "?"),
    "http": ("Content-Length: ", "Transfer-Encoding: chunked", "\r\n\r\n", "Host: ", "%00", "../"),
    "mcp": (
        '"jsonrpc"',
        '"id"',
        '"method"',
        '"params"',
        "null",
        "{}",
        "[]",
        "tools/call",
        "\\u0000",
    ),
}
_ZIPPED = ("docx", "xlsx", "pptx", "epub")


def mutant(data: bytes, kind: str, seed: int, others: Sequence[bytes] = ()) -> bytes:
    """Return one of the changed forms of some bytes, chosen by a seed.

    Args:
        data: What is changed.
        kind: The suffix of its format, without the dot.
        seed: Which form.
        others: Further files of the format, to take pieces from.
    """
    rng = random.Random(f"{kind} {seed}")
    if kind in _ZIPPED and rng.random() < 0.8:
        made = _repacked(data, kind, rng)
        if made is not None:
            return made
    return _changed(data, kind, rng, others)[:MOST_BYTES]


def _changed(data: bytes, kind: str, rng: random.Random, others: Sequence[bytes]) -> bytes:
    for _ in range(min(1 + int(rng.expovariate(0.6)), 12)):
        data = rng.choice(_WAYS)(data, kind, rng)
        if others and rng.random() < 0.1:
            data = _spliced(data, rng.choice(others), rng)
    return data


def _repacked(data: bytes, kind: str, rng: random.Random) -> bytes | None:
    """Change one or two parts of a zip file, or the list of its parts."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = [(name, archive.read(name)) for name in archive.namelist()]
    except (zipfile.BadZipFile, zlib.error, OSError):
        return None
    for _ in range(rng.randint(1, 2)):
        at = rng.randrange(len(parts))
        name, content = parts[at]
        way = rng.random()
        if way < 0.06:
            del parts[at]
            parts = parts or [("a", b"")]
        elif way < 0.1:
            parts.append((rng.choice((name, f"../{name}", f"/{name}", name.upper())), content))
        else:
            changed = _rearranged(content, kind, rng) if rng.random() < 0.7 else None
            parts[at] = (name, changed or _changed(content, kind, rng, [c for _, c in parts]))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in dict(parts).items():  # two parts of one name are a warning
            part = zipfile.ZipInfo(name)  # of no particular hour
            part.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(part, content[:MOST_BYTES])
    return stream.getvalue()


def _rearranged(content: bytes, kind: str, rng: random.Random) -> bytes | None:
    """Change elements of a part so that it stays XML; None for what is none."""
    try:
        root = etree.fromstring(content)
    except (etree.XMLSyntaxError, ValueError):
        return None
    for _ in range(rng.randint(1, 4)):
        elements = [element for element in root.iter() if isinstance(element.tag, str)]
        _rearrange(rng.choice(elements), rng.choice(elements), kind, rng)
    made: bytes = etree.tostring(root)
    return made


def _rearrange(element: Element, other: Element, kind: str, rng: random.Random) -> None:
    parent, way = element.getparent(), rng.randrange(7)
    if way == 0 and parent is not None:
        parent.remove(element)
    elif way == 1 and parent is not None:
        for _ in range(rng.choice((1, 2, 50))):
            parent.append(deepcopy(element))
    elif way == 2 and len(list(element.iter())) < 200:
        inside, held = other, deepcopy(element)
        for _ in range(rng.choice((1, 5, 100, 1000))):
            inside = etree.SubElement(inside, element.tag)
        inside.append(held)
    elif way == 3:
        element.tag = other.tag
    elif way == 4:
        element.text = rng.choice((*_NUMBERS, *WORDS.get(kind, ()), "x" * 3000, ""))
    elif element.attrib:
        name = rng.choice(sorted(element.attrib))
        if way == 5:
            del element.attrib[name]
        else:
            element.attrib[name] = rng.choice((*_NUMBERS, "", "A1:B2", "../a", "x" * 300))


def _place(data: bytes, rng: random.Random, most: int = 64) -> tuple[int, int]:
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randint(0, most))


def _flip(data: bytes, kind: str, rng: random.Random) -> bytes:
    del kind
    if not data:
        return b"\0"
    at = rng.randrange(len(data))
    return data[:at] + bytes((data[at] ^ 1 << rng.randrange(8),)) + data[at + 1 :]


def _cut(data: bytes, kind: str, rng: random.Random) -> bytes:
    del kind
    start, stop = _place(data, rng, rng.choice((1, 16, 256, 4096)))
    return data[:start] + data[stop:]


def _truncate(data: bytes, kind: str, rng: random.Random) -> bytes:
    del kind
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.3 else data


def _repeat(data: bytes, kind: str, rng: random.Random) -> bytes:
    del kind
    start, stop = _place(data, rng)
    times = rng.choice((2, 3, 10, 100, 1000))
    return data[:stop] + (data[start:stop] * times)[: MOST_BYTES // 4] + data[stop:]


def _move(data: bytes, kind: str, rng: random.Random) -> bytes:
    del kind
    start, stop = _place(data, rng)
    piece, rest = data[start:stop], data[:start] + data[stop:]
    at = rng.randrange(len(rest) + 1)
    return rest[:at] + piece + rest[at:]


def _insert_word(data: bytes, kind: str, rng: random.Random) -> bytes:
    word = rng.choice(WORDS.get(kind, _SIGNS)).encode()
    at = rng.randrange(len(data) + 1)
    return data[:at] + word * rng.choice((1, 1, 2, 50)) + data[at:]


def _insert_sign(data: bytes, kind: str, rng: random.Random) -> bytes:
    del kind
    start, stop = _place(data, rng, rng.choice((0, 1, 4)))
    piece = rng.choice(_BYTES) if rng.random() < 0.3 else rng.choice(_SIGNS).encode()
    return data[:start] + piece * rng.choice((1, 1, 3, 200)) + data[stop:]


def _another_number(data: bytes, kind: str, rng: random.Random) -> bytes:
    del kind
    digits = [i for i, byte in enumerate(data[:100_000]) if 48 <= byte <= 57]
    if not digits:
        return data
    at = stop = rng.choice(digits)
    while stop < len(data) and 48 <= data[stop] <= 57:
        stop += 1
    return data[:at] + rng.choice(_NUMBERS).encode() + data[stop:]


def _spliced(data: bytes, other: bytes, rng: random.Random) -> bytes:
    start, stop = _place(other, rng, 2048)
    at = rng.randrange(len(data) + 1)
    return data[:at] + other[start:stop] + data[at:]


_WAYS: Sequence[Callable[[bytes, str, random.Random], bytes]] = (
    _flip,
    _cut,
    _truncate,
    _repeat,
    _move,
    _insert_word,
    _insert_word,
    _insert_sign,
    _another_number,
    _another_number,
)
