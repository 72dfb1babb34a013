"""HTML tags inside another text: what shows when they are taken away."""

from __future__ import annotations

import html
import re
from typing import Final

from abstrag.documents.trace import Trace

_TOKEN: Final = re.compile(
    r"(?P<hidden><!--.*?(?:-->|\Z)|<(?P<name>script|style)\b.*?(?:</(?P=name)\s*>|\Z))"
    r"|(?P<inline></?(?:a|abbr|b|code|em|i|kbd|mark|s|small|span|strong|sub|sup|u)\b[^<>]*>)"
    r"|(?P<tag></?[A-Za-z][^<>]*>)"
    r"|(?P<entity>&(?:\w{2,32}|#\d{1,7}|#[xX][\da-fA-F]{1,6});)",
    re.DOTALL | re.IGNORECASE,
)


def without_tags(source: str, start: int, end: int) -> Trace:
    """Return the visible text of `source[start:end]`; tags that part words leave a space."""
    trace = Trace()
    at = start
    for match in _TOKEN.finditer(source, start, end):
        trace.keep(source, at, match.start())
        if match["entity"]:
            trace.decode(html.unescape(match[0]), *match.span())
        elif match["tag"]:
            trace.decode(" ", *match.span())
        at = match.end()
    trace.keep(source, at, end)
    return trace
