"""Seg_L: cut the document into segments with exact spans and layout roles, and parse them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, ClassVar, Final

from abstrag.config import MAX_PARSED_CHARS, MAX_PARSED_TOKENS, MAX_WORD_CHARS
from abstrag.documents.reading import reading_text
from abstrag.indexing.genre import GRANULARITY, detect_genre, role_of_block, role_of_label
from abstrag.indexing.layers import Segments
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.language.parser import SIGN, parse, parser_version
from abstrag.language.statements import statement_named
from abstrag.model.document import (
    Block,
    BlockKind,
    Cell,
    Document,
    Genre,
    Grid,
    OffsetMap,
    Quote,
    Span,
    Table,
)
from abstrag.model.segment import CELL_SEPARATOR, Granularity, Segment, SegmentKind, SegmentRole

if TYPE_CHECKING:
    from spacy.tokens import Doc

_WORD: Final = re.compile(r"\S++")
_TAIL: Final = 40  # characters that tell whether a sentence ends; an abbreviation is shorter
_SENTENCE_END: Final = re.compile(r"[.!?]['\")\]]*\s+(?=\S)")
# What spaCy takes for a sentence end and is none: "Fig. 3", "et al. (2019)", "J. Smith".
_NO_END: Final = re.compile(
    r"(?:\b(?:al|e\.g|i\.e|cf|vs|approx|resp|Fig|Figs|Eq|Eqs|Sec|Tab|Ref|Refs|No|Nos|Vol|pp?|Dr|"
    r"Mr|Mrs|Ms|Prof|St|Inc|Corp|Ltd|Co|U\.S)|(?<![\w.])[A-Z])\.$"
)
_LONG_ITEM: Final = 300  # characters: a longer item of a list is cut like other prose
_LONGEST: Final = 2_400  # characters of a segment
_PIECE: Final = 1_500  # of what a longer one is cut into: about 320 tokens


@dataclass(frozen=True, slots=True)
class _Unit:
    """A text to be parsed in one piece, with the block it comes from and where it stands."""

    block: int
    text: str
    alignment: OffsetMap
    kind: SegmentKind
    span: Span | None = None  # of a table row, whose cells may stand in any order
    headers: tuple[Quote, ...] = ()
    row: int | None = None
    column: int | None = None


@dataclass(frozen=True, slots=True)
class SegmentLayout:
    """Cut at sentence, paragraph or element granularity; by default what suits the genre."""

    granularity: Granularity | None = None
    genre: Genre | None = None
    parser: str = field(default_factory=parser_version)

    name: ClassVar[str] = "segment"
    requires: ClassVar[Layer | None] = None
    provides: ClassVar[Layer] = Layer.SEGMENTS
    conservative: ClassVar[bool] = True
    version: ClassVar[int] = 8

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Parse every block and cut it."""
        document = draft.document
        genre = self.genre or detect_genre(document)
        granularity = self.granularity or GRANULARITY[genre]
        blocks = range(len(document.blocks))
        titles = _statement_titles(document)
        units = [unit for i in blocks for unit in _units(document, i, granularity, titles.get(i))]
        parses = parse(unit.text for unit in units)
        segments: list[Segment] = []
        tokens: list[tuple[int, int, int]] = []
        label: SegmentRole | None = None  # of a structured abstract, holds until the next one
        for n, (unit, doc) in enumerate(zip(units, parses, strict=True)):
            block = document.blocks[unit.block]
            role = role_of_block(block, genre)
            for first, last in _cuts(unit, block, doc):
                text = doc[first:last].text
                label = role_of_label(text) or label if role is SegmentRole.ABSTRACT else None
                name = f"s{len(segments) + 1}"
                segments.append(_segment(name, unit, doc[first].idx, text, block, label or role))
                tokens.append((n, first, last))
        layer = Segments(genre, granularity, tuple(segments), tuple(tokens))
        return draft.with_(parses=tuple(parses), segmented=layer)


