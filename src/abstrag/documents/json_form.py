"""Our own JSON: a whole `Document` as we write it, or a short form a person can write.

The short form names a title, a date and blocks; text and spans are made for it:

    {"title": "Visit", "date": "2024-05-15",
     "blocks": [{"kind": "heading", "text": "News", "level": 1},
                {"text": "The CTO visited the fab."},
                {"kind": "table", "rows": [["Name", "Age"], ["Ann", "41"]], "caption": "Staff"}]}
"""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from typing import Any, Final

from abstrag.config import MAX_HEADING_LEVEL, MAX_NUMBER_DIGITS, MAX_TABLE_CELLS, MAX_TABLE_COLUMNS
from abstrag.documents.assemble import OverLimit, assemble
from abstrag.documents.decode import decode
from abstrag.documents.header import parse_date
from abstrag.documents.visible import RawCell, VisibleText, too_large
from abstrag.errors import Damaged, InputError, UnknownFormat
from abstrag.model.document import Block, BlockKind, Document, Genre, Span
from abstrag.model.record import from_json, record

_DECODING: Final = frozenset(("latex", "markdown", "pdf"))  # formats whose text is decoded in part
_LENIENT_LENGTH: Final = 20
_REWRITE: Final = "write the file again with abstrag, or use the short form without spans"


@record
class ShortBlock:
    """A block as a person writes it. Without `section` it stands below the last headings."""

    text: str = ""
    kind: BlockKind = BlockKind.PARAGRAPH
    section: tuple[str, ...] | None = None
    level: int | None = None
    page: int | None = None
    rows: tuple[tuple[str, ...], ...] = ()
    header_rows: int = 1
    caption: str | None = None


@record
class ShortDocument:
    """A document as a person writes it."""

    blocks: tuple[ShortBlock, ...]
    id: str | None = None
    title: str | None = None
    date: str | None = None
    genre: Genre | None = None
    domain: str | None = None


def load_json(data: bytes, name: str) -> Document:
    """Read a document from our JSON."""
    text = decode(data, name)
    try:
        raw: Any = json.loads(text, parse_int=_whole_number)
    except (ValueError, RecursionError) as error:
        raise Damaged(
            f"{name!r} is not valid JSON: {error}", hint="look for a missing quote or comma"
        ) from error
    if not isinstance(raw, dict) or not isinstance(raw.get("blocks"), list):
        raise UnknownFormat(
            f"{name!r} is JSON, but no document of ours",
            hint='write an object with "title" and a list "blocks"',
        )
    try:
        if "text" in raw:
            document = from_json(Document, text)
            _check(document, name)
            return document
        return _expand(from_json(ShortDocument, text), name)
    except InputError as error:
        raise Damaged(
            f"{name!r} does not fit our JSON form: {error}",
            hint='a block has "text", "kind", "section", "level", "page", or "rows" and "caption"',
        ) from error


def _whole_number(digits: str) -> int:
    """Read a number that fits wherever we keep numbers; a page or a level is never longer."""
    if len(digits) > MAX_NUMBER_DIGITS:
        raise OverLimit(
            f"it has a number of {len(digits):,} digits, and {MAX_NUMBER_DIGITS} are the most",
            "MAX_NUMBER_DIGITS",
            hint="look for a page, level or offset that is none",
        )
    return int(digits)


# --- the whole form: trusted only after a look at its spans ---


def _check(document: Document, name: str) -> None:
    if not document.id:
        raise Damaged(f"{name!r} has an empty id", hint="give the document an id")
    dated = document.metadata.date_span
    if dated is not None and dated.end > len(document.text):
        raise Damaged(f"{name!r}: the date's span ends behind the text", hint=_REWRITE)
    strict = document.metadata.format not in _DECODING
    for i, block in enumerate(document.blocks):
        _check_reach(block)
        problem = problem_of(document, block, strict=strict)
        if problem:
            raise Damaged(f"{name!r}: block {i} ({block.kind.value}) {problem}", hint=_REWRITE)


