"""Sentences that define or name: "Y is a X", "Y is defined as X", "a X called Y", "'Y' means X"."""

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
    true_class,
)
from abstrag.indexing.abstraction.passage import ParsedPassage
from abstrag.language.words import NOUNS, Words

_NARROWING: Final = frozenset({"prep", "relcl", "acl", "nummod", "poss", "npadvmod", "advmod"})
_PHRASE_WORDS: Final = frozenset({"NOUN", "PROPN", "ADJ", "NUM", "SYM", "X"})
_HEDGES: Final = frozenset(
    "typically often usually sometimes mostly partly arguably perhaps maybe possibly probably "
    "likely essentially almost".split()
)
_SAYING: Final = frozenset({"term", "expression", "phrase", "word"})
# What a definition has in neither of its parts: another term, or the first of several cases.
_APART: Final = frozenset({'"', "“", "”", "(", "``", "''", ";"})
_CLOSING_QUOTES: Final = frozenset({'"', "”", "''", "’", "'"})


def is_a(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
    """Find "a transformer is a neural network" and "TSMC was a chipmaker", at the verb."""
    words = passage.words
    subject, attribute = words.child(token, "nsubj"), words.child(token, "attr")
    yield from _that_is(passage, token, attribute)
    if subject is None or attribute is None or not subject < token < attribute:
        return
    if any(words.lower[c] in _HEDGES for c in words.children[token]):
        return
    if words.tag[subject] in ("WDT", "WP") and words.dep[token] == "relcl":
        subject = words.head[token]  # "TSMC, which is a chipmaker"
    class_ = true_class(words, attribute)
    if class_ is None or not _classifies(passage, token, subject, attribute, class_):
        return
    for member in members(passage, subject):
        if can_be_member(passage, member):
            yield ClassStatement(member, class_, begin(passage, member), class_ + 1, 0.9)


def _that_is(passage: ParsedPassage, token: int, attribute: int | None) -> Iterator[ClassStatement]:
    """Find "a canary, that is a small group of servers,": a thing and what it is, at the verb."""
    words, said = passage.words, token - 1
    if attribute is None or said - 2 < passage.first or words.lower[said] != "that":
        return
    thing, class_ = said - 2, true_class(words, attribute)
    if (
        class_ is not None
        and token < attribute
        and words.text[said - 1] == ","
        and words.pos[thing] in NOUNS
        and determiner(words, thing) in ("a", "an")
        and determiner(words, attribute) in ("a", "an")
        and can_be_member(passage, thing)
    ):
        yield ClassStatement(thing, class_, begin(passage, thing), class_ + 1, 0.85, defined=True)


def _classifies(
    passage: ParsedPassage, verb: int, subject: int, attribute: int, class_: int
) -> bool:
    """True when subject and attribute agree as thing and class do, not as a remark."""
    words = passage.words
    named = passage.name(subject) is not None
    if not named and (words.tag[verb] not in ("VBZ", "VBP") or not _generic(words, subject)):
        return False
    article = determiner(words, attribute)
    several = plural(words, subject) or len(members(passage, subject)) > 1
    if article in ("a", "an") or class_ != attribute:
        return not several or class_ != attribute
    if article == "the":
        return named and not several
    return article == "" and several and plural(words, class_)


def _generic(words: Words, noun: int) -> bool:
    """True when a common noun stands for its whole class: "a transformer", "transformers"."""
    narrowed = any(words.dep[c] in _NARROWING for c in words.children[noun])
    before = words.phrase(noun)[-1] - 1  # "(LSTM) models", "two models": the phrase is cut short
    cut = before >= 0 and (words.text[before] == ")" or words.pos[before] in _PHRASE_WORDS)
    return determiner(words, noun) in ("a", "an", "") and not narrowed and not cut


def defined_as(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
    """Find "a stroke is defined as a deficit", "we define recall as the share", at the verb."""
    words = passage.words
    thing = words.child(token, "nsubjpass", "dobj")
    noun = _object_of(words, token, "as")
    if thing is None or noun is None or not thing < noun:
        return
    class_ = true_class(words, noun)
    narrowed = any(words.dep[c] in _NARROWING for c in words.children[thing])
    if class_ is not None and not narrowed and can_be_member(passage, thing):
        yield ClassStatement(thing, class_, *_around(passage, thing, class_), 0.9)


def called(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
    """Find "a data set called X", "we call this method X", "the method is known as X"."""
    words = passage.words
    name = words.child(token, "oprd")
    if name is None and words.lower[token] == "known":
        name = _object_of(words, token, "as")
    thing = words.child(token, "dobj", "nsubjpass")
    if words.dep[token] == "acl":
        thing = words.head[token]
        if token - thing > 1 + (words.text[token - 1] == ","):
            return
    elif words.dep[token] == "amod":
        return  # "named entity"
    if name is None or thing is None or not thing < name or words.pos[name] not in NOUNS:
        return
    class_ = true_class(words, thing)
    if class_ is not None and not plural(words, class_):
        yield ClassStatement(name, class_, *_around(passage, class_, name), 0.9)


def means(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
    """Find what contracts and glossaries define, at the verb.

    "Affiliate" means any entity that …; at the start of a sentence also without the marks.
    """
    words = passage.words
    term, noun = words.child(token, "nsubj"), words.child(token, "dobj")
    if term is not None and words.lemma[term] in _SAYING:
        term = words.child(term, "appos")  # the term "Information" shall mean
    if term is None or noun is None or not term < token < noun:
        return
    between = {*words.text[past(passage, term) + 1 : token], *words.text[token + 1 : noun]}
    if not between.isdisjoint(_APART):
        return
    class_ = true_class(words, noun)
    one_class = all(words.dep[c] not in ("conj", "cc") for c in words.children[noun])
    if class_ is None or not one_class:
        return
    if words.text[past(passage, term)] in _CLOSING_QUOTES:
        yield ClassStatement(term, class_, *_around(passage, term, class_), 0.95)
    elif begin(passage, term) == passage.first and words.tag[token] == "VBZ":
        place = _around(passage, term, class_)
        yield ClassStatement(term, class_, *place, 0.85, defined=True)


def _object_of(words: Words, verb: int, preposition: str) -> int | None:
    prep = next((c for c in words.children[verb] if words.lower[c] == preposition), None)
    return None if prep is None or prep < verb else words.child(prep, "pobj")


def _around(passage: ParsedPassage, a: int, b: int) -> tuple[int, int]:
    first, last = min(a, b), max(a, b)
    return begin(passage, first), past(passage, last)
