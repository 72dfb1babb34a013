"""Finding quoted words again: exact but for spaces, dashes, quotation marks and ligatures.

A model copies a passage with its own spaces and dashes. Two texts are compared in a folded form
whose every character knows where it came from, so what is found is a place and not a likeness.
Letters, digits and case have to agree.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

_DASHES: Final = frozenset("-‐‑‒–—−")
_DROPPED: Final = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")  # soft hyphens, joiners
_MARKS: Final = str.maketrans({"“": '"', "”": '"', "„": '"', "’": "'", "‘": "'", "`": "'"})
_ELLIPSIS: Final = re.compile(r"\s*(?:\[?(?:\.{3}|…)\]?)\s*")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text in its folded form; `origin[i]` is where character i of it came from."""

    text: str
    origin: tuple[int, ...]

    @classmethod
    def of(cls, source: str) -> Folded:
        """Fold a text."""
        made: list[str] = []
        origin: list[int] = []
        for i, raw in enumerate(source):
            if raw in _DROPPED:
                continue
            for one in unicodedata.normalize("NFKC", raw).translate(_MARKS):
                char = "-" if one in _DASHES else " " if one.isspace() else one
                # "state-of- the-art": a space after a dash, or after a space, is the layout's
                if char == " " and (not made or made[-1] in " -"):
                    continue
                if char == "-" and made and made[-1] == " ":
                    made.pop()
                    origin.pop()
                made.append(char)
                origin.append(i)
        return cls("".join(made), tuple(origin))


def parts_of(quote: str) -> tuple[str, ...]:
    """Return the pieces of a quotation that leaves words out, without the marks around it."""
    bare = quote.strip().strip("\"'“”„‘’`").strip()
    return tuple(part for part in _ELLIPSIS.split(bare) if any(c.isalnum() for c in part))


def find_quote(quote: str, source: str) -> tuple[int, int] | None:
    """Return where whole words of a source read like the quotation, None where nothing does."""
    wanted, given = Folded.of(quote).text.strip(), Folded.of(source)
    if not any(char.isalnum() for char in wanted):
        return None
    start = given.text.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        if _whole(given.text, start, end):
            return given.origin[start], given.origin[end - 1] + 1
        start = given.text.find(wanted, start + 1)
    return None


def _whole(text: str, start: int, end: int) -> bool:
    """True when the stretch begins and ends between words."""
    cut_before = start > 0 and text[start - 1].isalnum() and text[start].isalnum()
    cut_after = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not cut_before and not cut_after