def _check_reach(block: Block) -> None:
    """Refuse a table whose cells reach over more rows and columns than we read."""
    cells = block.table.cells if block.table else ()
    covered = sum(max(1, cell.row_span) * max(1, cell.column_span) for cell in cells)
    rows = max((cell.row + cell.row_span for cell in cells), default=0)
    columns = max((cell.column + cell.column_span for cell in cells), default=0)
    if max(covered, rows) > MAX_TABLE_CELLS:
        raise too_large(f"{MAX_TABLE_CELLS:,} cells", "MAX_TABLE_CELLS")
    if columns > MAX_TABLE_COLUMNS:
        raise too_large(f"{MAX_TABLE_COLUMNS:,} columns", "MAX_TABLE_COLUMNS")


def problem_of(document: Document, block: Block, *, strict: bool) -> str | None:
    """Say what is wrong with the spans of a block; None when they are right.

    With `strict` the block must read exactly as the text it points at; without, some characters
    may be decoded.
    """
    if block.span.end > len(document.text):
        return "has a span that ends behind the text"
    runs = block.alignment.runs
    grows = all(a < c and b + c - a - 1 <= d for (a, b), (c, d) in pairwise(runs))
    if not runs or runs[0][0] != 0 or runs[0][1] < 0 or not grows:
        return "has an alignment that does not grow"
    if block.text and not _within(block.alignment.locate(0, len(block.text)), block.span):
        return "has an alignment that leaves its span"
    for cell in block.table.cells if block.table else ():
        if not _within(cell.span, block.span):
            return f"has a cell in row {cell.row}, column {cell.column} outside its span"
        if strict and cell.text.split() != document.quote(cell.span).split():
            return f"has a cell in row {cell.row}, column {cell.column} that reads otherwise"
    if not _matches(document.text, block, strict=strict):
        return "has a text that is not what its alignment points at"
    return None


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start and inner.end <= outer.end


def _matches(text: str, block: Block, *, strict: bool) -> bool:
    shown = [i for i, char in enumerate(block.text) if not char.isspace()]
    same = sum(block.text[i] == text[block.alignment.at(i)] for i in shown)
    if strict:
        return same == len(shown)
    return len(shown) < _LENIENT_LENGTH or 2 * same >= len(shown)


# --- the short form ---


def _expand(short: ShortDocument, name: str) -> Document:
    visible = VisibleText()
    for i, block in enumerate(short.blocks):
        if (block.level or 0) > MAX_HEADING_LEVEL:
            raise OverLimit(
                f"block {i} has level {block.level}, and {MAX_HEADING_LEVEL} is the deepest",
                "MAX_HEADING_LEVEL",
                hint="number the levels of headings from 1",
            )
        visible.page = block.page
        made = _add_table(visible, block) if block.rows else _add(visible, block)
        if made is None:
            raise Damaged(f"{name!r}: block {i} has no text", hint='give it a "text", or "rows"')
        if block.section is not None:
            visible.blocks[-1] = replace(made, section=block.section)
    iso = parse_date(short.date) if short.date else None
    if short.date and iso is None:
        raise Damaged(f"{name!r}: {short.date!r} is no date", hint="write it as YYYY-MM-DD")
    document = assemble(
        name,
        visible.text,
        visible.blocks,
        format_name="json",
        title=short.title,
        date=iso,
    )
    metadata = replace(document.metadata, genre=short.genre, domain=short.domain)
    return replace(document, id=short.id or document.id, metadata=metadata)


def _add(visible: VisibleText, block: ShortBlock) -> Block | None:
    if block.kind is BlockKind.TABLE:
        return None
    level = block.level
    if block.kind is BlockKind.HEADING and level is None:
        level = len(block.section or ()) + 1
    return visible.add(block.kind, block.text, level=level)


def _add_table(visible: VisibleText, block: ShortBlock) -> Block | None:
    quote = visible.add_caption(block.caption or "")
    rows = [
        [RawCell(text, header=r < block.header_rows) for text in row]
        for r, row in enumerate(block.rows)
    ]
    return visible.add_table(rows, quote)
