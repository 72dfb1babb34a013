"""Word documents (.docx): the visible text, with what styles and numbering say about it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

from lxml import etree

from abstrag.documents.assemble import TITLE, assemble, is_caption, tie_captions
from abstrag.documents.header import stated_date
from abstrag.documents.text import MAX_HEADING, heading
from abstrag.documents.visible import RawCell, VisibleText, is_name
from abstrag.documents.zip_package import (
    WordPackage,
    child,
    children,
    core_properties,
    is_on,
    local,
    number,
    value,
)
from abstrag.model.document import BlockKind, Document

# What Word's styles say about paragraphs: headings, lists, captions, code.

_HEADING: Final = re.compile(r"heading (?P<level>[1-9])")
_LIST: Final = re.compile(r"list (?:bullet|number)(?: (?P<level>[2-9]))?")
_CODE: Final = re.compile(
    r"html preformatted|macro text|(?:source )?code(?: block)?|preformatted(?: text)?|verbatim"
)
_CONTENTS: Final = re.compile(r"toc (?:\d|heading)|table of (?:figures|authorities)|contents \d")
_BODY_LEVEL: Final = 9  # the outline level that means "no heading"
_MAX_CHAIN: Final = 20


@dataclass(frozen=True, slots=True)
class ParagraphStyle:
    """A paragraph style with everything it inherits."""

    name: str = ""
    outline: int | None = None
    list_id: int | None = None
    list_level: int | None = None
    bold: bool = False


class Styles:
    """The styles of one document."""

    def __init__(self, root: etree._Element | None) -> None:
        self._made: dict[str, ParagraphStyle] = {}
        self._elements = {
            value(element, "styleId") or "": element for element in children(root, "style")
        }
        self._default = next(
            (
                key
                for key, element in self._elements.items()
                if value(element, "default") in ("1", "true")
                and value(element, "type") == "paragraph"
            ),
            "",
        )

    def of(self, paragraph: etree._Element) -> ParagraphStyle:
        """Return the style of a paragraph."""
        key = value(child(paragraph, "pPr", "pStyle")) or self._default
        if key not in self._made:
            self._made[key] = self._resolve(key)
        return self._made[key]

    def _resolve(self, key: str) -> ParagraphStyle:
        """Follow what a style is based on; what is nearer wins."""
        name = outline = list_id = list_level = None
        bold = False
        for _ in range(_MAX_CHAIN):
            element = self._elements.get(key)
            if element is None:
                break
            if name is None:
                name = (value(child(element, "name")) or key).casefold()
            found = number(child(element, "pPr", "outlineLvl"))
            outline = found if outline is None else outline
            if list_id is None:
                list_id = number(child(element, "pPr", "numPr", "numId"))
                list_level = number(child(element, "pPr", "numPr", "ilvl"))
            bold = bold or child(element, "rPr", "b") is not None
            key = value(child(element, "basedOn")) or ""
        return ParagraphStyle(name or key.casefold(), outline, list_id, list_level, bold)

    def kind(self, paragraph: etree._Element) -> tuple[BlockKind, int | None] | None:
        """Return what a paragraph is and its level, or None when it is a list of contents."""
        style = self.of(paragraph)
        if _CONTENTS.fullmatch(style.name):
            return None
        if style.name == "title":
            return BlockKind.HEADING, TITLE
        level = _heading_level(paragraph, style)
        if level is not None:
            return BlockKind.HEADING, level
        if style.name == "caption":
            return BlockKind.CAPTION, None
        if _CODE.fullmatch(style.name):
            return BlockKind.CODE, None
        level = _list_level(paragraph, style)
        if level is not None:
            return BlockKind.LIST_ITEM, level
        return BlockKind.PARAGRAPH, None


def _heading_level(paragraph: etree._Element, style: ParagraphStyle) -> int | None:
    own = number(child(paragraph, "pPr", "outlineLvl"))
    outline = style.outline if own is None else own
    if outline is not None:
        return outline + 1 if outline < _BODY_LEVEL else None
    match = _HEADING.fullmatch(style.name)
    return int(match["level"]) if match else None


def _list_level(paragraph: etree._Element, style: ParagraphStyle) -> int | None:
    numbering = child(paragraph, "pPr", "numPr")
    own = number(child(numbering, "numId"))
    list_id = style.list_id if own is None else own
    if list_id == 0:  # the paragraph takes itself out of its style's list
        return None
    match = _LIST.fullmatch(style.name)
    if list_id is None and match is None:
        return None
    level = number(child(numbering, "ilvl"))
    level = style.list_level if level is None else level
    if level is not None:
        return level + 1
    return int(match["level"] or 1) if match else 1


# The visible text of a Word paragraph.

_THROUGH: Final = frozenset(  # wrappers whose content is part of the text
    "hyperlink ins moveTo smartTag sdt sdtContent fldSimple bdo dir customXml ruby rubyBase".split()
)
_FIXED: Final = {"tab": "\t", "cr": "\n", "noBreakHyphen": "\u2011"}


@dataclass(slots=True)
class ParagraphText:
    """What one paragraph shows, and what hangs on it."""

    pieces: list[str] = field(default_factory=list)
    notes: list[tuple[str, int]] = field(default_factory=list)  # footnote or endnote, and its id
    boxes: list[etree._Element] = field(default_factory=list)  # text boxes anchored here
    breaks_before: int = 0  # page breaks above the first character
    breaks: int = 0  # page breaks in all
    bold: bool = True  # every visible run is bold
    blank: bool = True  # nothing but white space so far

    @property
    def text(self) -> str:
        """The visible characters."""
        return "".join(self.pieces)


def read_paragraph(paragraph: etree._Element) -> ParagraphText:
    """Read a paragraph: deletions, hidden text and field codes left out."""
    found = ParagraphText()
    _read(paragraph, found)
    return found


def paragraphs(element: etree._Element) -> Iterator[etree._Element]:
    """Go through the paragraphs anywhere below an element, each once.

    Of several renderings of one thing only the one that Word shows is looked at.
    """
    return (e for e in _below(element) if local(e) == "p")


def _read(element: etree._Element, into: ParagraphText) -> None:
    for item in element:
        name = local(item)
        if name == "r":
            if not is_on(child(item, "rPr"), "vanish"):
                _run(item, into)
        elif name in _THROUGH:
            _read(item, into)
        elif name in ("oMath", "oMathPara"):
            for text in item.iter():
                if local(text) == "t":
                    _put(text.text or "", into)
        elif name == "AlternateContent":
            _read(_chosen(item), into)


def _put(text: str, into: ParagraphText) -> None:
    into.pieces.append(text)
    into.blank = into.blank and not text.strip()


def _run(run: etree._Element, into: ParagraphText) -> None:
    bold = is_on(child(run, "rPr"), "b")
    for item in run:
        name = local(item)
        if name == "t":
            text = item.text or ""
            _put(text, into)
            into.bold = into.bold and (bold or not text.strip())
        elif name in _FIXED:
            _put(_FIXED[name], into)
        elif name == "br":
            _put("" if value(item, "type") in ("page", "column") else "\n", into)
        elif name == "lastRenderedPageBreak":
            into.breaks += 1
            into.breaks_before += into.blank
        elif name in ("footnoteReference", "endnoteReference"):
            note = number(item, "id")
            if note is not None:
                into.notes.append((name.removesuffix("Reference"), note))
        elif name in ("drawing", "pict", "object"):
            into.boxes.extend(_boxes(item))
        elif name == "AlternateContent":
            chosen = _chosen(item)
            into.boxes.extend(_boxes(chosen))


def _chosen(alternatives: etree._Element) -> etree._Element:
    """Return the one of several renderings that Word would show."""
    choice = child(alternatives, "Choice")
    fallback = child(alternatives, "Fallback")
    return next((e for e in (choice, fallback) if e is not None), alternatives)


def _boxes(element: etree._Element) -> Iterator[etree._Element]:
    """Go through the text boxes in a drawing; those inside a box belong to its paragraphs."""
    return (e for e in _below(element, stop="txbxContent") if local(e) == "txbxContent")


def _below(element: etree._Element, stop: str | None = None) -> Iterator[etree._Element]:
    """Go through an element and what is below it in order, but not below those called `stop`."""
    waiting = [element]
    while waiting:
        item = waiting.pop()
        yield item
        name = local(item)
        if name == "AlternateContent":
            chosen = _chosen(item)
            waiting.extend(reversed(item) if chosen is item else [chosen])
        elif name != stop:
            waiting.extend(reversed(item))


_CONTAINERS: Final = frozenset("sdt sdtContent customXml ins moveTo smartTag".split())
_FIRST_ROW: Final = 0x0020  # the bit of a table's look that says "the first row is a header"


def load_docx(data: bytes, name: str) -> Document:
    """Read a Word document."""
    package = WordPackage(data, name)
    reader = _Reader(package)
    reader.read()
    title, date = core_properties(package.xml("docProps/core.xml"), "created", "modified")
    blocks = tie_captions(reader.visible.blocks)
    return assemble(
        name,
        reader.visible.text,
        blocks,
        format_name="docx",
        title=reader.title or title,
        date=stated_date(blocks) or date,
        pages=reader.visible.page,
    )


class _Reader:
    def __init__(self, package: WordPackage) -> None:
        self.visible = VisibleText()
        self.title: str | None = None
        self._body = package.main("word/document.xml")
        self._styles = Styles(package.xml("word/styles.xml"))
        self._notes = {
            (kind, number(note, "id")): note
            for kind in ("footnote", "endnote")
            for note in children(package.xml(f"word/{kind}s.xml"), kind)
            if value(note, "type") in (None, "normal")
        }
        self._code: list[str] = []
        self._bold_headings = False

    def read(self) -> None:
        """Read the body from top to bottom."""
        if any(local(e) == "lastRenderedPageBreak" for e in self._body.iter()):
            self.visible.page = 1
        kinds = (self._styles.kind(e) for e in self._body.iter() if local(e) == "p")
        self._bold_headings = not any(kind and kind[0] is BlockKind.HEADING for kind in kinds)
        self._flow(self._body)
        self._end_code()

    def _flow(self, element: etree._Element) -> None:
        for item in _flow(element):
            if local(item) == "p":
                self._paragraph(item)
            else:
                self._table(item)

    def _paragraph(self, paragraph: etree._Element) -> None:
        read = read_paragraph(paragraph)
        kind = self._kind(paragraph, read)
        if kind is not None and kind[0] is BlockKind.CODE:
            self._code.append(read.text)
            return
        self._end_code()
        self._turn_pages(read.breaks_before)
        if kind is not None:
            block = self.visible.add(kind[0], read.text, level=kind[1])
            if block is not None and kind == (BlockKind.HEADING, TITLE):
                self.title = self.title or block.text
        self._turn_pages(read.breaks - read.breaks_before)
        self._attached(read)

    def _kind(
        self, paragraph: etree._Element, read: ParagraphText
    ) -> tuple[BlockKind, int | None] | None:
        kind = self._styles.kind(paragraph)
        if kind is None or kind[0] is not BlockKind.PARAGRAPH:
            return kind
        text = read.text.strip()
        style_bold = self._styles.of(paragraph).bold
        if is_caption(text):
            return BlockKind.CAPTION, None
        if self._bold_headings and _is_bold_heading(text, read.bold or style_bold):
            found = heading(text)
            return BlockKind.HEADING, found.level if found else 1
        return kind

    def _attached(self, read: ParagraphText) -> None:
        """Add what hangs on a paragraph: its text boxes, then its footnotes."""
        for box in read.boxes:
            self._flow(box)
        self._add_notes(read.notes)

    def _add_notes(self, notes: list[tuple[str, int]]) -> None:
        for key in notes:
            note = self._notes.pop(key, None)
            if note is not None:
                texts = (read_paragraph(p).text.strip() for p in _flow(note) if local(p) == "p")
                self.visible.add(BlockKind.FOOTNOTE, "\n".join(filter(None, texts)))

    def _end_code(self) -> None:
        if self._code:
            self.visible.add(BlockKind.CODE, "\n".join(self._code))
            self._code.clear()

    def _turn_pages(self, breaks: int) -> None:
        if self.visible.page is not None:
            self.visible.page += breaks

    # --- tables ---

    def _table(self, table: etree._Element) -> None:
        self._end_code()
        rows = list(children(table, "tr"))
        if max((sum(1 for _ in children(row, "tc")) for row in rows), default=0) < 2:
            for row in rows:  # a frame around text, not a table
                for cell in children(row, "tc"):
                    self._flow(cell)
            return
        held = [read_paragraph(p) for p in paragraphs(table)]
        self.visible.add_table(self._rows(table, rows))
        self._turn_pages(sum(p.breaks for p in held))
        self._add_notes([note for p in held for note in p.notes])

    def _rows(self, table: etree._Element, rows: list[etree._Element]) -> list[list[RawCell]]:
        made: list[list[RawCell]] = []
        above: dict[int, tuple[int, int]] = {}  # column → the cell that reaches down into it
        marked = sum(is_on(child(row, "trPr"), "tblHeader") for row in rows)
        heads = marked or int(_looks_headed(table, rows))
        for r, row in enumerate(rows):
            made.append([])
            column = number(child(row, "trPr", "gridBefore")) or 0
            if column:
                made[r].append(RawCell("", column_span=column))
            for cell in children(row, "tc"):
                properties = child(cell, "tcPr")
                width = max(1, number(child(properties, "gridSpan")) or 1)
                merge = child(properties, "vMerge")
                if merge is not None and value(merge) != "restart" and column in above:
                    i, j = above[column]
                    made[i][j] = replace(made[i][j], row_span=r - i + 1)
                else:
                    made[r].append(RawCell(_cell_text(cell), header=r < heads, column_span=width))
                    above[column] = (r, len(made[r]) - 1)
                column += width
        return made


def _is_bold_heading(text: str, bold: bool) -> bool:
    """True for a short bold line: how people make headings who do not use heading styles."""
    return bold and 0 < len(text) <= MAX_HEADING and text[-1] not in ".,;:"


def _flow(element: etree._Element) -> Iterator[etree._Element]:
    """Go through paragraphs and tables in order, looking through containers."""
    for item in element:
        name = local(item)
        if name in ("p", "tbl"):
            yield item
        elif name in _CONTAINERS or name == "body":
            yield from _flow(item)


def _cell_text(cell: etree._Element) -> str:
    texts = (read_paragraph(p).text for p in paragraphs(cell))
    return " ".join(" ".join(texts).split())


def _looks_headed(table: etree._Element, rows: list[etree._Element]) -> bool:
    """True when the first row is set in bold, or its look says header and it holds names."""
    if len(rows) < 2:
        return False
    first = [read_paragraph(p) for p in paragraphs(rows[0])]
    shown = [p for p in first if p.text.strip()]
    if not shown:
        return False
    if all(p.bold for p in shown):
        return True
    look = child(table, "tblPr", "tblLook")
    bits = value(look) or "0"
    flagged = value(look, "firstRow") in ("1", "true") or (
        bits.isalnum() and len(bits) <= 4 and bool(_hex(bits) & _FIRST_ROW)
    )
    return flagged and all(is_name(p.text.strip()) for p in shown)


def _hex(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        return 0
