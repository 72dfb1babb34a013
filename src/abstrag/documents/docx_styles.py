"""What Word's styles say about paragraphs: headings, lists, captions, code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from lxml import etree

from abstrag.documents.docx_package import child, children, number, value
from abstrag.documents.sections import TITLE
from abstrag.model.document import BlockKind

_HEADING: Final = re.compile(r"heading (?P<level>[1-9])")
_LIST: Final = re.compile(r"list (?:bullet|number)(?: (?P<level>[2-9]))?")
_CODE: Final = re.compile(
    r"html preformatted|macro text|(?:source )?code(?: block)?|preformatted(?: text)?|verbatim"
)
_CONTENTS: Final = re.compile(r"toc (?:\d|heading)|table of (?:figures|authorities)|contents \d")
_BODY_LEVEL: Final = 9  # the outline level that means "no heading"
_MAX_CHAIN: Final = 20


@dataclass(frozen=True, slots=True)
class Style:
    """A paragraph style with everything it inherits."""

    name: str = ""
    outline: int | None = None
    list_id: int | None = None
    list_level: int | None = None
    bold: bool = False


class Styles:
    """The styles of one document."""

    def __init__(self, root: etree._Element | None) -> None:
        self._made: dict[str, Style] = {}
        self._elements = {
            value(element, "styleId") or "": element
            for element in (children(root, "style") if root is not None else ())
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

    def of(self, paragraph: etree._Element) -> Style:
        """Return the style of a paragraph."""
        key = value(child(paragraph, "pPr", "pStyle")) or self._default
        if key not in self._made:
            self._made[key] = self._resolve(key)
        return self._made[key]

    def _resolve(self, key: str) -> Style:
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
        return Style(name or key.casefold(), outline, list_id, list_level, bold)

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


def _heading_level(paragraph: etree._Element, style: Style) -> int | None:
    own = number(child(paragraph, "pPr", "outlineLvl"))
    outline = style.outline if own is None else own
    if outline is not None:
        return outline + 1 if outline < _BODY_LEVEL else None
    match = _HEADING.fullmatch(style.name)
    return int(match["level"]) if match else None


def _list_level(paragraph: etree._Element, style: Style) -> int | None:
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
