"""Headings of plain text, told conservatively: a missed heading costs less than an invented one."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MAX_HEADING: Final = 90  # characters; longer lines are sentences
MAX_TITLE: Final = 150
_NUMBERED: Final = re.compile(
    r"(?P<number>\d{1,2}(?:\.\d{1,2})*)(?P<dot>\.?)\s+(?P<words>[A-Z“\"].*)"
)
_NAMED: Final = re.compile(
    r"(?i:appendix|annex|chapter|part|article|section|schedule)\s+"
    r"(?:[A-Z]|\d{1,3}(?P<rest>(?:\.\d{1,2})*)|[IVXLC]+)(?:[.:–—-]?\s+\S.*|[.:]?)"
)
_ROMAN: Final = re.compile(r"[IVX]+\.\s+[A-Z].*")
_ENDS_SENTENCE: Final = re.compile(r"[.,;:]$")
_UNDERLINE: Final = re.compile(r"(?P<char>[=\-~^*_])(?P=char){2,}\s*")
_UNDERLINE_LEVELS: Final = {"=": 1, "-": 2}
_KNOWN: Final = frozenset(
    (
        "abstract",
        "acknowledgements",
        "acknowledgments",
        "background",
        "bibliography",
        "conclusion",
        "conclusions",
        "discussion",
        "executive summary",
        "introduction",
        "materials and methods",
        "methods",
        "references",
        "related work",
        "results",
        "summary",
    )
)


class FoundHeading(NamedTuple):
    """A heading that was recognized: its level, and whether a list item could look the same."""

    level: int
    ambiguous: bool = False


def heading(line: str) -> FoundHeading | None:
    """Recognize a heading in a line that stands by itself."""
    line = line.strip()
    if not line or len(line) > MAX_HEADING:
        return None
    if match := _NUMBERED.fullmatch(line):
        if _ENDS_SENTENCE.search(line) or _is_sentence(match["words"]):
            return None
        depth = match["number"].count(".") + 1
        return FoundHeading(depth, ambiguous=depth == 1)
    if _ENDS_SENTENCE.search(line):
        return None
    if match := _NAMED.fullmatch(line):
        return FoundHeading(1 + (match["rest"] or "").count("."))
    if is_capitals(line) or _ROMAN.fullmatch(line) or line.casefold() in _KNOWN:
        return FoundHeading(1)
    return None


def is_label(line: str) -> bool:
    """True for a few words and a colon, as they stand above a list."""
    return line.endswith(":") and len(line) <= MAX_HEADING and not _is_sentence(line)


def is_capitals(line: str) -> bool:
    """True for a line in capitals that holds at least one real word."""
    letters = [char for char in line if char.isalpha()]
    return (
        len(letters) >= 4
        and all(char.isupper() for char in letters)
        and re.search(r"[^\W\d_]{4}", line) is not None
        and 2 * len(letters) > len(line.strip())
    )


def underline(line: str, below: str) -> int | None:
    """Return the level of a heading underlined by the line below it."""
    match = _UNDERLINE.fullmatch(below.strip())
    if match is None or not line.strip() or len(line.strip()) > MAX_HEADING:
        return None
    if 2 * len(below.strip()) < len(line.strip()):
        return None
    return _UNDERLINE_LEVELS.get(match["char"], 3)


def is_title(line: str) -> bool:
    """True when the first line of a text, standing apart, reads like its title."""
    line = line.strip()
    return (
        len(line) <= MAX_TITLE
        and _ENDS_SENTENCE.search(line) is None
        and re.search(r"[^\W\d_]{2}", line) is not None
        and line[:1] not in "-*•"
    )


def _is_sentence(words: str) -> bool:
    """True when numbered words are prose: a small verb-like tail of lower-case words."""
    parts = words.split()
    return len(parts) > 8 and sum(part[:1].islower() for part in parts) > 0.7 * len(parts)
