"""The title and date of a web page, from what its head says about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any, Final

from lxml.html import HtmlElement

from abstrag.documents.dates import parse_date

_DATE_NAMES: Final = (
    "article:published_time",
    "og:published_time",
    "datepublished",
    "citation_publication_date",
    "dc.date.issued",
    "dcterms.issued",
    "dc.date",
    "dcterms.date",
    "parsely-pub-date",
    "pubdate",
    "publishdate",
    "date",
)
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
