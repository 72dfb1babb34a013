"""The last step of every loader: blocks become a document."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from abstrag.documents.links import MAX_LINKS
from abstrag.documents.sections import TITLE
from abstrag.errors import EmptyDocument
from abstrag.model.document import Block, BlockKind, Document, Metadata, PageLink
from abstrag.model.span import Span


def document_id(name: str) -> str:
    """Make an id of a file's name: its stem in `[a-z0-9-]`."""
    stem = PurePath(name).stem
    apart = unicodedata.normalize("NFKD", stem)
    plain = "".join(char for char in apart if not unicodedata.combining(char))
    return re.sub(r"[^a-z0-9]+", "-", plain.casefold()).strip("-") or "document"


def assemble(
    name: str,
    text: str,
    blocks: Sequence[Block],
    *,
    format_name: str,
    title: str | None = None,
    date: tuple[str, Span | None] | None = None,
    links: Sequence[PageLink] = (),
) -> Document:
    """Make a document of its parts; the title defaults to the first heading, then the name."""
    if not any(block.text for block in blocks):
        raise EmptyDocument(
            f"{name!r} holds no text to read",
            hint="open the file and see if it shows any text",
        )
    headings = (block.text for block in blocks if block.kind is BlockKind.HEADING)
    stated = " ".join((title or "").split())
    iso, span = date or (None, None)
    return Document(
        id=document_id(name),
        title=stated or next(headings, "") or PurePath(name).stem or name,
        text=text,
        blocks=_title_apart(blocks, stated),
        metadata=Metadata(date=iso, date_span=span, source=name, format=format_name),
        links=tuple(links[:MAX_LINKS]),
    )


def _title_apart(blocks: Sequence[Block], title: str) -> tuple[Block, ...]:
    """Take a stated title out of the section paths where it heads the whole text once more."""
    heading = blocks[0]
    top = [b for b in blocks if b.kind is BlockKind.HEADING and b.level == 1]
    if top != [heading] or " ".join(heading.text.split()).casefold() != title.casefold():
        return tuple(blocks)
    return tuple(
        replace(block, level=TITLE)
        if block is heading
        else replace(block, section=block.section[1:])
        if block.section[:1] == (heading.text,)
        else block
        for block in blocks
    )
