"""Homonyms: what tells two bearers of one name apart, and what a shared name is worth.

Nothing here joins anything. A form is how a name is looked up across documents; a kind is what a
document shows its bearer to be; a clash is a reason why two bearers cannot be one thing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

from abstrag.language.acronyms import singular
from abstrag.language.names import PersonName, gender_of, legal_form, person_name
from abstrag.language.spelling import american, distance, fold, plain
from abstrag.language.words import key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet

ALIKE: Final = 0.25  # of a long form that may be spelt differently
_SHORTEST_SURE: Final = 3  # characters; a shorter short form stands for too much
_LONGEST_SHORT: Final = 12
_SHORTEST_WORD: Final = 4  # letters; WordNet has "hr" and "ms", and no text shouts them
_GAP = re.compile(r"[\s\-/.']+")
_WORD = re.compile(r"[^\W_]+")
_DIGITS = re.compile(r"\d+")
_NUMERAL = re.compile(r"[IVXLC]+$")
_STEM: Final = 6  # letters by which words are compared: "interference" and "interfering"
_SMALL: Final = frozenset("a an and as at by for from in of on or the to with & de du la".split())
_INSTITUTION: Final = frozenset(
    """university institute ministry department committee council commission agency association
    society foundation hospital college academy bank organization organisation laboratory""".split()
)


class BearerKind(StrEnum):
    """What a document shows the bearer of a name to be, as far as it tells homonyms apart."""

    PERSON = "person"
    PLACE = "place"
    ORGANIZATION = "organization"


_KINDS: Final = (
    ("person.n.01", BearerKind.PERSON),
    ("location.n.01", BearerKind.PLACE),
    ("organization.n.01", BearerKind.ORGANIZATION),
)


@lru_cache(maxsize=65536)
def is_short(surface: str) -> bool:
    """True for what reads as a short form: one word with two capitals, or a capital and a digit."""
    if len(surface) > _LONGEST_SHORT or any(c.isspace() for c in surface):
        return False
    capitals = sum(c.isupper() for c in surface)
    return capitals > 1 or (capitals == 1 and any(c.isdigit() for c in surface))


@lru_cache(maxsize=65536)
def is_shouted(surface: str) -> bool:
    """True for an ordinary word or a numeral in capitals: METHODS, MAIN, II."""
    if not surface.isupper() or not surface.isalpha():
        return False
    net, word = wordnet(), surface.lower()
    if _NUMERAL.match(surface):
        return True
    if len(surface) < _SHORTEST_WORD:
        return False
    if any(surface in net.lemmas(s) for s in net.synsets(word, Pos.NOUN)):
        return False  # DNA, AIDS
    return any(
        net.count(lemma, synset)
        for pos in Pos
        for lemma in {word, word.removesuffix("s"), net.morphy(word, pos) or word}
        for synset in net.synsets(lemma, pos)
        if lemma in net.lemmas(synset)
    )


def is_sure(short: str) -> bool:
    """True for a short form long enough that one definition of it says something elsewhere."""
    return len(_GAP.sub("", singular(short))) >= _SHORTEST_SURE


def form(surface: str) -> str:
    """Return what a name is looked up by; a short form keeps its case, for WHO is not who."""
    if is_short(surface):
        return "=" + _GAP.sub("", plain(singular(surface)))
    return fold(surface)


def person_form(surface: str) -> str | None:
    """Return what every name of a surname and a first letter shares: `J. Smith`, `Jane Smith`."""
    person = _person(surface)
    if person is None or not person.given:
        return None
    return f"~{person.surname} {person.given[0][0]}"


def is_full(surface: str) -> bool:
    """True for a name of several words none of which is cut to its initial."""
    words = [w for w in key(surface).split() if w not in _SMALL]
    return len(words) > 1 and all(len(w.strip(".")) > 1 for w in words)


def shown_kinds(surfaces: Iterable[str], classes: Iterable[str]) -> set[BearerKind]:
    """Return the kinds that names and the classes a document states give away."""
    found = {kind for kind in map(_class_kind, classes) if kind is not None}
    for surface in surfaces:
        words = key(surface).split()
        if legal_form(surface)[1] or (len(words) > 1 and _INSTITUTION & set(words)):
            found.add(BearerKind.ORGANIZATION)
            continue
        person = _person(surface)
        if person is not None and (person.titles or (person.given and gender_of(person.given[0]))):
            found.add(BearerKind.PERSON)
    return found


@lru_cache(maxsize=8192)
def _class_kind(label: str) -> BearerKind | None:
    """Return the kind of the things a class noun usually names."""
    net, head = wordnet(), key(label)
    senses = net.synsets(head, Pos.NOUN) or net.synsets(head.split(" ")[-1], Pos.NOUN)
    if not senses:
        return None
    above = {net.name(s) for s in (senses[0], *net.ancestors(senses[0]))}
    return next((kind for name, kind in _KINDS if name in above), None)


@lru_cache(maxsize=8192)
def is_unique(name: str) -> bool:
    """True when the lexicon knows one bearer of a name, and no word that is written so."""
    net = wordnet()
    senses = net.synsets(name, Pos.NOUN)
    return len(senses) == 1 and net.is_instance(senses[0]) and name in net.lemmas(senses[0])


@lru_cache(maxsize=65536)
def _person(surface: str) -> PersonName | None:
    return person_name(surface)


def kinds_clash(one: Iterable[str], other: Iterable[str]) -> bool:
    """True when one is shown to be a person and the other something else.

    Places act as organizations do, so these two never clash.
    """
    left, right = set(one), set(other)
    return bool(left and right) and not left & right and BearerKind.PERSON in left | right


def persons_clash(one: str, other: str) -> bool:
    """True when two people's names cannot be one person's."""
    left, right = _person(one), _person(other)
    return left is not None and right is not None and not left.may_be(right)


@lru_cache(maxsize=65536)
def same_long_form(one: str, other: str) -> bool:
    """True when two long forms of one short form differ in wording only; digits never differ."""
    if fold(one) == fold(other):
        return True
    if _DIGITS.findall(one) != _DIGITS.findall(other):
        return False
    if distance(one, other) <= ALIKE:
        return True
    left, right = _stems(one), _stems(other)
    return len(left & right) > 1 and (left <= right or right <= left)


def _stems(text: str) -> set[str]:
    words = (w for w in _WORD.findall(plain(text).casefold()) if w not in _SMALL)
    return {american(w)[:_STEM] for w in words}


def grouped_long_forms(long_forms: Sequence[str]) -> list[list[str]]:
    """Sort the long forms of one short form into those that differ in wording only."""
    groups: list[list[str]] = []
    for one in sorted(set(long_forms)):
        near = [g for g in groups if any(same_long_form(one, other) for other in g)]
        groups = [g for g in groups if g not in near]
        groups.append(sorted([one, *(other for g in near for other in g)]))
    return sorted(groups)
