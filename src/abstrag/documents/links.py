"""Links from one file of a folder to another: what they name, and nothing that has to be opened.

A link is taken for a name. The file it leads to is neither looked for nor read, so a page cannot
make the program touch anything by what it links to.
"""

from __future__ import annotations

import posixpath
import re
from typing import Final
from urllib.parse import unquote, urlsplit

MAX_LINKS: Final = 2_000  # of a document; what is beyond them is passed over
_PAGES: Final = (".md", ".markdown", ".html", ".htm", ".xhtml", ".txt")
_LONGEST: Final = 200  # characters
_WORD: Final = re.compile(r"[^\W_]+")


def local_target(address: str) -> str | None:
    """Return the page of the same folder that an address leads to, None for anything else.

    >>> local_target("./fees/late-fees.md#when-due")
    'fees/late-fees.md#when-due'
    """
    if len(address) > _LONGEST:
        return None
    try:
        parts = urlsplit(address.strip())
    except ValueError:
        return None
    path = unquote(parts.path)
    if parts.scheme or parts.netloc or not path or path.startswith("/"):
        return None
    if not path.casefold().endswith(_PAGES) or not path.isprintable() or "\\" in path:
        return None
    fragment = unquote(parts.fragment)
    return posixpath.normpath(path) + (
        f"#{fragment}" if fragment.isprintable() and fragment else ""
    )


def target_words(target: str) -> str:
    """Return what the name of a target says, as words.

    >>> target_words("fees/late-fees.md#when-due")
    'late fees when due'
    """
    path, _, fragment = target.partition("#")
    stem = posixpath.splitext(posixpath.basename(path))[0]
    return " ".join(_WORD.findall(f"{stem} {fragment}"))
