"""Reading JSON the way models write it: fenced, wrapped in prose, a comma too many, an end too few.

Whatever had to be done to read it is said in `Parsed.repairs`; nothing is guessed. In particular a
text that breaks off inside a value is not completed: nobody knows what would have come.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

_THOUGHT: Final = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL | re.IGNORECASE)
_FENCE: Final = re.compile(r"```[\w-]*\s*\n?(.*?)(?:```|\Z)", re.DOTALL)
_OPEN: Final = {"{": "}", "[": "]"}
_MOST_STARTS: Final = 64  # brackets in prose that are tried as the beginning of the JSON


@dataclass(frozen=True, slots=True)
class Parsed:
    """A value, and what was done to the text to get it."""

    value: Any
    repairs: tuple[str, ...] = ()


def parse(text: str, *, complete: bool = True) -> Parsed | None:
    """Read the JSON value in a reply; None when there is none that can be read for certain.

    Args:
        text: What the model wrote.
        complete: Whether the model came to its own end; closing brackets are added only then,
            because a list that was cut off may lack more than its bracket.
    """
    text, repairs = _without_thoughts(text)
    strict = _loads(text)
    if strict is not None:
        return Parsed(strict[0], repairs)
    for candidate, how in _candidates(text):
        for fixed, also in _mended(candidate, complete=complete):
            found = _loads(fixed)
            if found is not None:
                return Parsed(found[0], (*repairs, *how, *also))
    return None


def _without_thoughts(text: str) -> tuple[str, tuple[str, ...]]:
    shorter = _THOUGHT.sub("", text, count=1)
    return (shorter, ()) if shorter == text else (shorter, ("left out the model's thoughts",))


def _loads(text: str) -> tuple[Any] | None:
    """Return the value in a tuple, since null is one too.

    NaN and infinities are not JSON, and half of a surrogate pair is not a text.
    """
    try:
        value = json.loads(text, parse_constant=_refuse)
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return (value,)


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _candidates(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Go through the parts of a text that may be the JSON, the likeliest first."""
    for match in _FENCE.finditer(text):
        yield match[1].strip(), ("took the JSON out of a code fence",)
    starts = [match.start() for match in re.finditer(r"[{\[]", text)][:_MOST_STARTS]
    for start in starts:
        end = _end(text, start)
        how = () if text[:start].strip() == "" and text[end:].strip() == "" else (_PROSE,)
        yield text[start:end], how
        if end == len(text):  # never closed: whatever begins inside it is a part of it
            return


_PROSE: Final = "took the JSON out of other text"


def _end(text: str, start: int) -> int:
    """Return where the brackets opened at `start` are all closed; the end of the text if never."""
    for position, depth in _depths(text[start:]):
        if depth == 0:
            return start + position + 1
    return len(text)


def _depths(text: str) -> Iterator[tuple[int, int]]:
    """Go through the brackets outside strings, with the depth after each."""
    depth, inside, escaped = 0, False, False
    for position, character in enumerate(text):
        if inside:
            if escaped:
                escaped = False
            elif character == "\\":
                escaped = True
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character in "{[":
            depth += 1
            yield position, depth
        elif character in "}]":
            depth -= 1
            yield position, depth


def _mended(text: str, *, complete: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield text, ()
    lighter = _without_trailing_commas(text)
    if lighter != text:
        yield lighter, ("removed trailing commas",)
    if complete and (closed := _closed(lighter)) is not None:
        also = ("removed trailing commas",) if lighter != text else ()
        yield closed, (*also, "added closing brackets")


def _without_trailing_commas(text: str) -> str:
    """Drop commas before a closing bracket, or at the end, unless they stand in a string."""
    pieces = re.split(r'("(?:[^"\\]|\\.)*"?)', text, flags=re.DOTALL)
    for number in range(0, len(pieces), 2):  # the odd ones are strings
        pieces[number] = re.sub(r",(\s*[}\]])", r"\1", pieces[number])
    pieces[-1] = re.sub(r",\s*\Z", "", pieces[-1])
    return "".join(pieces)


def _closed(text: str) -> str | None:
    """Add the closing brackets a text lacks; None when it does not end with a whole value."""
    if not re.search(r'(?:["}\]]|true|false|null)\s*\Z', text):
        return None  # it ends in a number, a colon or a letter: more may have been to come
    missing: list[str] = []
    inside = False
    for character in re.sub(r"\\.", "", text, flags=re.DOTALL):
        if character == '"':
            inside = not inside
        elif not inside and character in _OPEN:
            missing.append(_OPEN[character])
        elif not inside and character in "}]" and (not missing or missing.pop() != character):
            return None
    if inside or not missing:
        return None
    return text + "".join(reversed(missing))
