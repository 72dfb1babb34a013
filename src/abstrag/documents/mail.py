"""E-mail: one message (.eml) or a mailbox of messages (.mbox)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesParser
from email.policy import compat32
from email.utils import getaddresses, parsedate_to_datetime
from pathlib import PurePath
from typing import Final

from abstrag.documents.assemble import assemble
from abstrag.documents.header import stated_date
from abstrag.documents.mail_body import write_body
from abstrag.documents.sections import TITLE
from abstrag.documents.visible import VisibleText
from abstrag.errors import Damaged, EmptyDocument, FileTooLarge
from abstrag.model.document import BlockKind, Document

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
