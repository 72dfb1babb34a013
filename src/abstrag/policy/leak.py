"""Whether a rule carries away words of the case it comes from.

A rule is for every document; what holds for one belongs in its map. Words of a query or a document
would also let either of them write the rules. Three signs of a leak, each enough:

- NGRAM = 4 words in a row that also stand in the case. Runs that the program itself has (its
  instruction, its rules) are anybody's and do not count.
- A name or a figure: a word with a digit, or with a capital inside a sentence, of the rule that
  stands in the case too; or one that the case never writes otherwise, in whatever spelling.
- At least QUERY_SHARE = 0.5 of the query's content words, in any order, from three such words on.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Final

from abstrag.model.record import record

NGRAM: Final = 4
QUERY_SHARE: Final = 0.5
MIN_CONTENT_WORDS: Final = 3

_FUNCTION_WORDS: Final = frozenset(
    "a about after all also an and any are as at be because been before between both but by can"
    " could did do does each either every few for from had has have how if in into is it its list"
    " many may more most much must name no not of on one only or other our over per same should so"
    " some such than that the their them then there these they this those through to under use up"
    " was we were what when where which while who whom whose why will with would you your".split()
)


@record
class CaseText:
    """What a case is made of: its query, and the texts that were in front of the proposer."""

    query: str
    passages: tuple[str, ...] = ()


def leak(text: str, case: CaseText, *, common: Iterable[str] = ()) -> str | None:
    """Say what a rule gives away of its case; None when nothing.

    Args:
        text: the rule, or an example as text.
        case: what it must not repeat.
        common: texts whose runs of words are free to use, such as the program's own.
    """
    sources = (case.query, *case.passages)
    own = _runs(_words(text)) - {run for one in common for run in _runs(_words(one))}
    if shared := own & {run for one in sources for run in _runs(_words(one))}:
        return f"it repeats {' '.join(min(shared))!r} from its case"
    if telling := _names(text, sources) - {word for one in common for word in _words(one)}:
        return f"it names {min(telling)!r} from its case"
    asked = {word for word in _words(case.query) if word not in _FUNCTION_WORDS}
    taken = asked & set(_words(text))
    if len(asked) >= MIN_CONTENT_WORDS and len(taken) >= QUERY_SHARE * len(asked):
        return f"it takes {', '.join(sorted(taken))} from the query"
    return None


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _tokens(text)]


def _runs(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + NGRAM]) for i in range(len(words) - NGRAM + 1)}


def _names(text: str, sources: Sequence[str]) -> set[str]:
    """Return the names and figures that a rule has in common with its case."""
    plain = {word for one in sources for word in _tokens(one) if word.islower()}
    names = {word for one in sources for word in _telling(one)} - plain
    everything = {word for one in sources for word in _words(one)}
    return (_telling(text) & everything) | (names & set(_words(text)))


def _telling(text: str) -> set[str]:
    """Return words with a digit, or with a capital where a sentence does not ask for one."""
    found: set[str] = set()
    for sentence in re.split(r"(?<=[.:;!?])\s+", text):
        for place, word in enumerate(_tokens(sentence)):
            capital = any(char.isupper() for char in (word if place else word[1:]))
            if capital or any(char.isdigit() for char in word):
                found.add(word.casefold())
    return found


def _tokens(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text))
