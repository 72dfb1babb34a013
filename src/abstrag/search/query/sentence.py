"""What the grammar of a question says: its subject, what it denies, what would answer it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from abstrag.language.words import NOUNS, Words
from abstrag.lexicon.events import idiom_at, names_event
from abstrag.model.query import Literal
from abstrag.search.query.question import answer_type
from abstrag.search.query.weights import is_light

# With "this" or "the" before them and nothing more, they are the very document that is searched.
_SELF: Final = frozenset(
    "paper document study article report section text manuscript manual author filing".split()
)
_POINTING: Final = frozenset({"this", "the", "these", "present", "current", "your", "their"})
_OF: Final = frozenset({"of", "with", "between", "by"})  # one of several: "the agreement with TSMC"
_AUXILIARIES: Final = frozenset({"do", "does", "did", "has", "have", "had"})
_PHRASAL: Final = 2  # words of a verb with a particle
_NEGATIONS: Final = frozenset({"no", "not", "n't", "never", "without", "neither", "nor", "none"})


def points_at_document(words: Words, at: int, names: Collection[str] = ()) -> bool:
    """True where a word only points at the document: "this paper", "the authors".

    Args:
        words: The question.
        at: Where the word begins.
        names: What this document may be called besides, by its title.
    """
    token = next((i for i in range(words.size) if words.start[i] == at), None)
    if not token or words.lower[token - 1] not in _POINTING:
        return False
    if words.key[token] not in _SELF and words.key[token] not in names:
        return False
    after = token + 1
    asked = token > 1 and words.lower[token - 2] in _AUXILIARIES  # "does this paper use"
    goes_on = after < words.size and (words.pos[after] in NOUNS or words.lower[after] in _OF)
    return asked or not goes_on


def is_negated(words: Words, token: int) -> bool:
    """True when a word is denied; "NO" in a text that is not all capitals is nitric oxide."""
    head = words.head[token]
    near = [token, *words.children[token], head]
    # "the party shall not disclose the fact" denies the fact and no party
    near += [c for c in words.children[head] if words.dep[c] == "neg" and c < token]
    return any(
        (words.dep[i] == "neg" or words.lower[i] in _NEGATIONS) and not _named_no(words, i)
        for i in near
    )


def _named_no(words: Words, token: int) -> bool:
    shouted = all(text.isupper() for text in words.text if text.isalpha())
    return words.text[token].isupper() and not shouted


def asked_for(text: str, words: Words) -> str | None:
    """Return what kind of thing would answer a question; what "which" stands by, by the parse."""
    asked = answer_type(text)
    which = next((i for i in range(words.size) if words.lower[i] in ("which", "what")), None)
    if which is None or asked is None or asked not in words.lower[which + 1 : which + 2]:
        return asked
    head = words.head[which]
    if words.dep[which] == "det" and words.pos[head] in NOUNS:
        return words.lower[head]
    return asked if words.pos[which + 1] in NOUNS else None


def subjects(words: Words) -> Iterator[int]:
    """Go through the nouns a question may be about, the likeliest first.

    The subject of the main clause, or else its attribute or object; each is followed by what it is
    made of, for "the number of stores" is about stores.
    """
    roots = [i for i in range(words.size) if words.head[i] == i]
    for dep in ("nsubj", "nsubjpass", "attr", "dobj"):
        for root in roots:
            for token in words.children[root]:
                if words.dep[token] == dep and words.pos[token] in NOUNS:
                    yield token
                    yield from (c for c in words.children[token] if words.dep[c] == "compound")
                    for prep in words.children[token]:
                        if words.dep[prep] == "prep":
                            yield from (c for c in words.children[prep] if words.dep[c] == "pobj")


def verb_slots(words: Words, verb: int, named: Collection[int]) -> tuple[str, ...]:
    """Return the arguments a verb has in the question; `named` are tokens of names."""
    slots = []
    # a question puts its subject where the parser may not see that it is one
    children = words.children[verb]
    before = any(c < verb and (words.pos[c] in NOUNS or c in named) for c in children)
    if before or words.child(verb, "nsubj", "agent", "csubj") is not None:
        slots.append("who")
    has_object = words.child(verb, "dobj", "obj", "nsubjpass", "dative") is not None
    prepositions = [c for c in children if words.dep[c] == "prep"]
    if has_object or any(words.lower[p] in ("with", "to", "against") for p in prepositions):
        slots.append("whom")
    return tuple(slots)


def noun_slots(words: Words, noun: int) -> tuple[str, ...]:
    """Return the arguments a noun that names an event has in the question."""
    slots: dict[str, None] = {}
    if words.child(noun, "poss") is not None:
        slots["who"] = None
    for preposition in (c for c in words.children[noun] if words.dep[c] == "prep"):
        name = words.lower[preposition]
        if name in ("between", "among"):
            slots |= {"who": None, "whom": None}
        elif name == "by":
            slots["who"] = None
        elif name in ("with", "of", "to", "against"):
            slots["whom"] = None
    return tuple(slots)


def carries_event(words: Words, verb: int) -> bool:
    """True when a verb's object is itself the event: "hold a meeting", "a meeting was held"."""
    obj = words.child(verb, "dobj", "obj", "nsubjpass")
    return obj is not None and names_event(words.key[obj])


def idioms_in(words: Words) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Go through the idioms of a query: first and last token, and what they say in plain words."""
    for i in range(words.size):
        idiom = idiom_at(words.lemma, words.lower, i)
        if idiom and not (idiom.size == _PHRASAL and words.begins_phrase(i + 1)):
            yield i, i + idiom.size - 1, idiom.meanings


def may_name(surface: str) -> bool:
    """True when a surface looks like a name, not like a word some entity happens to share."""
    return any(c.isupper() or c.isdigit() for c in surface) or " " in surface


def subject_of(words: Words, found: Sequence[tuple[int, Literal]]) -> Literal | None:
    """Return the literal that the question is about; one that says little never is."""
    for token in subjects(words):
        for at, literal in found:
            inside = at <= words.start[token] < at + max(1, len(literal.label))
            if inside and not is_light(literal):
                return literal
    return None
