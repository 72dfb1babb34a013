"""Web pages: the visible text in reading order, without menus and banners, data tables as rows."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cached_property
from typing import Any, Final

import lxml.html
from lxml import etree
from lxml.html import HtmlElement

from abstrag.config import MAX_ELEMENTS, MAX_NESTING
from abstrag.documents.assemble import (
    OverLimit,
    assemble,
    is_caption,
    local_target,
    tie_captions,
    with_caption,
)
from abstrag.documents.decode import decode
from abstrag.documents.header import parse_date, stated_date
from abstrag.documents.visible import RawCell, VisibleText, has_header_look
from abstrag.errors import Damaged, EmptyDocument
from abstrag.model.document import BlockKind, Document, PageLink

_DROPPED: Final = frozenset(
    "script style noscript template nav aside svg canvas iframe object embed audio video map button"
    " input select textarea datalist dialog head link meta menu".split()
)
_LANDMARKS: Final = frozenset(
    "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar"
    " tooltip doc-backlink doc-toc doc-pagelist".split()
)
_BOILERPLATE: Final = re.compile(
    r"(?:.*[-_])?(?:cookies?|gdpr|consent|newsletter|subscribe|breadcrumbs?|pagination|pager|advert"
    r"|advertisement|adsbygoogle|sponsored|promo|navbox|navbar|navigation|catlinks|editsection|toc"
    r"|noprint|sidebar|dropdown|portlet|backlink|jump-link|skip-link|screen-reader-text|sr-only"
    r"|visually-hidden|visuallyhidden|printfooter|ambox|(?:share|sharing|social)"
    r"(?:-(?:links?|buttons?|bar|icons?))?)(?:-(?:bar|banner|box|container|wrapper|menu|list))?",
    re.IGNORECASE,
)
_HIDING: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BACKLINKS: Final = frozenset(("^", "↑", "↩", "↩︎", "⏎", "↵", "¶", "#"))
_NOTES: Final = frozenset(("doc-footnote", "doc-endnote", "doc-endnotes", "doc-footnotes"))
_KEPT: Final = frozenset(("html", "body", "main", "article"))
_UNSEEN: Final = frozenset(("script", "style", "nav"))
_SHORT: Final = 100  # characters; what is longer is neither an exponent nor the mark of a note
_MOST: Final = 0.5  # an element that holds this share of a page's text is the page


class Boilerplate:
    """Tells, for the part of a page below `root`, which elements are left unread."""

    def __init__(self, root: HtmlElement) -> None:
        self._root = root

    def drops(self, element: HtmlElement) -> bool:
        """True when an element and all it holds are left unread."""
        tag, role = element.tag, element.get("role", "")
        if role in _NOTES or tag in _KEPT:
            return False
        if tag in _DROPPED or role in _LANDMARKS or _is_hidden(element):
            return True
        if tag in ("header", "footer") and not _belongs_to_text(element):
            return True
        if tag == "a" and short_text(element) in _BACKLINKS:
            return True
        names = f"{element.get('class', '')} {element.get('id', '')}".split()
        return any(map(_BOILERPLATE.fullmatch, names)) and not self._is_most(element)

    def _is_most(self, element: HtmlElement) -> bool:
        return self._lengths[element] >= _MOST * self._lengths[self._root]

    @cached_property
    def _lengths(self) -> Mapping[HtmlElement, int]:
        return _visible_lengths(self._root)


def main_part(body: HtmlElement) -> HtmlElement:
    """Return the part of a page that holds its text: main, else a lone article, else all."""
    for path in (".//main", ".//*[@role='main']", ".//article"):
        found = body.xpath(path)
        if len(found) == 1 and _visible_length(found[0]) >= _MOST * _visible_length(body):
            return found[0]
    return body


def _is_hidden(element: HtmlElement) -> bool:
    return (
        element.get("hidden") is not None
        or element.get("aria-hidden") == "true"
        or _HIDING.search(element.get("style", "")) is not None
    )


def _belongs_to_text(element: HtmlElement) -> bool:
    """True for the header of an article that holds its heading, and for a footer with notes."""
    if element.tag == "footer":
        return bool(
            element.xpath(".//*[starts-with(@role, 'doc-') or contains(@class, 'footnote')]")
        )
    inside = any(parent.tag in ("main", "article", "section") for parent in element.iterancestors())
    heading = next(element.iterdescendants("h1", "h2"), None)
    return heading is not None and (inside or not _has_links(element))


def _has_links(element: HtmlElement) -> bool:
    return len(element.xpath(".//a")) > 3


def short_text(element: HtmlElement) -> str | None:
    """Return the text of an element that holds a sign or a number, None when it holds more.

    No more of it is looked at than that takes, for elements may lie in one another.
    """
    pieces: list[str] = []
    length = 0
    for piece in element.itertext():
        pieces.append(piece)
        length += len(piece.strip())
        if length > _SHORT:
            return None
    return "".join(pieces).strip()


def _visible_length(element: HtmlElement) -> int:
    texts = element.xpath(".//text()[not(ancestor::script or ancestor::style or ancestor::nav)]")
    return sum(len(text.strip()) for text in texts)


def _visible_lengths(root: HtmlElement) -> Mapping[HtmlElement, int]:
    """Return the visible length of an element and of all below it, in one pass."""
    elements = [e for e in root.iter() if isinstance(e.tag, str)]
    unseen = {e for e in (*root.iterancestors(), root) if e.tag in _UNSEEN}
    if unseen:
        unseen.add(root)
    for element in elements[1:]:
        if element.tag in _UNSEEN or element.getparent() in unseen:
            unseen.add(element)
    lengths: dict[HtmlElement, int] = defaultdict(int)
    for text in root.xpath(".//text()"):
        owner = text.getparent().getparent() if text.is_tail else text.getparent()
        if owner not in unseen:
            lengths[owner] += len(text.strip())
    for element in reversed(elements[1:]):
        lengths[element.getparent()] += lengths[element]
    return lengths


ReadText = Callable[[HtmlElement], str]


def is_data_table(table: HtmlElement) -> bool:
    """True when a table holds data, False when it only arranges things on the page."""
    if table.get("role") in ("presentation", "none"):
        return False
    if next(table.iterdescendants("table", "h1", "h2", "h3", "h4"), None) is not None:
        return False
    rows = [list(_cells(row)) for row in _rows(table)]
    if table.xpath(".//th | .//caption"):
        return any(rows)
    return len(rows) > 1 and max(map(len, rows), default=0) > 1


def table_rows(table: HtmlElement, read: ReadText) -> list[list[RawCell]]:
    """Read the cells of a table; a first row that nothing marks may be its header."""
    rows: list[list[RawCell]] = []
    for row in _rows(table):
        in_head = row.getparent() is not None and row.getparent().tag == "thead"
        cells = [
            RawCell(
                " ".join(read(cell).split()),
                header=in_head or cell.tag == "th",
                row_span=_reach(cell, "rowspan"),
                column_span=_reach(cell, "colspan"),
            )
            for cell in _cells(row)
        ]
        if cells:
            rows.append(_whole_header(cells))
    return mark_header(rows)


def _whole_header(cells: list[RawCell]) -> list[RawCell]:
    """Make the empty corner of a header row a header too; authors leave it a plain cell."""
    shown = [cell for cell in cells if cell.text]
    if len(shown) < 2 or not all(cell.header for cell in shown):
        return cells
    return [replace(cell, header=True) for cell in cells]


def mark_header(rows: list[list[RawCell]]) -> list[list[RawCell]]:
    """Make the first row a header if no cell is one and it reads like names over values."""
    if len(rows) < 2 or any(cell.header for row in rows for cell in row):
        return rows
    if not has_header_look(rows[0], rows[1:]):
        return rows
    return [[replace(cell, header=True) for cell in rows[0]], *rows[1:]]


def _rows(table: HtmlElement) -> Iterator[HtmlElement]:
    for child in table:
        if child.tag == "tr":
            yield child
        elif child.tag in ("thead", "tbody", "tfoot"):
            yield from (row for row in child if row.tag == "tr")


def _cells(row: HtmlElement) -> Iterator[HtmlElement]:
    return (cell for cell in row if cell.tag in ("td", "th"))


def _reach(cell: HtmlElement, attribute: str) -> int:
    value = (cell.get(attribute) or "1").strip()
    return int(value) if value.isascii() and value.isdigit() and len(value) < 6 else 1


# The title and date of a web page, from what its head says about it.

_DATE_NAMES: Final = (  # the plainest first
    "article:published_time og:published_time datepublished citation_publication_date"
    " dc.date.issued dcterms.issued dc.date dcterms.date parsely-pub-date pubdate publishdate date"
).split()
_SEPARATORS: Final = (" - ", " | ", " – ", " — ", " · ", " :: ")
_REWRITTEN: Final = timedelta(days=365)
_MAX_NESTING: Final = 6


def page_title(page: HtmlElement) -> str | None:
    """Return the title: the first heading if the head agrees with it, else what the head says."""
    stated = _meta(page, "og:title") or _text(page.find(".//title"))
    heading = _text(page.find(".//h1"))
    if stated is None or heading is None:
        return stated or heading
    parts = [stated]
    for separator in _SEPARATORS:
        parts = [piece.strip() for part in parts for piece in part.split(separator)]
    return heading if heading == stated or heading in parts else stated


def page_date(page: HtmlElement) -> str | None:
    """Return the date the page was published, in order of how plainly it says so."""
    for name in _DATE_NAMES:
        value = _meta(page, name)
        if value and (iso := parse_date(value)):
            return iso
    return _linked_data_date(page) or _time_date(page)


def _meta(page: HtmlElement, name: str) -> str | None:
    for meta in page.iter("meta"):
        names = (meta.get("property"), meta.get("name"), meta.get("itemprop"))
        if any(given and given.casefold() == name for given in names):
            return (meta.get("content") or "").strip() or None
    return None


def _linked_data_date(page: HtmlElement) -> str | None:
    for script in page.iter("script"):
        if script.get("type") != "application/ld+json" or not script.text:
            continue
        try:
            data = json.loads(script.text)
        except (ValueError, RecursionError):
            continue  # pages carry broken scripts; browsers do not mind either
        for thing in _things(data):
            if iso := _thing_date(thing):
                return iso
    return None


def _things(data: Any, depth: int = 0) -> Iterator[dict[str, Any]]:
    if depth > _MAX_NESTING:
        return
    if isinstance(data, dict):
        yield data
        data = list(data.values())
    if isinstance(data, list):
        for item in data:
            yield from _things(item, depth + 1)


def _thing_date(thing: dict[str, Any]) -> str | None:
    """Return when a thing was published, or last rewritten if that was over a year later.

    An encyclopedia's article speaks from its latest revision, not from the day it was begun.
    """
    first, last = (
        parse_date(value) if isinstance(value := thing.get(key), str) else None
        for key in ("datePublished", "dateModified")
    )
    if first and last and date.fromisoformat(last) - date.fromisoformat(first) > _REWRITTEN:
        return last
    return first


def _time_date(page: HtmlElement) -> str | None:
    times = list(page.iter("time"))
    marked = [t for t in times if t.get("pubdate") is not None or t.get("itemprop")]
    for element in (*marked, *times):
        if iso := parse_date(element.get("datetime") or "".join(element.itertext())):
            return iso
    return None


def _text(element: HtmlElement | None) -> str | None:
    if element is None:
        return None
    return " ".join("".join(element.itertext()).split()) or None


_CHARSET: Final = re.compile(
    rb"<(?:meta|\?xml)[^>]+(?:charset|encoding)\s*=\s*[\"']?([\w.:-]+)", re.I
)
_WEB_CHARSET: Final = re.compile(
    r"utf-?8|windows-\d+|cp\d+|iso-8859-\d+|koi8-[ru]|macintosh|gbk|gb18030|gb2312|big5(-hkscs)?"
    r"|euc-(jp|kr)|shift[_-]jis|iso-2022-jp|tis-620|latin1|us-ascii"
)
_AS_BROWSERS_DO: Final = {"iso-8859-1": "cp1252", "latin1": "cp1252", "us-ascii": "cp1252"}
_BLOCKS: Final = frozenset(
    "address article aside blockquote body caption center dd details div dl dt fieldset figcaption"
    " figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main nav ol p pre search"
    " section summary table tbody td tfoot th thead tr ul".split()
)
_DEFINING: Final = frozenset("dt dd p div".split())  # a term and what it means are one block
_NOTE_ROLES: Final = frozenset(("doc-footnote", "doc-endnote"))
_NOTE_LISTS: Final = re.compile(r"(?:references|reflist|footnotes?|endnotes?|footnote-list)", re.I)
_NOTE_ID: Final = re.compile(r"(?:cite_note|fn|footnote|endnote|note)[-_:.]?\w*\d", re.I)
_SPACE: Final = re.compile(r"[ \t\r\n\f]+")
_EXPONENT: Final = re.compile(r"[+−-]?\d+")


def load_html(data: bytes, name: str) -> Document:
    """Read a web page."""
    page = _parse(decode(data, name, declared=_declared_charset(data)), name)
    body = page.find("body")
    reader = _Reader(main_part(body if body is not None else page))
    reader.read()
    blocks = tie_captions(reader.visible.blocks)
    date = page_date(page)
    return assemble(
        name,
        reader.visible.text,
        blocks,
        format_name="html",
        title=page_title(page),
        date=date or stated_date(blocks),
        links=reader.links,
    )


def _declared_charset(data: bytes) -> str | None:
    match = _CHARSET.search(data[:4096])
    if match is None:
        return None
    name = match[1].decode("ascii").casefold()
    return _AS_BROWSERS_DO.get(name, name) if _WEB_CHARSET.fullmatch(name) else None


def _parse(text: str, name: str) -> HtmlElement:
    if text.count("<") - text.count("</") > MAX_ELEMENTS:
        raise OverLimit(
            f"the page has more than {MAX_ELEMENTS:,} elements",
            "MAX_ELEMENTS",
            hint="split the page, or save it as text",
        )
    parser = lxml.html.HTMLParser(
        encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True
    )
    try:
        page = lxml.html.document_fromstring(text.encode(), parser=parser)
    except etree.ParserError:
        raise EmptyDocument(f"{name!r} is an empty page", hint="save the page again") from None
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise Damaged(
            f"{name!r} nests its elements too deeply, over {MAX_NESTING:,} (limit MAX_NESTING)",
            hint="save it as text",
        )
    return page


@dataclass(frozen=True, slots=True)
class _Place:
    """Where on the page we are: what a block that ends here would be."""

    kind: BlockKind = BlockKind.PARAGRAPH
    level: int | None = None
    lists: int = 0  # how many lists are open
    notes: bool = False  # inside a list of footnotes
    figure: int | None = None  # how many blocks there were when the open figure began
    term: bool = False  # inside a term of a list of definitions


class _Reader:
    """Walks the page once; text gathers until an element that stands on its own line ends it."""

    def __init__(self, root: HtmlElement) -> None:
        self.root = root
        self.visible = VisibleText()
        self._boilerplate = Boilerplate(root)
        self._text: list[str] = []
        self._place = _Place()
        self._looked_at = 0  # how many blocks were looked at for what follows
        self._tables: list[int] = []
        self._captions: list[int] = []
        self._terms = False  # whether nothing but terms of a list of definitions has gathered
        self._linked: list[tuple[str, str]] = []  # text and target, of the block that gathers
        self.links: list[PageLink] = []

    def read(self) -> None:
        """Read everything below the root."""
        stack: list[tuple[HtmlElement, _Place | None]] = [(self.root, None)]
        while stack:
            element, before = stack.pop()
            if before is not None:
                self._leave(element, before)
            elif self._enter(element):
                stack.append((element, self._place))
                self._place = self._inside(element)
                self._add(element.text)
                stack.extend((child, None) for child in reversed(element))
                continue
            if element is not self.root:
                self._add(element.tail)
        self._flush()

    def _enter(self, element: HtmlElement) -> bool:
        """Enter an element; False when what it holds is dealt with already or left unread."""
        if not isinstance(element.tag, str) or self._boilerplate.drops(element):
            return False
        if element.tag in _BLOCKS:
            self._end_line(element.tag)
        match element.tag:
            case "br":
                self._text.append("\n")
            case "pre":
                self.visible.add(BlockKind.CODE, _verbatim(element))
            case "table" if is_data_table(element):
                self._table(element)
            case "math":
                self._add(element.get("alttext") or " ".join(element.itertext()))
            case "img":
                self._add(element.get("alt") if "math" in element.get("class", "") else None)
            case "sup" if _marks_note(element):
                pass
            case _:
                if element.tag == "a" and (target := local_target(element.get("href", ""))):
                    self._linked.append((" ".join((element.text_content() or "").split()), target))
                self._exponent(element)
                return True
        return False

    def _inside(self, element: HtmlElement) -> _Place:
        place, tag = self._place, element.tag
        if tag in ("ul", "ol", "dl"):
            place = replace(place, lists=place.lists + 1)
        if tag == "dt":
            self._terms = True
        place = replace(place, term=tag == "dt" or (place.term and tag != "dd"))
        if tag == "figure":
            place = replace(place, figure=len(self.visible.blocks))
        names = f"{element.get('class', '')} {element.get('id', '')}".split()
        if element.get("role") == "doc-endnotes" or any(map(_NOTE_LISTS.fullmatch, names)):
            place = replace(place, notes=True)
        if level := _heading_level(element):
            return replace(place, kind=BlockKind.HEADING, level=level)
        if self._is_note(element, place):
            return replace(place, kind=BlockKind.FOOTNOTE, level=None)
        if tag in ("li", "dd"):
            return replace(place, kind=BlockKind.LIST_ITEM, level=max(1, place.lists))
        if tag in ("figcaption", "caption"):
            return replace(place, kind=BlockKind.CAPTION, level=None)
        return place

    def _is_note(self, element: HtmlElement, place: _Place) -> bool:
        if element.get("role") in _NOTE_ROLES:
            return True
        if element.tag not in ("li", "p", "div", "dd"):
            return False
        return (place.notes and element.tag == "li") or bool(_NOTE_ID.match(element.get("id", "")))

    def _leave(self, element: HtmlElement, before: _Place) -> None:
        if element.tag in _BLOCKS:
            self._end_line(element.tag)
        if element.tag == "figure" and self._place.figure is not None:
            self._tie_figure(self._place.figure)
        self._place = before

    def _tie_figure(self, start: int) -> None:
        """Give the only table of a figure the figure's only caption."""
        blocks = self.visible.blocks
        for i in range(self._looked_at, len(blocks)):
            self._tables += [i] if blocks[i].table else []
            self._captions += [i] if blocks[i].kind is BlockKind.CAPTION else []
        self._looked_at = len(blocks)
        tables = self._tables[bisect_left(self._tables, start) :]
        captions = self._captions[bisect_left(self._captions, start) :]
        if len(tables) == len(captions) == 1:
            blocks[tables[0]] = with_caption(blocks[tables[0]], blocks[captions[0]])

    def _table(self, table: HtmlElement) -> None:
        caption = table.find("caption")
        text = _inner_text(caption) if caption is not None else ""
        self.visible.add_table(table_rows(table, _inner_text), self.visible.add_caption(text))

    def _exponent(self, element: HtmlElement) -> None:
        """Keep 10 to the power of 20 from reading 1020."""
        if element.tag == "sup" and _EXPONENT.fullmatch(short_text(element) or ""):
            before = "".join(self._text[-2:])
            if before[-1:].isalnum() or before[-1:] == ")":
                self._text.append("^")

    def _add(self, text: str | None) -> None:
        if text and (text.strip() or not self._terms):
            self._text.append(_SPACE.sub(" ", text))
            self._terms &= self._place.term or not text.strip()

    def _end_line(self, tag: str) -> None:
        """End the block that gathered so far, unless it is a term that waits for its meaning."""
        if not (self._terms and tag in _DEFINING):
            self._flush()
        elif self._text and self._text[-1] != "\n":
            self._text.append("\n")

    def _flush(self) -> None:
        """End the block that gathered so far, if any."""
        self._terms = False
        text = re.sub(r" *\n *", "\n", re.sub(" +", " ", "".join(self._text)))
        self._text.clear()
        kind = self._place.kind
        if kind is BlockKind.PARAGRAPH and is_caption(text.strip()):
            kind = BlockKind.CAPTION
        block = self.visible.add(kind, text, level=self._place.level)
        if block is not None:
            self.links += [PageLink(block.span, said, target) for said, target in self._linked]
        self._linked.clear()


def _inner_text(element: HtmlElement) -> str:
    """Return the visible text of an element, its inner blocks in one line."""
    inner = _Reader(element)
    inner.read()
    return " ".join(block.text for block in inner.visible.blocks)


def _verbatim(element: HtmlElement) -> str:
    pieces = [element.text or ""]
    for child in element.iterdescendants():
        pieces.append("\n" if child.tag == "br" else child.text or "")
        pieces.append(child.tail or "")
    return "".join(pieces)


def _heading_level(element: HtmlElement) -> int | None:
    if re.fullmatch("h[1-6]", element.tag):
        return int(element.tag[1])
    if element.get("role") == "heading":
        level = element.get("aria-level", "2")
        return int(level) if re.fullmatch("[1-9]", level) else 2
    return None


def _marks_note(element: HtmlElement) -> bool:
    """True for a bare footnote number, which would read as part of the word before it."""
    if not (short_text(element) or "").strip("*†‡").isdigit():
        return False
    return bool(element.xpath(".//a[starts-with(@href, '#')]"))
