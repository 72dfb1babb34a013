"""Which language a text is in: by its script, else by which function words it has.

Only English is read. For any other language it is enough to know that it is another one, and to
say which with some confidence; docs/genres.md has the figures.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from abstrag.files import read_data_file

ENGLISH: Final = "en"
_LISTS: Final = read_data_file("abstrag.language", "languages.toml")
NAMES: Final[Mapping[str, str]] = MappingProxyType(_LISTS["names"])
_WORDS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {code: frozenset(words.split()) for code, words in _LISTS["words"].items()}
)
_ONLY: Final = MappingProxyType(  # what no English text has
    {code: words - _WORDS[ENGLISH] for code, words in _WORDS.items() if code != ENGLISH}
)
_LANGUAGES: Final = MappingProxyType(  # that have a word
    {
        word: tuple(code for code, own in _ONLY.items() if word in own)
        for word in frozenset().union(*_ONLY.values())
    }
)
_TOKEN: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SAMPLE: Final = 6_000  # characters at each of three places that are looked at
_SHARE: Final = 0.12  # of the words of a text in another language that are its function words
_AGAINST: Final = 1.5  # times the English ones that there must be
_FEW: Final = 25  # words; fewer are a query, for which one word may be all there is
_FOREIGN: Final = 0.4  # of the letters of another script, where that is told by it


def language_of(text: str) -> str:
    """Return the code of the language a text is in; English where nothing says otherwise.

    >>> language_of("Wie hoch war der Umsatz im Jahr 2021?")
    'de'
    """
    sample = _sampled(text)
    by_script = _of_script(sample)
    if by_script is not None:
        return by_script
    words = [found.casefold().replace("’", "'") for found in _TOKEN.findall(sample)]
    if not words:
        return ENGLISH
    english = sum(word in _WORDS[ENGLISH] for word in words)
    telling = words if len(words) >= _FEW else [word for word in words if len(word) > 1]
    counts = dict.fromkeys(_ONLY, 0)
    for word in telling:
        for code in _LANGUAGES.get(word, ()):
            counts[code] += 1
    for word in words:
        for code, letters in () if word.isascii() else _LISTS["letters"].items():
            counts[code] += any(letter in word for letter in letters)
    best = max(counts, key=lambda code: (counts[code], code))
    found = counts[best]
    if len(words) < _FEW:
        accented = sum(not word.isascii() for word in words)
        single = found == 1 and (accented or len(words) <= 4)
        mostly = accented >= max(2, len(words) / 3)
        enough = found >= 2 or (english == 0 and (single or mostly))
        return best if enough and found > english else ENGLISH
    return best if found >= max(_SHARE * len(words), _AGAINST * english) else ENGLISH


def language_name(code: str) -> str:
    """Return what a language is called in English."""
    return NAMES.get(code, code)


def _sampled(text: str) -> str:
    """Return a text, or of a long one its beginning, its middle and its end."""
    if len(text) <= 3 * _SAMPLE:
        return text
    middle = len(text) // 2
    return "\n".join((text[:_SAMPLE], text[middle : middle + _SAMPLE], text[-_SAMPLE:]))


def _of_script(text: str) -> str | None:
    """Return the language that the letters of a text say, None where they are Latin ones."""
    if text.isascii():
        return None
    letters = [c for c in text if c.isalpha()]
    found: Counter[str] = Counter()
    scripts = _LISTS["scripts"].items()
    for character, count in Counter(letters).items():
        if not character.isascii():
            name = unicodedata.name(character, "")
            script = next((code for begin, code in scripts if name.startswith(begin)), None)
            if script is not None:
                found[script] += count
    if not found or found.total() < _FOREIGN * len(letters):
        return None
    if found["ja"] >= 0.05 * found.total():
        return "ja"  # which has Chinese letters, too
    return found.most_common(1)[0][0]
