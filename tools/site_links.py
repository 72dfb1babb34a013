"""A hook of mkdocs: links that leave docs/ lead nowhere on the site, so it names the file instead.

Pages are read in the repository too, where `[log](../training/LOG.md)` works; on the site it
becomes "log (`training/LOG.md`)".
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Any, Final

_LINK: Final = re.compile(r"\[(?P<text>[^\]\n]+)\]\((?P<target>\.\./[^)#\s]+)[^)\s]*\)")


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Return the text of a page as the site shows it; mkdocs calls this for every page."""
    return within_site(markdown, page.file.src_uri)


def within_site(markdown: str, page: str) -> str:
    """Return a page's text with the names of files for links that leave the folder of pages."""

    def named(link: re.Match[str]) -> str:
        path = normpath((PurePosixPath("docs") / page).parent / link["target"])
        return link[0] if path.startswith("docs/") else f"{link['text']} (`{path}`)"

    return _LINK.sub(named, markdown)
