"""British spellings and the American ones of the same words: "licence" is "license"."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet

_AMERICAN: Final = tuple(
    (re.compile(british), american)
    for british, american in (
        (r"our(?=$|s?$|able$|al$|ful$|ist$|ite$|less$)", "or"),
        (r"is(?=e$|ation$|ational$|er$|able$)", "iz"),
        (r"ys(?=e$|er$)", "yz"),
        (r"ogue$", "og"),
        (r"(?<=[bt])re$", "er"),
        (r"ence$", "ense"),
        (r"ise$", "ice"),  # to practise
        (r"amme$", "am"),
        (r"ae|oe", "e"),
        (r"ll(?=ing$|er$)", "l"),
        (r"eque$", "eck"),
        (r"oeuvre$", "euver"),
        (r"grey", "gray"),
    )
)


@lru_cache(maxsize=1 << 14)
def american(word: str) -> str:
    """Return the American spelling of a British word in its base form, "" where there is none.

    It is one only where WordNet has both words for one sense: "hour" is no "hor".
    """
    net = wordnet()
    own = {sense for pos in Pos for sense in net.synsets(word, pos)}
    for british, made in _AMERICAN if own else ():
        other = british.sub(made, word)
        if other != word and any(own.intersection(net.synsets(other, pos)) for pos in Pos):
            return other
    return ""
