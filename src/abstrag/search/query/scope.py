"""Scope: the sections a query wants to look in; a filter, neither literal nor cost."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from abstrag.language.statements import statement_named
from abstrag.model.query import LiteralKind, Query
from abstrag.model.segment import Segment

_ENDING: Final = re.compile(r"(?<=\w{3})(?:ies|ed|es|e|ing|s|y)$")
_WORD: Final = re.compile(r"[^\W\d_]{2,}")


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


def widened(query: Query, segments: Sequence[Segment], figures: Sequence[int]) -> Query:
    """Return a query that looks everywhere, if the statement it names has no line for what it asks.

    The statement stays what the asker relies on, and `widened` says what was done. A statement has
    a line for a question where it prints one of the figures asked for, or where a line has half of
    what the question is about in its words.

    Args:
        query: What is asked.
        segments: Those of the document.
        figures: Where the rows stand that print what is asked for.
    """
    named = [scope for scope in query.scope if statement_named(scope) is not None]
    if not named or len(named) < len(query.scope):
        return query
    inside = [p for p, segment in enumerate(segments) if in_scope(segment, query.scope)]
    if not set(inside).isdisjoint(figures) or _has_line(query, [segments[p] for p in inside]):
        return query
    told = f"no line of the {' or '.join(named)} has what is asked for, so all parts are looked at"
    return replace(query, scope=(), sources=(*query.sources, *named), widened=told)


def _has_line(query: Query, segments: Sequence[Segment]) -> bool:
    """True when a segment has the words of half of the things a query is about."""
    about = [t for t in query.literals if t.kind not in (LiteralKind.TIME, LiteralKind.ENTITY)]
    asked = [frozenset(map(_stem, _WORD.findall(t.label.casefold()))) for t in about]
    lines = [frozenset(map(_stem, _WORD.findall(s.text.casefold()))) for s in segments]
    return not asked or any(2 * sum(w <= line for w in asked) >= len(asked) for line in lines)


def _stem(word: str) -> str:
    return _ENDING.sub("", word)[:7]  # "repurchased" and "repurchases" are one


def _has(heading: str, called: str) -> bool:
    return re.search(rf"\b{re.escape(called)}\b", heading.casefold()) is not None
