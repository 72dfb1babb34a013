"""Front matter: the title and date that a Markdown file states above its text."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from abstrag.documents.dates import find_date
from abstrag.model.span import Span

_BLOCK: Final = re.compile(
    r"\A(?P<fence>---|\+\+\+)[ \t]*\r?\n(?P<body>.*?)^(?:(?P=fence)|\.\.\.)[ \t]*(?:\r?\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
_FIELD: Final = re.compile(
    r"^(?P<key>title|date|published|publishdate|pubdate)[ \t]*[:=][ \t]*(?P<value>\S.*?)[ \t]*\r?$",
    re.IGNORECASE | re.MULTILINE,
)
_KEY: Final = re.compile(r"^[\w-]+[ \t]*[:=]", re.MULTILINE)


class FrontMatter(NamedTuple):
    """What the front matter says, and where the text below it begins."""

    end: int = 0
    title: str | None = None
    date: tuple[str, Span] | None = None


def front_matter(text: str) -> FrontMatter:
    """Read YAML (`---`) or TOML (`+++`) front matter; a text without any has an empty one."""
    block = _BLOCK.match(text)
    if block is None or _KEY.search(block["body"]) is None:
        return FrontMatter()
    title: str | None = None
    date: tuple[str, Span] | None = None
    for field in _FIELD.finditer(text, block.start("body"), block.end("body")):
        if field["key"].casefold() == "title":
            title = title or _unquoted(field["value"])
        elif date is None and (found := find_date(field["value"])):
            at = field.start("value")
            date = found.iso, Span(at + found.start, at + found.end)
    return FrontMatter(block.end(), title, date)


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value
