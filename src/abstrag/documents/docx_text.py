"""The visible text of a Word paragraph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from lxml import etree

from abstrag.documents.docx_package import child, is_on, local, number, value

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
