"""What a question asks for besides its words: an answer type, and where to look."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from abstrag.errors import InputError

MAX_QUERY_CHARS: Final = 2_000

# Imperatives that wrap a request: "Give me all …", "Please list the …", "I want to know whether …",
# "Summarize the discussion about …", "Find evidence that …".
_WRAPPER: Final = re.compile(
    r"^\s*(?:please\s+)?(?:(?:can|could|would) you\s+)?(?:please\s+)?"
    r"(?:(?:give|show|tell|find|get|bring)(?:\s+(?:me|us))?|list|name|search(?:\s+for)?|look for|"
    r"describe|explain|identify|summari[sz]e|outline|recap|"
    r"i (?:want|need|would like) to (?:know|see|find))\b"
    r"(?:\s+(?:whether|if|about|of))?(?:\s+(?:all|any|every|some)(?:\s+of)?)?(?:\s+the)?\s+"
    r"(?:(?:discussions?|conversations?|debates?|evidence|information|details?|statements?)\s+"
    r"(?:about|on|regarding|concerning|of|for|that)\s+(?:the\s+)?)?",
    re.I,
)
_SCOPE: Final = re.compile(
    r"\b(?:in|within|from|according to|of)\s+the\s+(?P<name>[\w ,&-]{2,40}?)\s+"
    r"(?:section|chapter|part)\b|\b(?:in|within|from)\s+(?:section|chapter)\s+(?P<number>\d+(?:\.\d+)*)\b"
    r"|\b(?:in|within|from)\s+the\s+(?P<part>abstract|introduction|conclusions?|appendix|discussion|"
    r"references|footnotes?|captions?)\b"
    r"|\b(?:in|within|from|on|per|according to|using|based on)\s+the\s+(?P<statement>"
    r"(?:(?:condensed|consolidated)\s+)*(?:balance sheet|(?:cash flows?|income|profit and loss|P&L)"
    r" statement|statement of (?:cash flows?|income|operations|earnings|financial position|"
    r"financial condition|comprehensive income|(?:changes in )?(?:shareholders' |stockholders' )?"
    r"equity))s?)\b",
    re.I,
)
_ANSWERS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern, re.I), answer)
    for pattern, answer in (
        (r"^(?:who|whom|whose)\b", "person or organization"),
        (r"^when\b|^(?:in|on|since|until) (?:what|which) (?:year|month|day|date)\b", "time"),
        (r"^where\b", "place"),
        (r"^how (?:many|much|often|long|old|large|big|high|far|fast)\b", "quantity"),
        (
            r"^what (?:is|was|are|were) the (?:number|amount|size|share|percentage|rate)\b",
            "quantity",
        ),
        (r"^why\b", "reason"),
        (r"^how\b", "manner"),
        (
            r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should|may|must)\b"
            r".*\?\s*$",
            "yes or no",
        ),
    )
)
_WHICH: Final = re.compile(
    r"^(?:(?:in|on|for|with|by|of)\s+)?(?:which|what)\s+(?!(?:is|are|was|were|do|does|did|has|have|"
    r"had|can|could|will|would)\b)(?P<noun>[a-z][\w-]*)",
    re.I,
)


def unwrapped(text: str) -> str:
    """Return the request without the imperative around it."""
    return _WRAPPER.sub("", text, count=1)


def scope_of(
    text: str, has_section: Callable[[str], bool]
) -> tuple[tuple[str, ...], list[tuple[int, int]]]:
    """Return the sections a query restricts itself to, and where it says so.

    "In the old part" is no restriction where no section is called that: a scope is a filter, and
    one that hides everything would answer a question nobody asked.
    """
    names, places = [], []
    for match in _SCOPE.finditer(text):
        name = next(g for g in match.groups() if g).strip().casefold()
        if has_section(name):
            names.append(name)
            places.append(match.span())
    return tuple(names), places


def answer_type(text: str) -> str | None:
    """Return what kind of thing would answer the question, None for a claim."""
    bare = text.strip()
    for pattern, answer in _ANSWERS:
        if pattern.search(bare):
            return answer
    match = _WHICH.match(bare)
    return match.group("noun").casefold() if match else None


def require_query(text: str) -> None:
    """Refuse what no query can be.

    Raises:
        InputError: The text is empty, too long or no text at all.
    """
    if not text.strip():
        raise InputError("the query is empty", hint="ask a question or state a claim")
    try:
        text.encode()
    except UnicodeEncodeError:  # half a character, or an argument of other bytes
        raise InputError(
            f"the query {text[:60]!r} is no text in UTF-8", hint="check how it was typed or sent"
        ) from None
    if len(text) > MAX_QUERY_CHARS:
        raise InputError(
            f"the query has {len(text):,} characters, at most {MAX_QUERY_CHARS:,} are read",
            hint="ask one question at a time",
        )
