"""Short forms a text introduces: "Long Form (LF)", "LF (Long Form)", "Long Form, or LF,".

The matching is that of Schwartz and Hearst (A simple algorithm for identifying abbreviation
definitions in biomedical text, 2003): every character of the short form is found, right to left,
in the long form, and the first at the beginning of a word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_BRACKET = re.compile(r"[(\[](?P<inner>[^()\[\]]{2,120})[)\]]")
_WORD_BEFORE = re.compile(r"(?<![\w-])[\"“‘']?(?P<word>[\w&./-]*\w)[\"”’']?\s*$")
_FIRST_PART = re.compile(
    r"\s*(?:(?:or|the|as|to|simply|hereafter|hereinafter|henceforth|abbreviated|abbreviation|acronym|denoted"
    r"|below|in\s+short|short|in\s+what\s+follows|in\s+the\s+following|from\s+(?:here|now)\s+on|also\s+known\s+as"
    r"|known\s+as|called|referred\s+to\s+as)(?::\s*|,?\s+))*"
    r"[\"'“‘]?(?P<short>[^;,:\"“”]+?)"
    r"(?:\s+(?:for\s+short|from\s+(?:here|now)\s+on|in\s+what\s+follows|in\s+the\s+following|below"
    r"|hereafter|hereinafter|henceforth|throughout))?(?=[;,:\"“”]|$)"
)
# "LF stands for Long Form", "LF is an acronym of Long Form", "LF, that is Long Form,"
_SPELLED = re.compile(
    r"(?<![\w-])[\"“]?(?P<short>[A-Z][\w&/-]*\w)[\"”]?"
    r"(?:\s+(?:stands?\s+for|is\s+short\s+for|means|abbreviates"
    r"|(?:is|are)\s+(?:the|an)\s+(?:usual\s+|official\s+)?(?:abbreviation|acronym|initials|initialism)\s+(?:of|for))"
    r"|,?\s*[,(]\s*(?:short\s+for|standing\s+for|which\s+stands\s+for|that\s+is,?|an\s+(?:abbreviation|acronym)\s+(?:of|for))"
    r"|\s[–—])\s+(?:the\s+)?[\"“]?(?P<long>[A-Za-z][^.,;:!?()–—\"”]{3,100})"
)
_TOLD_SHORT = re.compile(r"stand|short\s+for|abbrevi|acronym|initial")
# "Long Form, or LF for short", "Long Form, LF for short", "Long Form is abbreviated to LF"
_APPOSED = re.compile(
    r"(?:,\s*(?:or|(?:also\s+|hereafter\s+|henceforth\s+)*(?:abbreviated|shortened|known|called|denoted"
    r"|referred\s+to|written|hereafter|henceforth|in\s+short|short)(?:\s+(?:to|as|by))?)"
    r"|\s(?:is|are)\s+(?:(?:often|usually|commonly|also|here|sometimes|generally)\s+)?"
    r"(?:abbreviated|shortened|contracted|referred\s+to)(?:\s+(?:to|as|by))?)"
    r"\s+(?:simply\s+|the\s+)*[\"'“‘]?(?P<short>[A-Za-z][\w&/+-]*\w)(?![\w-])"
    r"|(?:,|\s[–—])\s*[\"'“‘]?(?P<brief>[A-Za-z][\w&/+-]*\w)[\"'”’]?\s+for\s+short\b"
    r"|,?\s*(?:better\s+)?known\s+(?:by|under)\s+(?:its|the|their)\s+(?:initials|acronym|abbreviation)\s+"
    r"(?P<initials>[A-Z][A-Z&]+)\b|,\s+(?P<bare>[A-Z]{3,8})(?=\s*,)"
)
_QUOTES: Final = "\"'“”‘’ "
_SHORT = re.compile(r"^[A-Za-z0-9][\w&./+-]*(?:\s[\w&./+-]+)?$")
_PLURAL_SHORT = re.compile(r"^(?P<stem>(?=(?:.*[A-Z]){2}).*[A-Z0-9])s$")
_TOKEN = re.compile(r"\S+")
_BREAK = re.compile(r"[.;:!?()\[\]]\s|,\s(?=\w+\s*$)")
_LONG_WORD = re.compile(r"[\w'’&/+-]+")
_INITIAL_WORD = re.compile(r"[^\W_]+")
_NOT_LONG = re.compile(r"[=<>\\{}$()\[\]]|^[^\s-]+$")
_LONGEST: Final = 12  # characters of a short form
_SHARE: Final = 0.6  # of the long form's content words that a short form's letters must touch
_WEAK: Final = frozenset(
    "a an and as at by for from in is of on or the to with this that these those our we its their "
    "such called are was were be been using via into than then also new".split()
)


@dataclass(frozen=True, slots=True)
class Acronym:
    """A short form with its long form, and where both stand in the text."""

    short: str
    long: str
    short_start: int
    long_start: int

    @property
    def start(self) -> int:
        """Where the defining words begin."""
        return min(self.short_start, self.long_start)

    @property
    def end(self) -> int:
        """Where the defining words end, before the closing bracket."""
        return max(self.short_start + len(self.short), self.long_start + len(self.long))


def acronyms(text: str) -> Iterator[Acronym]:
    """Go through the short forms a text defines, in order."""
    for bracket in _BRACKET.finditer(text):
        inner = bracket["inner"]
        part = _FIRST_PART.match(inner)
        if part is None:
            continue
        short = part["short"].rstrip(_QUOTES)
        at = bracket.start("inner") + part.start("short")
        found = _after_long_form(text, bracket.start(), short, at)
        found = found or _before_long_form(text, bracket.start(), bracket.start("inner"), inner)
        if found is not None:
            yield found
    for apposed in _APPOSED.finditer(text):
        group = apposed.lastgroup or "short"
        short, at = apposed[group], apposed.start(group)
        found = _after_long_form(text, apposed.start(), short, at)
        if found is not None and (group != "bare" or _by_initials(short, found.long)):
            yield found
    for spelled in _SPELLED.finditer(text):
        if (found := _told_long_form(spelled)) is not None:
            yield found


def introduces(text: str) -> bool:
    """Tell whether a text may introduce a short form."""
    brackets = "(" in text or "[" in text
    return brackets or _APPOSED.search(text) is not None or _SPELLED.search(text) is not None


def singular(short: str) -> str:
    """Return a short form without its plural s: `LLMs` is `LLM`; `GPS` stays."""
    found = _PLURAL_SHORT.match(short)
    return found["stem"] if found else short


def _after_long_form(text: str, opening: int, short: str, at: int) -> Acronym | None:
    """Read `Long Form (SF)`: the long form ends where the bracket opens."""
    if not _is_short(short):
        return None
    stem = singular(short)
    letters = sum(c.isalnum() for c in stem)
    words = list(_TOKEN.finditer(text, max(0, opening - 160), opening))
    words = words[-min(letters + 5, letters * 2) :]
    if not words:
        return None
    begin = words[0].start()
    for broken in _BREAK.finditer(text, begin, opening):
        begin = broken.end()
    window = text[begin:opening].rstrip()
    start = _match(stem, window)
    if start is None:
        return None
    long = window[start:].rstrip(_QUOTES)
    if not _is_long(stem, long):
        return None
    return Acronym(short, long, at, begin + start)


def _before_long_form(text: str, opening: int, inside: int, inner: str) -> Acronym | None:
    """Read `SF (Long Form)`: the bracket holds the long form and nothing else."""
    word = _WORD_BEFORE.search(text, max(0, opening - _LONGEST - 4), opening)
    if word is None or not _is_short(word["word"]) or not singular(word["word"]).isupper():
        return None
    long = inner.strip(_QUOTES)
    stem = singular(word["word"])
    if _match(stem, long) != 0 or not _is_long(stem, long):
        return None
    return Acronym(word["word"], long, word.start("word"), inside + inner.find(long))


def _told_long_form(spelled: re.Match[str]) -> Acronym | None:
    """Read `SF stands for Long Form`: the long form ends where its initials have been spelled."""
    short, long = spelled["short"], spelled["long"]
    if not _is_short(short) or not short.isupper():
        return None
    told_so = _TOLD_SHORT.search(spelled.group()[len(short) : -len(long)]) is not None
    for word in _LONG_WORD.finditer(long):
        told = long[: word.end()]
        sure = _by_initials(short, told) or (told_so and _match(short, told) == 0)
        if sure and _is_long(short, told):
            return Acronym(short, told, spelled.start("short"), spelled.start("long"))
    return None


def _by_initials(short: str, long: str) -> bool:
    """Tell whether a short form is the initials of a long one, from its first word on."""
    letters = [c.casefold() for c in short if c.isalnum()]
    return _initials(letters, long) == [0, *(_initials(letters, long) or [0])[1:]]


def _is_short(short: str) -> bool:
    strong = sum(c.isupper() or c.isdigit() for c in short)
    return (
        2 <= len(short) <= _LONGEST
        and _SHORT.match(short) is not None
        and strong >= 2
        and all(any(c.isupper() for c in part) for part in short.split())
        and sum(c.isalpha() for c in short) >= 2
    )


def _is_long(short: str, long: str) -> bool:
    words = _LONG_WORD.findall(long)
    initials = sum(c.isalnum() for c in short)
    return (
        len(long) > len(short) + 2
        and 1 < len(words) <= min(initials + 5, initials * 2)
        and words[0].casefold() not in _WEAK
        and words[-1].casefold() not in _WEAK
        and short.casefold() not in (w.casefold() for w in words)
        and not _NOT_LONG.search(long)
    )


def _match(short: str, long: str) -> int | None:
    """Return where the long form begins that spells the short form and ends with the text."""
    letters = [c.casefold() for c in short if c.isalnum()]
    places = _initials(letters, long) or _scattered(letters, long)
    return places[0] if places else None


def _initials(letters: list[str], long: str) -> list[int] | None:
    """Find the letters as initials of the last words; words such as "of" may be skipped."""
    places: list[int] = []
    wanted = len(letters) - 1
    for word in reversed(list(_INITIAL_WORD.finditer(long))):
        if word.group()[0].casefold() == letters[wanted]:
            places.insert(0, word.start())
            wanted -= 1
            if wanted < 0:
                return places
        elif word.group().casefold() not in _WEAK or not places:
            return None
    return None


def _scattered(letters: list[str], long: str) -> list[int] | None:
    """Find the letters anywhere, the first at the beginning of a word: Schwartz and Hearst.

    Stricter than they are: the last word and most of the others must take part, and no comma may
    stand between. That costs a few true pairs and nearly all the false ones.
    """
    lower, place = long.casefold(), len(long)
    places: list[int] = []
    for i in reversed(range(len(letters))):
        place = lower.rfind(letters[i], 0, place)
        while i == 0 and place > 0 and lower[place - 1].isalnum():
            place = lower.rfind(letters[0], 0, place)
        if place < 0:
            return None
        places.insert(0, place)
    words = [
        m for m in _INITIAL_WORD.finditer(long, places[0]) if m.group().casefold() not in _WEAK
    ]
    used = [any(w.start() <= p < w.end() for p in places) for w in words]
    if not used or not used[-1] or sum(used) < _SHARE * len(used) or "," in long[places[0] :]:
        return None
    return places
