"""PowerPoint presentations (.pptx): slide by slide, each with its title, text, tables and notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from lxml import etree

from abstrag.documents.assemble import assemble, tie_captions
from abstrag.documents.html import mark_header
from abstrag.documents.text import MAX_HEADING
from abstrag.documents.visible import RawCell, VisibleText
from abstrag.documents.zip_package import (
    PackageRelation,
    ZipPackage,
    child,
    children,
    local,
    number,
    value,
)
from abstrag.errors import FileTooLarge
from abstrag.model.document import BlockKind, Document

MAX_SLIDES: Final = 5_000
MAX_NESTING: Final = 50  # groups of shapes inside groups
_PRESENTATION: Final = "ppt/presentation.xml"
_TITLES: Final = frozenset(("title", "ctrTitle"))
_FURNITURE: Final = frozenset(("dt", "ftr", "hdr", "sldNum", "sldImg"))  # the same on every slide
_BODIES: Final = frozenset(("body", "obj"))  # their text has bullets unless it says otherwise


def load_pptx(data: bytes, name: str) -> Document:
    """Read a presentation; the page of a block is the number of its slide."""
    package = ZipPackage(data, name, "PowerPoint presentation")
    reader = _Reader(package, name)
    reader.read()
    title, date = package.properties()
    return assemble(
        name,
        reader.visible.text,
        tie_captions(reader.visible.blocks),
        format_name="pptx",
        title=_own_title(title),
        date=date,
        pages=reader.visible.page,
    )


def _own_title(title: str | None) -> str | None:
    """Return the title in the file's properties, unless it is what PowerPoint writes by itself."""
    text = (title or "").strip()
    return None if text.casefold() in ("", "powerpoint presentation", "presentation") else text


class _Reader:
    def __init__(self, package: ZipPackage, name: str) -> None:
        self.visible = VisibleText()
        self._package = package
        self._name = name

    def read(self) -> None:
        """Read all slides in the order they are shown."""
        slides = child(self._package.main(_PRESENTATION), "sldIdLst")
        parts = self._package.relations(_PRESENTATION)
        entries = list(children(slides, "sldId"))
        if len(entries) > MAX_SLIDES:
            raise FileTooLarge(
                f"{self._name!r} has more than {MAX_SLIDES:,} slides", hint="split the presentation"
            )
        for page, entry in enumerate(entries, 1):
            part = parts.get(_relation_id(entry))
            if part is None:
                raise self._package.damaged(f"slide {page} is missing")
            self.visible.page = page
            self._slide(part.target, page)

    def _slide(self, path: str, page: int) -> None:
        root = self._package.main(path)
        shapes = list(self._shapes(root))
        title = _title(shapes)
        hidden = " (hidden slide)" if value(root, "show") in ("0", "false") else ""
        text = " ".join(_text(title).split()) if title is not None else ""
        if text:
            self.visible.add(BlockKind.HEADING, text + hidden, level=1)
        else:
            self.visible.sections.enter(1, f"Slide {page}{hidden}")
        for shape in shapes:
            if shape is not title:
                self._shape(shape)
        self._notes(self._package.relations(path), text or f"Slide {page}")

    def _notes(self, parts: dict[str, PackageRelation], title: str) -> None:
        """Write what the speaker wrote below the slide."""
        path = next((part.target for part in parts.values() if part.kind == "notesSlide"), None)
        root = self._package.xml(path) if path else None
        if root is not None:
            self.visible.sections.enter(2, f"{title} (notes)")
            for shape in self._shapes(root):
                for paragraph in _paragraphs(shape):
                    self.visible.add(BlockKind.PARAGRAPH, _paragraph(paragraph))

    def _shapes(self, root: etree._Element) -> Iterator[etree._Element]:
        """Go through the shapes and tables of a slide, those in groups too."""
        tree = child(root, "cSld", "spTree")
        stack = [(shape, 0) for shape in reversed(tree)] if tree is not None else []
        while stack:
            shape, depth = stack.pop()
            if depth > MAX_NESTING:
                raise self._package.damaged("its groups of shapes are nested too deeply")
            if local(shape) in ("grpSp", "AlternateContent", "Choice"):
                inner = child(shape, "Choice") if local(shape) == "AlternateContent" else None
                held = shape if inner is None else inner
                stack.extend((item, depth + 1) for item in reversed(held))
            elif local(shape) in ("sp", "graphicFrame") and _role(shape) not in _FURNITURE:
                yield shape

    def _shape(self, shape: etree._Element) -> None:
        table = child(shape, "graphic", "graphicData", "tbl")
        if table is not None:
            self.visible.add_table(_rows(table))
            return
        listed = _role(shape) in _BODIES
        for paragraph in _paragraphs(shape):
            if _is_item(paragraph, listed):
                level = (number(child(paragraph, "pPr"), "lvl") or 0) + 1
                self.visible.add(BlockKind.LIST_ITEM, _paragraph(paragraph), level=level)
            else:
                self.visible.add(BlockKind.PARAGRAPH, _paragraph(paragraph))


