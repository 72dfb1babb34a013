"""How a passage is put to a model: the heading above it says what the words alone do not."""

from __future__ import annotations

from collections.abc import Sequence

from abstrag.model.segment import Segment


def passage(
    text: str, *, section: Sequence[str] = (), headers: Sequence[str] = (), title: str = ""
) -> str:
    """Return the words of a passage after its section's name and a table cell's own headers.

    Of a section path only the innermost name is used: the outer ones are shared by too many
    passages to tell them apart. The document's title comes first for a model that wants it.
    """
    words = " ".join((*headers, text))
    names = (title, section[-1] if section else "")
    return ": ".join([*(name.strip() for name in names if name.strip()), words])


def segment_text(segment: Segment, *, title: str = "") -> str:
    """Return a segment as models read it: its section, its own headers, its words."""
    headers = [header.text for header in segment.headers]
    return passage(segment.text, section=segment.section, headers=headers, title=title)
