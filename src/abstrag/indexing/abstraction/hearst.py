"""Lists that name a class: "X such as Y", "X including Y", "X, especially Y", "Y and other X"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from abstrag.indexing.abstraction.class_statements import (
    ClassStatement,
    begin,
    can_be_member,
    determiner,
    members,
    past,
    plural,
)
from abstrag.indexing.abstraction.passage import Passage
from abstrag.language.words import NOUNS, Words

_NARROWING: Final = frozenset({"prep", "acl", "relcl"})  # "intake of salt" is not all intake


def _listed(
    passage: Passage, class_: int, member: int, confidence: float
) -> Iterator[ClassStatement]:
    words = passage.words
    first = begin(passage, class_)
    listed = members(passage, member)
    if listed and not can_be_member(passage, listed[0]):
        return  # what "their names, cities and tags" says of the first it says of all
    for each in listed:
        narrowed = any(words.dep[c] in _NARROWING for c in words.children[each])
        if can_be_member(passage, each) and (not narrowed or passage.name(each) is not None):
            yield ClassStatement(each, class_, first, past(passage, each), confidence, listed=True)


def _noun_before(passage: Passage, cue: int) -> int | None:
    """Return the noun right before a cue; a comma or bracket may stand between them."""
    words = passage.words
    token = cue - 1
    if token >= passage.first and words.text[token] in (",", "("):
        token -= 1
    return token if token >= passage.first and words.pos[token] == "NOUN" else None


def _owner(words: Words, noun: int) -> int | None:
    """Return the noun that a noun is attached to by a preposition: a list could be either's.

    "abnormalities in mice, such as Y" leaves open what Y is, "a variety of mice such as Y" not.
    """
    prep = words.head[noun]
    if words.dep[noun] != "pobj" or (words.lower[prep] == "of" and plural(words, noun)):
        return None
    return words.head[prep] if words.pos[words.head[prep]] in NOUNS else None


def such_as(passage: Passage, token: int) -> Iterator[ClassStatement]:
    """Find "chip suppliers such as TSMC and Samsung", at "such"."""
    words = passage.words
    if token + 1 >= passage.last or words.lower[token + 1] != "as":
        return
    member = words.child(token + 1, "pobj")
    near, far = _noun_before(passage, token), words.head[token + 1]
    if member is None or near is None:
        return
    owner = _owner(words, near)
    if near == far or words.pos[far] not in NOUNS:
        one = not plural(words, near) and determiner(words, near) not in ("", "a", "an")
        if not one and (owner is None or not plural(words, owner)):
            yield from _listed(passage, near, member, 0.95)
    elif plural(words, near) and not plural(words, far):
        yield from _listed(passage, near, member, 0.85)
    elif plural(words, far) and far + 1 == words.head[near] and words.lower[far + 1] == "of":
        yield from _listed(passage, far, member, 0.8)  # "changes of habit such as Y"


def including(passage: Passage, token: int) -> Iterator[ClassStatement]:
    """Find "tasks, including parsing and tagging", at "including"."""
    words = passage.words
    member, class_ = words.child(token, "pobj", "dobj"), _noun_before(passage, token)
    if member is None or class_ is None or words.head[token] != class_:
        return
    if plural(words, class_) and _owner(words, class_) is None:
        yield from _listed(passage, class_, member, 0.8)


def especially(passage: Passage, token: int) -> Iterator[ClassStatement]:
    """Find "chip suppliers, especially TSMC", at "especially"."""
    words = passage.words
    class_, member = _noun_before(passage, token), words.head[token]
    if (
        class_ is not None
        and class_ != token - 1
        and plural(words, class_)
        and passage.name(member) is not None
        and begin(passage, member) == token + 1
    ):
        yield from _listed(passage, class_, member, 0.75)


def and_other(passage: Passage, token: int) -> Iterator[ClassStatement]:
    """Find "TSMC, Samsung and other chip suppliers", at "other"."""
    words = passage.words
    class_, conjunction = words.head[token], token - 1
    if (
        words.dep[token] != "amod"
        or words.dep[class_] != "conj"
        or not plural(words, class_)
        or conjunction <= passage.first
        or words.lower[conjunction] not in ("and", "or")
    ):
        return
    last = conjunction - 1 - (words.text[conjunction - 1] == ",")
    if last < passage.first or words.pos[last] not in NOUNS:
        return
    start = last
    while words.dep[start] == "conj":
        start = words.head[start]
    listed = members(passage, start)
    if last not in listed or words.head[class_] not in listed or not can_be_member(passage, start):
        return
    for member in listed[: listed.index(last) + 1]:
        if can_be_member(passage, member):
            first = begin(passage, member)
            yield ClassStatement(member, class_, first, class_ + 1, 0.85, listed=True)