def sentences(doc: Doc) -> list[tuple[int, int]]:
    """Return spaCy's sentences as token ranges, with false ends taken back."""
    cuts: list[tuple[int, int]] = []
    for sent in doc.sents:
        previous = _tail(doc, *cuts[-1]) if cuts else ""
        if cuts and (_NO_END.search(previous) or not _opens(sent.text)):
            cuts[-1] = (cuts[-1][0], sent.end)
        else:
            cuts.append((sent.start, sent.end))
    return cuts


def _tail(doc: Doc, first: int, last: int) -> str:
    """Return the last characters of some tokens; all of them grow with each end taken back."""
    text: str = doc[max(first, last - _TAIL) : last].text
    return text[-_TAIL:]


def _cuts(unit: _Unit, block: Block, doc: Doc) -> list[tuple[int, int]]:
    """Return the segments of a unit as token ranges; a paragraph stays whole while it can be read.

    No model reads more than 320 tokens of a segment, and nobody wants four pages quoted.
    """
    if unit.kind is SegmentKind.SENTENCE:
        return sentences(doc)
    if len(unit.text) <= _LONGEST or block.kind in (BlockKind.TABLE, BlockKind.CODE):
        return [(0, len(doc))]
    size = len(unit.text) / ceil(len(unit.text) / _PIECE)
    cuts: dict[int, tuple[int, int]] = {}
    for first, last in sentences(doc):
        piece = int((doc[first].idx + doc[last - 1].idx) / 2 // size)  # where its middle lies
        begun, _ = cuts.get(piece, (first, last))
        cuts[piece] = begun, last
    return list(cuts.values())


def _opens(text: str) -> bool:
    """True when a text may begin a sentence: it starts neither in lower case nor with a comma."""
    first = text.lstrip("\"'“‘([")[:1]
    return bool(first) and not first.islower() and first not in ",;:.)]%"


def _statement_titles(document: Document) -> dict[int, Quote]:
    """Return for each table of a financial statement the heading that names the statement."""
    found: dict[int, Quote] = {}
    title: Quote | None = None
    for i, block in enumerate(document.blocks):
        if block.kind is BlockKind.HEADING:
            named = statement_named(block.text)
            title = Quote(block.text, block.span) if named is not None else None
        elif block.table is not None and title is not None:
            found[i] = title
    return found


def _units(
    document: Document, index: int, granularity: Granularity, title: Quote | None
) -> Iterator[_Unit]:
    block = document.blocks[index]
    if block.kind is BlockKind.HEADING or not block.text.strip():
        return
    if block.table is not None:
        yield from _table_units(document, index, block.table, granularity, title)
        return
    kind = {
        BlockKind.LIST_ITEM: SegmentKind.LIST_ITEM,
        BlockKind.CAPTION: SegmentKind.CAPTION,
        BlockKind.CODE: SegmentKind.PARAGRAPH,
    }.get(block.kind)
    whole = granularity is Granularity.PARAGRAPH
    if kind is None:
        kind = SegmentKind.PARAGRAPH if whole else SegmentKind.SENTENCE
    elif kind is SegmentKind.LIST_ITEM and not whole and len(block.text) > _LONG_ITEM:
        kind = SegmentKind.SENTENCE
    for start, end in _pieces(block.text):
        yield _Unit(index, block.text[start:end], block.alignment.cut(start, end), kind)


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """Cut a text no parser should see at once into pieces that end with a sentence."""
    start = 0
    while (limit := _limit(text, start)) < len(text):
        ends = [m.end() for m in _SENTENCE_END.finditer(text, start, limit)]
        space = text.rfind(" ", start, limit) + 1
        end = ends[-1] if ends else space if space > start else limit
        shown = len(text[start:end].rstrip())
        if shown:
            yield start, start + shown
        start = end
    if start < len(text):
        yield start, len(text)


def _limit(text: str, start: int) -> int:
    """Return how far from a place on a text may be parsed at once.

    A word without end is looked through again for each sign at its ends, and each token has its
    share of memory, so both have limits of their own.
    """
    end = min(len(text), start + MAX_PARSED_CHARS)
    if end - start <= MAX_WORD_CHARS:
        return end
    for word in _WORD.finditer(text, start, end):
        if word.end() - word.start() > MAX_WORD_CHARS:
            end = word.start() if word.start() > start else start + MAX_WORD_CHARS
            break
    last = next(islice(SIGN.finditer(text, start, end), MAX_PARSED_TOKENS, None), None)
    return end if last is None else last.start()


def _table_units(
    document: Document, index: int, table: Table, granularity: Granularity, title: Quote | None
) -> Iterator[_Unit]:
    grid = Grid(table)
    titles = () if title is None else (title,)
    for row, all_cells in sorted(grid.rows.items()):
        cells = [c for c in all_cells if c.text.strip()]
        if all(c.header for c in cells):
            continue  # a header row speaks through the rows below it
        if granularity is Granularity.ELEMENT:
            for cell in cells:
                text, alignment = _cell_text(document, cell)
                unit = _Unit(
                    index,
                    text,
                    alignment,
                    SegmentKind.TABLE_CELL,
                    headers=(*titles, *grid.headers(cell)),
                    row=row,
                    column=cell.column,
                )
                yield from _parts(unit)
            continue
        text, alignment = _row_text(document, cells)
        own = {c.span for c in cells}
        headers = dict.fromkeys(
            (*titles, *(q for c in cells for q in grid.above(c)), *grid.over(row))
        )
        span = Span(min(s.start for s in own), max(s.end for s in own))
        kind = SegmentKind.TABLE_ROW
        yield from _parts(
            _Unit(index, text, alignment, kind, span, headers=tuple(headers), row=row)
        )


def _parts(unit: _Unit) -> Iterator[_Unit]:
    """Cut a cell or row that no parser should see at once; each piece keeps its place."""
    pieces = list(_pieces(unit.text))
    if len(pieces) < 2:
        yield unit
        return
    for start, end in pieces:
        alignment = unit.alignment.cut(start, end)
        yield replace(unit, text=unit.text[start:end], alignment=alignment)


def _cell_text(document: Document, cell: Cell) -> tuple[str, OffsetMap]:
    """Return a cell's reading text with its alignment; the loader's own text wins."""
    text, alignment = reading_text(document.text, [(cell.span.start, cell.span.end)])
    if text == cell.text:
        return text, alignment
    return cell.text, _held(OffsetMap(((0, cell.span.start),)), len(cell.text), cell.span.end)


def _held(alignment: OffsetMap, length: int, end: int) -> OffsetMap:
    """Let no character stand at or behind `end`: a macro may show more than it is long."""
    last = max(end - 1, alignment.at(0))
    if all(alignment.at(i) <= last for i in range(length)):
        return alignment
    return OffsetMap(tuple((i, min(alignment.at(i), last)) for i in range(length)))


def _row_text(document: Document, cells: list[Cell]) -> tuple[str, OffsetMap]:
    pieces: list[str] = []
    runs: list[tuple[int, int]] = []
    length = 0
    for cell in cells:
        if pieces:
            pieces.append(CELL_SEPARATOR)
            length += len(CELL_SEPARATOR)
        text, alignment = _cell_text(document, cell)
        runs.extend((length + a, b) for a, b in alignment.runs)
        pieces.append(text)
        length += len(text)
    end = max(cell.span.end for cell in cells)
    return "".join(pieces), _held(OffsetMap(tuple(runs)), length, end)


def _segment(
    name: str, unit: _Unit, start: int, text: str, block: Block, role: SegmentRole
) -> Segment:
    whole = len(text) == len(unit.text)
    alignment = unit.alignment if whole else unit.alignment.cut(start, start + len(text))
    return Segment(
        id=name,
        kind=unit.kind,
        role=role,
        text=text,
        span=unit.span if whole and unit.span else alignment.locate(0, len(text)),
        alignment=alignment,
        block=unit.block,
        section=block.section,
        page=block.page,
        headers=unit.headers,
        row=unit.row,
        column=unit.column,
    )
