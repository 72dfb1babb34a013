"""E-mail: one message (.eml) or a mailbox of messages (.mbox)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import PurePath
from typing import Final

from abstrag.documents.assemble import TITLE, assemble
from abstrag.documents.decode import decode
from abstrag.documents.header import stated_date
from abstrag.documents.visible import VisibleText
from abstrag.errors import Damaged, EmptyDocument, FileTooLarge, Undecodable, UnknownFormat
from abstrag.model.document import BlockKind, Document

# The body of a message: its text, what it quotes, and the names of what is attached.

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


MAX_MESSAGES: Final = 20_000  # of a mailbox
MAX_PARTS: Final = 1_000  # of a message, parts of parts counted
MAX_DEPTH: Final = 30  # parts inside parts
_SHOWN: Final = ("From", "To", "Cc", "Date")
_NO_SUBJECT: Final = "(no subject)"
_POSTMARK: Final = re.compile(rb"^From \S+ [^\n]*\d:\d\d[^\n]*\n(?=[\w-]+:|[ \t])", re.MULTILINE)
_ESCAPED: Final = re.compile(rb"^>(>*From )", re.MULTILINE)


def load_eml(data: bytes, name: str) -> Document:
    """Read one message: its subject is the title, its attachments are named and not opened."""
    message = _parsed(_without_postmark(data), name)
    if not any(message[field] for field in ("From", "To", "Subject", "Date")):
        raise Damaged(
            f"{name!r} is no e-mail: its header lines are missing",
            hint="save the message again, or give it as .txt",
        )
    visible = VisibleText()
    subject = _field(message, "Subject")
    visible.add(BlockKind.HEADING, subject or _NO_SUBJECT, level=TITLE)
    written = _write(message, visible, name)
    if not written and not subject:
        raise EmptyDocument(f"{name!r} holds no text to read", hint="see if it was saved whole")
    return assemble(
        name,
        visible.text,
        visible.blocks,
        format_name="eml",
        title=subject or _NO_SUBJECT,
        date=stated_date(visible.blocks),
    )


def load_mbox(data: bytes, name: str) -> Document:
    """Read a mailbox: each message is a section, below its subject, by sender and date."""
    visible = VisibleText()
    for number, part in enumerate(_messages(data, name), 1):
        if number > MAX_MESSAGES:
            raise FileTooLarge(
                f"{name!r} holds more than {MAX_MESSAGES:,} messages", hint="split the mailbox"
            )
        message = _parsed(part, f"{name}, message {number}")
        visible.add(BlockKind.HEADING, _field(message, "Subject") or _NO_SUBJECT, level=1)
        visible.sections.enter(2, _place(message, visible.sections.path[-1], number))
        _write(message, visible, f"{name}, message {number}")
    title = PurePath(name).stem  # not the subject of one message
    return assemble(name, visible.text, visible.blocks, format_name="mbox", title=title)


def _messages(data: bytes, name: str) -> Iterator[bytes]:
    """Cut a mailbox at its postmarks, those after an empty line."""
    marks = [
        match
        for match in _POSTMARK.finditer(data)
        if data[max(0, match.start() - 3) : match.start()].endswith((b"\n\n", b"\n\r\n"))
        or match.start() == 0
    ]
    if not marks or data[: marks[0].start()].strip():
        raise Damaged(
            f"{name!r} is no mailbox: it does not begin with a line 'From …'",
            hint="export the mailbox again, or give a single message as .eml",
        )
    ends = [*(match.start() for match in marks[1:]), len(data)]
    for match, end in zip(marks, ends, strict=True):
        yield _ESCAPED.sub(rb"\1", data[match.end() : end])


def _without_postmark(data: bytes) -> bytes:
    """Return a message without the line that some programs write above it."""
    match = _POSTMARK.match(data)
    return data[match.end() :] if match else data.lstrip(b"\xef\xbb\xbf\r\n")


def _parsed(data: bytes, name: str) -> Message:
    """Parse a message with the lenient policy: mail in the wild breaks every rule."""
    deep = Damaged(f"{name!r} nests its parts too deeply to read", hint="save its text alone")
    try:
        message = BytesParser(policy=compat32).parsebytes(data)
    except RecursionError:
        raise deep from None
    stack, parts = [(message, 0)], 0
    while stack:
        part, depth = stack.pop()
        parts += 1
        if depth > MAX_DEPTH:
            raise deep
        if parts > MAX_PARTS:
            raise FileTooLarge(
                f"{name!r} has more than {MAX_PARTS:,} parts", hint="save its text alone"
            )
        held = part.get_payload()
        if isinstance(held, list):
            stack.extend((one, depth + 1) for one in held if isinstance(one, Message))
    return message


def _write(message: Message, visible: VisibleText, name: str) -> bool:
    """Write header lines and body; return whether there is more than header lines."""
    for label in _SHOWN:
        if text := _field(message, label):
            visible.add(BlockKind.PARAGRAPH, f"{label}: {text}")
    return write_body(message, visible, name)


def _place(message: Message, subject: str, number: int) -> str:
    """Tell a message from others of its subject: by who sent it and when, or by its number."""
    names = [person or address for person, address in getaddresses([_field(message, "From")])]
    date = _date(message)
    said = ", ".join(part for part in (*names[:1], date) if part)
    return f"{subject} ({said or f'message {number}'})"


def _date(message: Message) -> str | None:
    try:
        return parsedate_to_datetime(_field(message, "Date")).date().isoformat()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _field(message: Message, name: str) -> str:
    """Return a header line's value, decoded, in one line; "" when there is none."""
    raw = message[name]
    if raw is None:
        return ""
    try:
        text = str(make_header(decode_header(raw)))
    except (LookupError, ValueError, MessageError):  # an encoding nobody knows
        text = str(raw)
    clean = text.encode("utf-8", "replace").decode()  # bytes that are no text became surrogates
    return " ".join(clean.split())
