"""Where a parsed text tells an event in one of the words that are listed for it.

Most such words have other senses too, so what the event happens to decides: goals are let in, air
is let in as well, and only the goals are conceded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from abstrag.indexing.abstraction.arguments import arguments_of
from abstrag.language.words import NOUNS, Words
from abstrag.lexicon.events import (
    OWNERS,
    Telling,
    TellingWord,
    is_one_of,
    nominalized,
    tellings_from,
)

_LIGHT: Final = frozenset({"be", "have", "get"})
_KINDS: Final = {
    "PERSON": ("person",),
    "NORP": ("person",),
    "ORG": ("organization", "company", "team"),
    "GPE": ("place", "country", "city"),
    "LOC": ("place",),
    "FAC": ("place", "building"),
}
_PEOPLE: Final = frozenset("he she him her i me we us you they them who whom".split())
_ASKING: Final = frozenset("who whom what which whose it they them this that".split())
_OWNER: Final = "one's"
_PAIR: Final = 2  # words of a verb with a particle
_BETWEEN: Final = 6  # tokens from a verb to what stands behind its object


@dataclass(frozen=True, slots=True)
class ToldAt:
    """One word or phrase of a telling, and the tokens that it covers."""

    word: TellingWord
    first: int
    second: int  # where what follows the verb begins; `last` where nothing does
    last: int  # the token after the last

    @property
    def telling(self) -> Telling:
        """What is told."""
        return self.word.telling


def tellings_in(words: Words, first: int, last: int) -> Iterator[ToldAt]:
    """Go through what a text tells between two tokens, in words that are listed."""
    for token in range(first, last):
        seen: set[str] = set()
        for told in _candidates(words, token):
            if told.word.wider or told.last > last or told.telling.key in seen:
                continue
            if _happens_to(words, told):
                seen.add(told.telling.key)
                yield told


def tellings_asked(words: Words, token: int) -> list[TellingWord]:
    """Return what a question may ask for with the verb or noun at a token."""
    return [told.word for told in _candidates(words, token) if _may_happen_to(words, told)]


def _candidates(words: Words, token: int) -> Iterator[ToldAt]:
    """Go through the words of tellings that stand at a token.

    A verb does not mean by itself what it means with a particle: who drops out drops nothing.
    """
    found = [
        ToldAt(word, token, *place)
        for name in _names(words, token)
        for word in tellings_from(name)
        if (place := _place(words, token, word.words)) is not None
    ]
    return (told for told in found if not any(_covers(words, other, told) for other in found))


def _covers(words: Words, longer: ToldAt, told: ToldAt) -> bool:
    """Tell whether a word or phrase is a part of a longer one that means something else.

    What only goes on with a preposition and its noun means the same: "signed up for the class".
    """
    if longer.last <= told.last or (told.last > told.second and longer.second != told.second):
        return False
    goes_on = longer.second if told.last == told.second else told.last
    return not words.begins_phrase(goes_on)


def _names(words: Words, token: int) -> list[str]:
    """Return the verbs that a token may be, for a noun the verb whose doing it names."""
    lemma = words.lemma[token].casefold()
    if words.pos[token] == "VERB" or (words.pos[token] == "AUX" and lemma in _LIGHT):
        return [lemma]
    if words.pos[token] == "NOUN" and (verb := nominalized(words.key[token])):
        return [verb]
    return []


def _place(words: Words, token: int, listed: tuple[str, ...]) -> tuple[int, int] | None:
    """Return where a listed phrase that begins at a token goes on, and the token after its last."""
    rest = listed[1:]
    if not rest:
        return None if words.child(token, "prt") is not None else (token + 1, token + 1)
    if words.pos[token] == "NOUN":
        return None
    if _follows(words, token + 1, rest):
        return token + 1, token + len(listed)
    for child in words.children[token]:  # "sent him home"
        far = token + 1 < child <= token + _BETWEEN
        if far and _follows(words, child, rest) and not words.begins_phrase(child + len(rest) - 1):
            return child, child + len(rest)
    return None


def _follows(words: Words, token: int, rest: tuple[str, ...]) -> bool:
    end = token + len(rest)
    return end <= words.size and all(_fits(words, token + n, word) for n, word in enumerate(rest))


def _fits(words: Words, token: int, word: str) -> bool:
    if word == _OWNER:
        return words.lower[token] in OWNERS
    return word in (words.lower[token], words.lemma[token])


def told_of(words: Words, told: ToldAt) -> list[int]:
    """Return the heads of what an event happens to, as far as it is one of the things listed."""
    parties = _parties(words, told)
    things = told.telling.of
    return [each for each in parties if _is(words, each, things)] if things else parties


def _happens_to(words: Words, told: ToldAt) -> bool:
    """Tell whether one of the things that a telling is of takes part in what a text tells."""
    things = told.telling.of
    if not things:
        return len(told.word.words) == 1 or not _begins_phrase_after(words, told)
    return bool(told_of(words, told))


def _may_happen_to(words: Words, told: ToldAt) -> bool:
    """Tell whether nothing in a question says that the event happens to something else."""
    things, parties = told.telling.of, _parties(words, told)
    return (
        not things
        or not parties
        or any(
            words.lower[each] in _ASKING or words.pos[each] == "PROPN" or _is(words, each, things)
            for each in parties
        )
    )


def _begins_phrase_after(words: Words, told: ToldAt) -> bool:
    """True where the last word of a phrase goes with a noun and not with the verb."""
    own = len(told.word.words) == _PAIR and told.last == told.first + _PAIR
    return own and words.begins_phrase(told.last - 1)


def _parties(words: Words, told: ToldAt) -> list[int]:
    """Return what an event happens to; without that who does it."""
    last = told.last - 1
    if last != told.first and words.begins_phrase(last):
        below = words.child(last, "pobj")
        return [] if below is None else words.conjuncts(below)
    found = arguments_of(words, told.first)
    inside = {told.first, *range(told.second, told.last)}
    suffering = [each for slot, each in found if slot == "whom" and each not in inside]
    if not suffering and told.second < told.last:  # "let the watchman go free"
        subject = words.child(told.second, "nsubj")
        suffering = [] if subject is None else [subject]
    counted = told.telling.doers or not told.telling.of
    doing = [each for slot, each in found if slot == "who"] if counted else []
    whole = suffering or doing
    return [other for each in whole for other in words.conjuncts(each)]


def _is(words: Words, token: int, things: tuple[str, ...]) -> bool:
    if words.lower[token] in _PEOPLE:
        return "person" in things
    kind = words.kind[token]
    if words.pos[token] == "PROPN" and kind:
        return not set(_KINDS.get(kind, ())).isdisjoint(things)
    return words.pos[token] in NOUNS and is_one_of(words.key[token], things)