def _relation_id(entry: etree._Element) -> str:
    """Return the id by which a slide is found; an entry has another one without a namespace."""
    return next((str(v) for k, v in entry.items() if str(k).endswith("}id")), "")


def _role(shape: etree._Element) -> str | None:
    """Return what a shape is a placeholder for; None when it is none."""
    for frame in shape:
        holder = child(frame, "nvPr", "ph")
        if holder is not None:
            return value(holder, "type") or "obj"
    return None


def _title(shapes: list[etree._Element]) -> etree._Element | None:
    """Return the title of a slide, or a lone short line at its top that stands for one."""
    for shape in shapes:
        if _role(shape) in _TITLES and _text(shape):
            return shape
    first = next((shape for shape in shapes if _text(shape)), None)
    if first is None or _role(first) is not None:
        return None
    lines = [p for p in _paragraphs(first) if _paragraph(p).strip()]
    text = _text(first)
    alone = len(lines) == 1 and not _is_item(lines[0], False)
    return first if alone and len(text) <= MAX_HEADING and text[-1] not in ".,;:" else None


def _text(shape: etree._Element) -> str:
    return " ".join(_paragraph(p) for p in _paragraphs(shape)).strip()


def _paragraphs(shape: etree._Element | None) -> list[etree._Element]:
    return list(children(child(shape, "txBody"), "p"))


def _is_item(paragraph: etree._Element, listed: bool) -> bool:
    """True for an item of a list: it has a bullet or number, or what it stands in gives it one."""
    properties = child(paragraph, "pPr")
    marks = {local(mark) for mark in properties} if properties is not None else set()
    if "buNone" in marks:
        return False
    return listed or not marks.isdisjoint(("buChar", "buAutoNum", "buBlip"))


def _paragraph(paragraph: etree._Element) -> str:
    pieces: list[str] = []
    for item in paragraph:
        if local(item) in ("r", "fld"):
            pieces.extend(text.text or "" for text in children(item, "t"))
        elif local(item) == "br":
            pieces.append("\n")
        elif local(item) in ("m", "AlternateContent"):  # a formula
            pieces.extend(text.text or "" for text in item.iter() if local(text) == "t")
    return "".join(pieces)


def _rows(table: etree._Element) -> list[list[RawCell]]:
    headed = value(child(table, "tblPr"), "firstRow") in ("1", "true")
    rows = [
        [
            RawCell(
                " ".join(_text(cell).split()),
                header=headed and r == 0,
                row_span=number(cell, "rowSpan") or 1,
                column_span=number(cell, "gridSpan") or 1,
            )
            for cell in children(row, "tc")
            if not _is_on(cell, "hMerge") and not _is_on(cell, "vMerge")
        ]
        for r, row in enumerate(children(table, "tr"))
    ]
    return mark_header(rows)


def _is_on(cell: etree._Element, attribute: str) -> bool:
    return value(cell, attribute) in ("1", "true")
