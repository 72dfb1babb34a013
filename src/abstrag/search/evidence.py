"""How cheap a learned step must be to count, given what else speaks for it.

A price alone is right about four times of five below 0.25 and less than once of two at 0.6. Where a
lexicon knows the pair as well, more may be paid. A word that grades or counts ("only", "more",
"million") is near many others of its sort and means none of them: without a lexicon it is met by
itself alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from abstrag.model.term import Family
from abstrag.search.families import (
    is_code,
    one_meaning,
    opposite,
    opposite_things,
    share_part_of_speech,
)

LIMITS: Final[Mapping[str, float]] = {
    Family.EXPRESSION.value: 0.55,
    Family.CONCEPT.value: 0.5,
    Family.INTENT.value: 0.7,
    Family.EVENT.value: 0.5,
    Family.CONTEXT.value: 0.2,
    Family.RELATED.value: 0.25,
}
SYNONYMS: Final = 0.85  # the limit for words that share one of their first senses, the highest
ANOTHER_SENSE: Final = 1.0  # above it what a lexicon has of a pair is of another sense
_UNSUPPORTED: Final = frozenset({Family.CONTEXT.value, Family.RELATED.value})
_GRADING: Final = frozenset(
    "only all any some each every both either most more much many few less least several other"
    " another same such own just even also too very up down out off over about long including"
    " except first second third last next previous million billion thousand hundred dozen zero"
    " one two three four five six seven eight nine ten total average net gross % $ € £ ¥ °".split()
)
_BESIDE: Final = 0.2  # the limit where the document has the asked word too
_ANOTHER_SORT: Final = 0.2  # the limit where two words share no part of speech


def price_limit(asked: str, said: str, family: str, *, own_word: bool = False) -> float:
    """Return the price up to which a step of a family counts as meeting a word.

    Where the document has the asked word itself, `own_word`, a merely related one is more often
    another thing.
    """
    named = said[:1].isupper() and not asked[:1].isupper()  # "join" is not the club "United"
    if family == Family.EXPRESSION.value:
        return SYNONYMS if one_meaning(asked, said) and not named else LIMITS[family]
    if {asked.casefold(), said.casefold()} & _GRADING and not opposite(asked, said):
        return 0.0
    if family not in _UNSUPPORTED:
        return LIMITS[family]
    if is_code(asked) or is_code(said) or opposite_things(asked, said):
        return 0.0
    limit = min(LIMITS[family], _BESIDE) if own_word else LIMITS[family]
    return limit if share_part_of_speech(asked, said) else min(limit, _ANOTHER_SORT)
