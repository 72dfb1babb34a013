"""A segment s: the unit of retrieval, with its exact span and its layout role."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from abstrag.model.document import OffsetMap, Quote, Span
from abstrag.model.record import record

CELL_SEPARATOR: Final = " | "  # between the cells of a row


class SegmentKind(StrEnum):
    """What a segment is."""

    SENTENCE = "sentence"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE_ROW = "table_row"
    TABLE_CELL = "table_cell"
    CAPTION = "caption"


class Granularity(StrEnum):
    """How finely Seg_L cuts."""

    SENTENCE = "sentence"  # sentences, list items, table rows, captions
    PARAGRAPH = "paragraph"  # whole blocks, table rows
    ELEMENT = "element"  # sentences, list items, table cells, captions


class SegmentRole(StrEnum):
    """role_L: the part a segment plays in its document."""

    ABSTRACT = "abstract"
    INTRODUCTION = "introduction"
    BACKGROUND = "background"
    METHODS = "methods"
    RESULTS = "results"
    DISCUSSION = "discussion"
    CONCLUSION = "conclusion"
    APPENDIX = "appendix"
    REFERENCES = "references"
    CAPTION = "caption"
    TABLE = "table"
    CELL = "cell"
    TEXT = "text"
    OTHER = "other"


@record
class Segment:
    """One retrievable unit.

    `text` is how it reads and `span` where it stands, so `document.quote(segment.span)` is the
    exact quotation; `alignment` takes offsets of the one to the other. `headers` are the row and
    column headers of a table cell or row: they belong to the segment and cost nothing.
    """

    id: str
    kind: SegmentKind
    role: SegmentRole
    text: str
    span: Span
    alignment: OffsetMap
    block: int
    section: tuple[str, ...] = ()
    page: int | None = None
    headers: tuple[Quote, ...] = ()
    row: int | None = None
    column: int | None = None
