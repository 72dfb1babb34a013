"""When two ways of writing are the same words, how far apart others are, and where words stand."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from rapidfuzz.distance import Levenshtein

from abstrag.files import read_data_file
from abstrag.language.words import key

_DOTTED = re.compile(r"\b(?:\w\.){1,}\w\b\.?|\b\w\.(?=\s|$)")
_GAP = re.compile(r"[\s\-/.']+")
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS: Final = str.maketrans({"ł": "l", "Ł": "L", "ø": "o", "Ø": "O", "æ": "ae", "œ": "oe"})
_SHORT_WORD: Final = 3  # letters; in capitals it may be an acronym
_SIBILANT = re.compile(r"(?:s|x|z|ch|sh)$")
_AMERICAN: Final[dict[str, str]] = read_data_file("abstrag.language", "spelling.toml")["american"]
_ISATION = re.compile(r"isation(s?)$")
Place = tuple[int, int]


def plain(text: str) -> str:
    """Drop diacritics: `Kraków` reads `Krakow`."""
    if text.isascii():
        return text
    marked = unicodedata.normalize("NFKD", text)
    return "".join(c for c in marked if not unicodedata.combining(c)).translate(_LETTERS)


def american(word: str) -> str:
    """Return the American spelling of a lower-case word, where the two cannot differ in meaning."""
    return _AMERICAN.get(word) or _ISATION.sub(r"ization\1", word)


def fold(surface: str) -> str:
    """Fold away what never tells two names apart.

    Beyond `key`: diacritics, hyphens against spaces, dots of initials, `&` against `and`, British
    against American spelling. Two surfaces of one fold are one name.
    """
    text = plain(key(surface)).replace(" & ", " and ")
    text = _DOTTED.sub(lambda m: m.group().replace(".", ""), text)
    return _GAP.sub("", _WORD.sub(lambda m: american(m.group()), text))


def distance(one: str, other: str) -> float:
    """Return the edit distance of two surfaces as a share of the longer (the paper's δ_expr)."""
    return round(Levenshtein.normalized_distance(one.casefold(), other.casefold()), 4)


def plural(phrase: str) -> str:
    """Return the regular plural of a noun phrase."""
    if phrase.endswith("y") and phrase[-2:-1] not in tuple("aeiou"):
        return phrase[:-1] + "ies"
    return phrase + ("es" if _SIBILANT.search(phrase) else "s")


def possessive(name: str) -> str:
    """Return a name's possessive: `Anthropic's`, `the authors'`."""
    lower_plural = name.endswith("s") and name.split()[-1].islower()
    return name + ("'" if lower_plural else "'s")


def lowered(text: str) -> str:
    """Write a heading in small letters, but leave what may be an acronym: "NET income of IBM".

    No character is added or lost, so offsets stay. In a heading that is all in capitals, only
    short words may be acronyms.
    """
    loud = text.isupper()

    def word(match: re.Match[str]) -> str:
        written = match.group()
        small = written.lower()
        acronym = len(written) <= _SHORT_WORD if loud else not written[1:].islower()
        return written if acronym or len(small) != len(written) else small

    return _WORD.sub(word, text)


def places(text: str, quote: str) -> Iterator[Place]:
    """Go through the places where a text has exactly these words, not as a part of longer ones."""
    words = quote.strip()
    if words:
        before = r"(?<!\w)" if words[0].isalnum() else ""
        after = r"(?!\w)" if words[-1].isalnum() else ""
        for match in re.finditer(before + re.escape(words) + after, text):
            yield match.span()


def overlaps(a: Place, b: Place) -> bool:
    """True when two places share a character."""
    return a[0] < b[1] and b[0] < a[1]
