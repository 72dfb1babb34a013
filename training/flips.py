"""Claims turned into their opposite: more refutations to learn from than people wrote down."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tokenizers import Tokenizer

_OPPOSITES = """increase decrease|increases decreases|increased decreased|increasing decreasing
higher lower|high low|more less|greater smaller|larger smaller|longer shorter|positive negative
positively negatively|before after|first last|improves worsens|improved worsened|with without
increased reduced|increase reduce|increases reduces|promotes prevents
promote prevent|induces inhibits|gain loss|always never|all none|most few|above below|up down
early late|stronger weaker|strong weak
activation inhibition|activates inhibits|better worse|best worst|north south|east west|men women
won lost|win lose|older younger|same different|present absent|may may not|shall shall not
either neither|both neither|at least at most|minimum maximum|least most|exceeds below|fewer more
buyer seller|lessor lessee|landlord tenant|licensor licensee|borrower lender|employer employee
plaintiff defendant|company customer|supplier customer|parent subsidiary|discloser recipient
include exclude|includes excludes|included excluded|allowed forbidden|required optional
accept reject|accepted rejected|rose fell|grew shrank|gained lost|profit loss|faster slower
cheaper dearer|heavier lighter|warmer colder|richer poorer|inside outside|old new"""
# Of each line one stands for another: a unit, a month, a day; the sense of a sentence stays.
_SERIES = """days weeks months years hours minutes seconds
day week month year hour minute
million billion thousand
km miles meters
kg grams pounds tons
dollars euros yen
january february march april june july august september october november december
monday tuesday wednesday thursday friday saturday sunday
daily weekly monthly annually
one two three four five six seven eight nine ten
first second third fourth fifth"""
_AUXILIARIES = (
    "is are was were can could does do did has have will would should may shall must".split()
)


class Flipper:
    """Knows the tokens whose exchange turns a claim around."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._swaps: dict[int, int] = {}
        for pair in _OPPOSITES.replace("\n", "|").split("|"):
            words = pair.split()
            if len(words) != 2:
                continue
            a, b = (tokenizer.token_to_id(word) for word in words)
            if a is not None and b is not None:
                self._swaps.setdefault(a, b)
                self._swaps.setdefault(b, a)
        self._series: dict[int, list[int]] = {}
        for line in _SERIES.split("\n"):
            known = [tokenizer.token_to_id(word) for word in line.split()]
            for one in known:
                others = [other for other in known if other not in (one, None)]
                if one is not None:
                    self._series.setdefault(one, others)
        self._negation = _known(tokenizer, "not")
        self._auxiliaries = {tokenizer.token_to_id(word) for word in _AUXILIARIES}
        self._numbers = {
            number
            for word, number in tokenizer.get_vocab().items()
            if word.isdigit() and len(word) <= 4
        }

    def __call__(self, claim: Sequence[int], chance: random.Random) -> list[int] | None:
        """Return the opposite of a claim, or None when no way to it is known."""
        words = [int(token) for token in claim]
        ways = [i for i, token in enumerate(words) if token in self._swaps]
        helping = [i for i, token in enumerate(words) if token in self._auxiliaries]
        listed = [i for i, token in enumerate(words) if token in self._series]
        counting = [i for i, token in enumerate(words) if token in self._numbers]
        if listed and chance.random() < 0.5:
            i = chance.choice(listed)
            return [*words[:i], chance.choice(self._series[words[i]]), *words[i + 1 :]]
        if ways and chance.random() < 0.7:
            i = chance.choice(ways)
            return [*words[:i], self._swaps[words[i]], *words[i + 1 :]]
        if counting and chance.random() < 0.5:
            i = chance.choice(counting)
            other = chance.choice(sorted(self._numbers - {words[i]}))
            return [*words[:i], other, *words[i + 1 :]]
        if helping:
            i = helping[0]
            if words[i + 1 : i + 2] == [self._negation]:
                return [*words[: i + 1], *words[i + 2 :]]
            return [*words[: i + 1], self._negation, *words[i + 1 :]]
        return None


def _known(tokenizer: Tokenizer, word: str) -> int:
    found: int | None = tokenizer.token_to_id(word)
    if found is None:
        raise SystemExit(f"the tokenizer does not know {word!r}: is it that of the word pieces?")
    return found
