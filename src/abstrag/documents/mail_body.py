"""The body of a message: its text, what it quotes, and the names of what is attached."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from email.message import Message
from typing import Final

from abstrag.documents.decode import decode
from abstrag.documents.visible import VisibleText
from abstrag.errors import EmptyDocument, Undecodable, UnknownFormat
from abstrag.model.document import BlockKind

_QUOTED: Final = re.compile(r"[ \t]{0,3}((?:>[ \t]?)+)")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+(?=\S)")
_QUOTE_LEVEL: Final = 8
_CONTROL: Final = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")
_MARK: Final = b"\xef\xbb\xbf"


def write_body(message: Message, visible: VisibleText, name: str) -> bool:
    """Write the text of a message, then what is attached; return whether there was anything."""
    before = len(visible.blocks)
    files: list[Message] = []
    for part, is_shown in _parts(message):
        if _is_file(part):
            files.append(part)
        elif is_shown and _kind(part) == "text/plain":
            _write_plain(_decoded(part, name), visible)
        elif is_shown and _kind(part) == "text/html":
            _write_html(part, visible, name)
    for part in files:
        visible.add(BlockKind.LIST_ITEM, f"Attachment: {_described(part)}", level=1)
    return len(visible.blocks) > before


def _parts(message: Message) -> Iterator[tuple[Message, bool]]:
    """Go through the parts of a message in order, without opening messages inside it.

    Of alternatives only one is shown: the text if there is any, else the richest, which is last.
    The others are gone through too, as programs put files into them.
    """
    stack = [(message, True)]
    while stack:
        part, is_shown = stack.pop()
        held = part.get_payload()
        if part.get_content_maintype() != "multipart" or not isinstance(held, list):
            yield part, is_shown
            continue
        inner = [one for one in held if isinstance(one, Message)]
        shown = inner
        if part.get_content_subtype() == "alternative":
            texts = [one for one in inner if _kind(one) == "text/plain" and _has_text(one)]
            shown = texts[:1] or inner[-1:]
        stack.extend((one, is_shown and one in shown) for one in reversed(inner))


def _kind(part: Message) -> str:
    """Return the type of a part; one that claims to have parts and has none is text."""
    kind = part.get_content_type()
    return "text/plain" if kind.startswith("multipart/") else kind


def _has_text(part: Message) -> bool:
    data = part.get_payload(decode=True)
    return isinstance(data, bytes) and bool(data.strip())


def _decoded(part: Message, name: str) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes) or not data.strip():
        return ""
    declared = part.get_content_charset()
    try:
        return decode(data, name, declared=declared)
    except (Undecodable, UnknownFormat):  # as mail programs do: an odd byte costs its own place
        return _CONTROL.sub("", data.decode("cp1252", "replace"))


def _write_html(part: Message, visible: VisibleText, name: str) -> None:
    from abstrag.documents.html import load_html  # loaded when a message has nothing else

    text = _decoded(part, name)
    if text.strip():
        try:
            visible.include(load_html(_MARK + text.encode(), name))
        except EmptyDocument:  # a picture, as advertisements are
            return


def _write_plain(text: str, visible: VisibleText) -> None:
    """Write paragraphs; what the message quotes stands in a section that says so."""
    path = visible.sections.path
    quoted = f"{path[-1]}, quoted" if path else "quoted"
    for depth, lines in _groups(text.splitlines()):
        if depth:
            visible.sections.enter(_QUOTE_LEVEL, quoted)
        else:
            visible.sections.leave(_QUOTE_LEVEL)
        for kind, piece in _pieces(lines):
            level = 1 if kind is BlockKind.LIST_ITEM else None
            visible.add(kind, piece, level=level)
    visible.sections.leave(_QUOTE_LEVEL)


def _groups(lines: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Go through lines that no empty line parts and that are quoted equally deep."""
    depth, open_lines = 0, list[str]()
    for line in [*lines, ""]:
        match = _QUOTED.match(line)
        marks = match[1].count(">") if match else 0
        rest = line[match.end() :] if match else line
        if marks != depth or not rest.strip():
            if open_lines:
                yield depth, open_lines
            depth, open_lines = marks, []
        if rest.strip():
            open_lines.append(rest)


def _pieces(lines: Sequence[str]) -> Iterator[tuple[BlockKind, str]]:
    """Cut a group of lines before each item of a list."""
    kind, gathered = BlockKind.PARAGRAPH, list[str]()
    for line in lines:
        match = _ITEM.match(line)
        if match and gathered:
            yield kind, "\n".join(gathered)
            gathered = []
        if match:
            kind = BlockKind.LIST_ITEM
        gathered.append(line[match.end() :] if match else line)
    if gathered:
        yield kind, "\n".join(gathered)


def _is_file(part: Message) -> bool:
    """True for a part that is neither text to read nor a picture inside it."""
    named = part.get_param("filename", header="content-disposition") is not None
    if part.get_content_disposition() == "attachment" or named:
        return True
    return part.get_content_maintype() not in ("text", "multipart", "image")


def _described(part: Message) -> str:
    kind = part.get_content_type()
    if kind == "message/rfc822":
        held = part.get_payload()
        inner = held[0] if isinstance(held, list) and held else None
        subject = str(inner["Subject"] or "") if isinstance(inner, Message) else ""
        return f"{part.get_filename() or subject or 'a message'} ({kind})"
    data = part.get_payload(decode=True)
    size = f", {len(data):,} bytes" if isinstance(data, bytes) else ""
    return f"{part.get_filename() or 'without a name'} ({kind}{size})"
