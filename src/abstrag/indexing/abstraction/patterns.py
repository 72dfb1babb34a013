"""Where to look for class statements: which words and dependencies start which pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

from abstrag.indexing.abstraction.class_statements import (
    ClassStatement,
    begin,
    can_be_member,
    determiner,
    is_sound,
    members,
    past,
    plural,
    true_class,
)
from abstrag.indexing.abstraction.passage import ParsedPassage
from abstrag.language.words import NOUNS, Words
from abstrag.lexicon.inventory import listed_words
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import roles
from abstrag.lexicon.wordnet import wordnet

# Lists that name a class: "X such as Y", "X including Y", "X, especially Y", "Y and other X".

_NARROWING: Final = frozenset({"prep", "acl", "relcl"})  # "intake of salt" is not all intake
_NARROWS_DEFINED: Final = frozenset(
    {"prep", "relcl", "acl", "nummod", "poss", "npadvmod", "advmod"}
)
_PHRASE_WORDS: Final = frozenset({"NOUN", "PROPN", "ADJ", "NUM", "SYM", "X"})
_HEDGES: Final = listed_words("hedges")
_SAYING: Final = frozenset({"term", "expression", "phrase", "word"})
# What a definition has in neither of its parts: another term, or the first of several cases.
_APART: Final = frozenset({'"', "“", "”", "(", "``", "''", ";"})
_CLOSING_QUOTES: Final = frozenset({'"', "”", "''", "’", "'"})


def _listed(
    passage: ParsedPassage, class_: int, member: int, confidence: float
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


def _noun_before(passage: ParsedPassage, cue: int) -> int | None:
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


def such_as(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
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


def including(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
    """Find "tasks, including parsing and tagging", at "including"."""
    words = passage.words
    member, class_ = words.child(token, "pobj", "dobj"), _noun_before(passage, token)
    if member is None or class_ is None or words.head[token] != class_:
        return
    if plural(words, class_) and _owner(words, class_) is None:
        yield from _listed(passage, class_, member, 0.8)


def especially(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
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


def and_other(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
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


# Appositions: "Anthropic, an AI startup,", "an AI startup, Anthropic,", "chipmaker TSMC".

_OPENING: Final = frozenset({",", "(", "–", "—"})
_QUOTES: Final = frozenset({'"', "“", "”", "``", "''"})
_WITH: Final = frozenset({"with", "without", "plus", "+"})
_HYPHENS: Final = frozenset("-‐‑")
_ARTICLES: Final = frozenset({"a", "an", "the", "one"})
_BEARERS: Final = ("person.n.01", "organization.n.01", "location.n.01", "body_of_water.n.01")

_FIRMS: Final = frozenset({"startup", "start-up", "giant", "spinoff", "spin-off", "unicorn"})


def apposition(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
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
        sure = not _combined(passage, token) and (
            not _opens_sentence(passage, head) or _closed(passage, token)
        )
        if words.text[comma] == "," and comma - 1 == head and article and sure:
            first, last = begin(passage, head), past(passage, token)
            yield ClassStatement(token, head, first, last, 0.85)
    elif not named and can_be_member(passage, head) and not plural(words, head):
        yield from _class_of_noun(passage, head, token)


def _class_of_noun(passage: ParsedPassage, member: int, noun: int) -> Iterator[ClassStatement]:
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


def _class_after(passage: ParsedPassage, name: int, noun: int) -> Iterator[ClassStatement]:
    words = passage.words
    class_, comma = true_class(words, noun), past(passage, name)
    if (
        class_ is not None
        and _QUOTES.isdisjoint(words.text[comma:class_])  # Acme Inc. (the "Company"): a name
        and words.text[comma + 2 : comma + 3] != [")"]  # "(a)" begins an item
        and words.key[comma - 1] not in roles().heads  # "General Counsel, Vice President": titles
        and comma + 1 < passage.last
        and words.text[comma] in _OPENING
        and not plural(words, class_)  # "from Acme, the assets of a division"
        and not _combined(passage, name)
        and (words.lower[comma + 1] in _ARTICLES or _office_at(passage, comma + 1, class_))
        and (words.lower[comma + 1] != "the" or _closed(passage, noun))
    ):
        yield ClassStatement(name, class_, begin(passage, name), class_ + 1, 0.9)


def _combined(passage: ParsedPassage, name: int) -> bool:
    """True when a name is one of two that name a thing together: "Acme with Beta, the best set"."""
    words, first, after = passage.words, begin(passage, name), past(passage, name)
    return (first > passage.first and words.lower[first - 1] in _WITH) or (
        after < passage.last and words.lower[after] in _WITH
    )


def _opens_sentence(passage: ParsedPassage, noun: int) -> bool:
    """True for the noun of what a sentence opens with: "In our evaluation, Acme is best"."""
    words, prep = passage.words, passage.words.head[noun]
    return words.dep[noun] == "pobj" and prep == passage.first


def _office_at(passage: ParsedPassage, first: int, class_: int) -> bool:
    """True when words from a place on name an office: "Ann Lee, Chief Executive Officer"."""
    words = passage.words
    return words.key[class_] in roles().heads and all(
        words.text[i].isalpha() or words.text[i] in _HYPHENS for i in range(first, class_)
    )


def _closed(passage: ParsedPassage, noun: int) -> bool:
    """True when a phrase ends at a mark, as an apposition does and a subject does not."""
    words, last = passage.words, passage.words.last_below(noun)
    return last + 1 >= passage.last or words.pos[last + 1] == "PUNCT" or words.pos[last] == "PUNCT"


def class_and_name(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
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


def _is_a(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
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
    narrowed = any(words.dep[c] in _NARROWS_DEFINED for c in words.children[noun])
    before = words.phrase(noun)[-1] - 1  # "(LSTM) models", "two models": the phrase is cut short
    cut = before >= 0 and (words.text[before] == ")" or words.pos[before] in _PHRASE_WORDS)
    return determiner(words, noun) in ("a", "an", "") and not narrowed and not cut


def _defined_as(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
    """Find "a stroke is defined as a deficit", "we define recall as the share", at the verb."""
    words = passage.words
    thing = words.child(token, "nsubjpass", "dobj")
    noun = _object_of(words, token, "as")
    if thing is None or noun is None or not thing < noun:
        return
    class_ = true_class(words, noun)
    narrowed = any(words.dep[c] in _NARROWS_DEFINED for c in words.children[thing])
    if class_ is not None and not narrowed and can_be_member(passage, thing):
        yield ClassStatement(thing, class_, *_around(passage, thing, class_), 0.9)


def _called(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
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


def _means(passage: ParsedPassage, token: int) -> Iterator[ClassStatement]:
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


Pattern = Callable[[ParsedPassage, int], Iterator[ClassStatement]]

_BY_WORD: Final[Mapping[str, Pattern]] = MappingProxyType(
    {
        "such": such_as,
        "including": including,
        "especially": especially,
        "particularly": especially,
        "notably": especially,
        "other": and_other,
        "is": _is_a,
        "are": _is_a,
        "was": _is_a,
        "were": _is_a,
        "means": _means,
        "mean": _means,
        "defined": _defined_as,
        "define": _defined_as,
        "called": _called,
        "call": _called,
        "named": _called,
        "dubbed": _called,
        "termed": _called,
        "known": _called,
    }
)


def find_stated(passage: ParsedPassage) -> Iterator[ClassStatement]:
    """Find every class statement of a passage that may be believed."""
    words = passage.words
    for token in range(passage.first, passage.last):
        pattern = _BY_WORD.get(words.lower[token])
        if pattern is None and words.dep[token] == "appos":
            pattern = apposition
        elif pattern is None and words.pos[token] == "PROPN":
            pattern = class_and_name
        if pattern is not None:
            yield from (s for s in pattern(passage, token) if is_sound(passage, s))
