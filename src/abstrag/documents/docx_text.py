"""The visible text of a Word paragraph."""

from __future__ import annotations

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

    @property
    def text(self) -> str:
        """The visible characters."""
        return "".join(self.pieces)


def read_paragraph(paragraph: etree._Element) -> ParagraphText:
    """Read a paragraph: deletions, hidden text and field codes left out."""
    found = ParagraphText()
    _read(paragraph, found)
    return found


def _read(element: etree._Element, into: ParagraphText) -> None:
    for item in element:
        name = local(item)
        if name == "r":
            if not is_on(child(item, "rPr"), "vanish"):
                _run(item, into)
        elif name in _THROUGH:
            _read(item, into)
        elif name in ("oMath", "oMathPara"):
            into.pieces.extend(text.text or "" for text in item.iter() if local(text) == "t")
        elif name == "AlternateContent":
            _read(_chosen(item), into)


def _run(run: etree._Element, into: ParagraphText) -> None:
    for item in run:
        name = local(item)
        if name == "t":
            text = item.text or ""
            into.pieces.append(text)
            into.bold = into.bold and (is_on(child(run, "rPr"), "b") or not text.strip())
        elif name in _FIXED:
            into.pieces.append(_FIXED[name])
        elif name == "br":
            into.pieces.append("" if value(item, "type") in ("page", "column") else "\n")
        elif name == "lastRenderedPageBreak":
            into.breaks += 1
            into.breaks_before += not into.text.strip()
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


def _boxes(element: etree._Element) -> list[etree._Element]:
    return [e for e in element.iter() if local(e) == "txbxContent"]
