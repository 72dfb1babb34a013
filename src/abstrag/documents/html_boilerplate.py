"""What of a web page nobody came to read: menus, banners, cookie bars, hidden parts."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from typing import Final

from lxml.html import HtmlElement

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
