"""Scope: the sections a query wants to look in; a filter, neither literal nor cost."""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstrag.model.segment import Segment


def in_scope(segment: Segment, scope: Sequence[str]) -> bool:
    """True when the segment's role, or a heading above it, is named in the scope.

    No scope is no restriction. A heading counts when it has the scope's words in a row.
    """
    return not scope or any(
        name.casefold() == segment.role.value
        or any(_has(heading, name) for heading in segment.section)
        for name in scope
    )


def _has(heading: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name.casefold())}\b", heading.casefold()) is not None
