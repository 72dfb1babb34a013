"""Scope: the sections a query wants to look in; a filter, neither literal nor cost."""

from __future__ import annotations

import re
from collections.abc import Sequence

from abstrag.language.statements import statement_named
from abstrag.model.segment import Segment


def in_scope(segment: Segment, scope: Sequence[str]) -> bool:
    """True when the segment's role, or a heading above it, is named in the scope.

    No scope is no restriction. A heading counts when it has the scope's words in a row.
    """
    return not scope or any(names(one, segment.role.value, segment.section) for one in scope)


def names(scope: str, role: str, section: Sequence[str]) -> bool:
    """True when a scope is what a section is called: its role, or words of a heading over it."""
    called = scope.casefold()
    statement = statement_named(scope)
    if statement is not None:  # a note that speaks of the statement is not the statement
        return any(statement_named(heading) is statement for heading in section[-1:])
    return called in (role, f"{role}s") or any(_has(heading, called) for heading in section)


def _has(heading: str, called: str) -> bool:
    return re.search(rf"\b{re.escape(called)}\b", heading.casefold()) is not None
