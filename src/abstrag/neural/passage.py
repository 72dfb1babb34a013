"""How a passage is put to a model: the heading above it says what the words alone do not."""

from __future__ import annotations

from collections.abc import Sequence


def passage(text: str, *, section: Sequence[str] = (), headers: Sequence[str] = ()) -> str:
    """Return the words of a passage after its section's name and a table cell's own headers.

    Of a section path only the innermost name is used: the outer ones are shared by too many
    passages to tell them apart.
    """
    words = " ".join((*headers, text))
    name = section[-1].strip() if section else ""
    return f"{name}: {words}" if name else words
