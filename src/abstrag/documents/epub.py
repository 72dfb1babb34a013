"""Books (.epub): the chapters in the order they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import lxml.html
from lxml import etree

from abstrag.documents.assemble import TITLE, assemble
from abstrag.documents.header import parse_date
from abstrag.documents.html import load_html
from abstrag.documents.visible import VisibleText
from abstrag.documents.zip_package import ZipPackage, child, children, local, resolved, value
from abstrag.errors import EmptyDocument, Encrypted, FileTooLarge
from abstrag.model.document import BlockKind, Document

MAX_CHAPTERS: Final = 5_000
_CONTAINER: Final = "META-INF/container.xml"
_PAGES: Final = frozenset(("application/xhtml+xml", "text/html", "application/xml"))


def load_epub(data: bytes, name: str) -> Document:
    """Read a book; pictures, sounds and scripts in it stay where they are."""
    package = ZipPackage(data, name, "EPUB book")
    path = _package_path(package)
    book = package.main(path)
    chapters = list(_spine(book, path))
    if len(chapters) > MAX_CHAPTERS:
        raise FileTooLarge(f"{name!r} has more than {MAX_CHAPTERS:,} chapters", hint="split it")
    _refuse_locked(package, name, frozenset(chapters))
    names = _contents(package, book, path)
    visible = VisibleText()
    for chapter in chapters:
        page = package.read(chapter)
        if page is None:
            raise package.damaged(f"the chapter {chapter} is missing")
        if page.strip():
            _add(visible, page, f"{name}, {chapter}", names.get(chapter))
    return assemble(
        name,
        visible.text,
        visible.blocks,
        format_name="epub",
        title=_stated(book, "title"),
        date=parse_date(_stated(book, "date") or ""),
    )


def _package_path(package: ZipPackage) -> str:
    roots = child(package.main(_CONTAINER), "rootfiles")
    for root in children(roots, "rootfile"):
        if path := value(root, "full-path"):
            return resolved("", path)
    raise package.damaged("it does not say where its contents begin")


def _spine(book: etree._Element, path: str) -> Iterator[str]:
    """Go through the paths of the chapters, without the table of contents, once each."""
    items = {value(item, "id"): item for item in _all(book, "manifest", "item")}
    seen: set[str] = set()
    for entry in _all(book, "spine", "itemref"):
        item = items.get(value(entry, "idref"))
        href = value(item, "href") or ""
        is_page = value(item, "media-type") in _PAGES
        is_contents = "nav" in (value(item, "properties") or "").split()
        target = resolved(path, href)
        if href and is_page and not is_contents and target not in seen:
            seen.add(target)
            yield target


def _all(book: etree._Element, parent: str, name: str) -> list[etree._Element]:
    return list(children(child(book, parent), name))


def _refuse_locked(package: ZipPackage, name: str, chapters: frozenset[str]) -> None:
    """Refuse a book whose chapters only a certain reader can open; locked fonts do not matter."""
    locks = package.xml("META-INF/encryption.xml")
    for one in locks.iter() if locks is not None else ():
        if local(one) == "CipherReference" and resolved("", value(one, "URI") or "") in chapters:
            raise Encrypted(
                f"{name!r} is a book locked by its seller", hint="give a copy without that lock"
            )


def _contents(package: ZipPackage, book: etree._Element, path: str) -> dict[str, str]:
    """Return by path what the table of contents calls each chapter."""
    names: dict[str, str] = {}
    for item in _all(book, "manifest", "item"):
        is_contents = "nav" in (value(item, "properties") or "").split()
        if not is_contents and value(item, "media-type") != "application/x-dtbncx+xml":
            continue
        where = resolved(path, value(item, "href") or "")
        root = _page(package.read(where)) if is_contents else package.xml(where)
        for link in root.iter() if root is not None else ():
            if local(link) == "a":
                target, text = value(link, "href"), "".join(map(str, link.itertext()))
            elif local(link) == "navPoint":
                label = child(link, "navLabel", "text")
                target = value(child(link, "content"), "src")
                text = label.text or "" if label is not None else ""
            else:
                continue
            if target and text.strip():
                names.setdefault(resolved(where, target), " ".join(text.split()))
    return names


def _page(data: bytes | None) -> etree._Element | None:
    """Parse a page of contents as leniently as readers of books do."""
    if not data or not data.strip():
        return None
    try:
        return lxml.html.document_fromstring(data, parser=lxml.html.HTMLParser(encoding="utf-8"))
    except etree.ParserError:  # nothing but marks and comments
        return None


def _add(visible: VisibleText, page: bytes, name: str, called: str | None) -> None:
    """Add a chapter; without a heading of its own it goes by its name in the table of contents."""
    try:
        chapter = load_html(page, name)
    except EmptyDocument:  # a cover, a blank page
        return
    visible.sections.leave(TITLE)
    if called and not any(block.kind is BlockKind.HEADING for block in chapter.blocks):
        first, *rest = chapter.blocks
        if first.text == called:  # a heading that only looks like one
            title = replace(first, kind=BlockKind.HEADING, level=TITLE)
            chapter = replace(chapter, blocks=(title, *rest))
        else:
            visible.sections.enter(1, called)
    visible.include(chapter)


def _stated(book: etree._Element, name: str) -> str | None:
    found = child(book, "metadata", name)
    return found.text if found is not None else None
