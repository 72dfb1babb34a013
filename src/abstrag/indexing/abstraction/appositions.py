"""Appositions: "Anthropic, an AI startup,", "an AI startup, Anthropic,", "chipmaker TSMC"."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from abstrag.indexing.abstraction.class_statements import (
    ClassStatement,
    begin,
    can_be_member,
    determiner,
    past,
    plural,
    true_class,
)
from abstrag.indexing.abstraction.passage import Passage
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import roles
from abstrag.lexicon.wordnet import wordnet

_OPENING: Final = frozenset({",", "(", "–", "—"})
_QUOTES: Final = frozenset({'"', "“", "”", "``", "''"})
_ARTICLES: Final = frozenset({"a", "an", "the", "one"})
_BEARERS: Final = ("person.n.01", "organization.n.01", "location.n.01", "body_of_water.n.01")

_FIRMS: Final = frozenset({"startup", "start-up", "giant", "spinoff", "spin-off", "unicorn"})


def apposition(passage: Passage, token: int) -> Iterator[ClassStatement]:
    """Find a name and a class side by side with a comma between, at the later one."""
    words = passage.words
    head = words.head[token]
    if words.listed(token) or words.listed(head):
        return  # a list, whatever the parser says
    named = passage.name(token) is not None
    if passage.name(head) is not None and (not named or words.key[token] in roles().heads):
        yield from _class_after(passage, head, token)
    elif named and not plural(words, head):
        comma = begin(passage, token) - 1
        article = determiner(words, head) in ("a", "an", "the", "poss")
        if words.text[comma] == "," and comma - 1 == head and article:
            first, last = begin(passage, head), past(passage, token)
            yield ClassStatement(token, head, first, last, 0.85)
    elif not named and can_be_member(passage, head) and not plural(words, head):
        yield from _class_of_noun(passage, head, token)


def _class_of_noun(passage: Passage, member: int, noun: int) -> Iterator[ClassStatement]:
    """Find "a takyr, a flat basin of clay, holds": a thing, and between commas what it is."""
    words = passage.words
    class_, comma = true_class(words, noun), past(passage, member)
    if (
        class_ is not None
        and not plural(words, class_)
        and comma + 1 < passage.last
        and words.text[comma] == ","
        and words.lower[comma + 1] in ("a", "an")
        and begin(passage, noun) <= comma + 2
        and _closed(passage, noun)
    ):
        first = begin(passage, member)
        yield ClassStatement(member, class_, first, class_ + 1, 0.8, defined=True)


def _class_after(passage: Passage, name: int, noun: int) -> Iterator[ClassStatement]:
    words = passage.words
    class_, comma = true_class(words, noun), past(passage, name)
    if (
        class_ is not None
        and _QUOTES.isdisjoint(words.text[comma:class_])  # Acme Inc. (the "Company"): a name
        and words.text[comma + 2 : comma + 3] != [")"]  # "(a)" begins an item
        and words.key[comma - 1] not in roles().heads  # "General Counsel, Vice President": titles
        and comma + 1 < passage.last
        and words.text[comma] in _OPENING
        and (words.lower[comma + 1] in _ARTICLES or words.key[class_] in roles().heads)
        and (words.lower[comma + 1] != "the" or _closed(passage, noun))
    ):
        yield ClassStatement(name, class_, begin(passage, name), class_ + 1, 0.9)


def _closed(passage: Passage, noun: int) -> bool:
    """True when a phrase ends at a mark, as an apposition does and a subject does not."""
    words, last = passage.words, passage.words.last_below(noun)
    return last + 1 >= passage.last or words.pos[last + 1] == "PUNCT" or words.pos[last] == "PUNCT"


def class_and_name(passage: Passage, token: int) -> Iterator[ClassStatement]:
    """Find "chipmaker TSMC": a singular class noun right before a name, at the name."""
    words = passage.words
    name = passage.name(token)
    if name is None or token != name.first or token == passage.first:
        return
    _, first, last = name
    class_ = first - 1
    one_phrase = (
        words.tag[class_] == "NN"
        and words.dep[class_] in ("compound", "nmod")
        and first <= words.head[class_] < last
        and words.tag[last - 1] == "NNP"
    )
    if one_phrase and _bears_names(words.key[class_]):
        yield ClassStatement(last - 1, class_, begin(passage, class_), last, 0.85)


@lru_cache(maxsize=4096)
def _bears_names(noun: str) -> bool:
    """True for nouns whose first sense is a person, a body or a place, and for names of firms."""
    if noun.endswith("maker") or noun in _FIRMS or roles().find(noun):
        return True
    net = wordnet()
    found = net.synsets(noun, Pos.NOUN)[:1]
    bearers = set(map(net.synset, _BEARERS))
    return any(not bearers.isdisjoint((s, *net.ancestors(s))) for s in found)
