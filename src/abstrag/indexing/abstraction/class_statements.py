"""A class statement of the text, and when one may be believed.

An edge made from such a statement is truth-preserving and costs nothing, unless the statement is
only a list. So precision comes first: a pattern must be there in the words *and* in the parse, the
class must say something, and nothing around it may deny, suppose or ask it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from abstrag.indexing.abstraction.passage import ParsedPassage
from abstrag.language.words import NOUNS, Words
from abstrag.lexicon.inventory import listed_words
from abstrag.lexicon.roles import roles


@dataclass(frozen=True, slots=True)
class ClassStatement:
    """The text says, from first to before last, that `member` is a `class_`: two head nouns."""

    member: int
    class_: int
    first: int
    last: int
    confidence: float
    listed: bool = False  # as an example of the class, not by a predicate
    defined: bool = False  # by a sentence that says what a word means


_KINDS: Final = frozenset(
    "kind type sort form class variety species category family subclass subtype breed genre".split()
)
_PIECES: Final = frozenset("piece stretch strip tract plot patch".split())  # "a piece of land"
# Words that classify nothing wherever they stand.
_EMPTY: Final = listed_words("empty_classes")
# As predicates these judge and do not classify: "X is a problem" is somebody's opinion.
_JUDGING: Final = listed_words("judging")
_PRIVATIVE: Final = listed_words("privative")
_SUPPOSING: Final = listed_words("supposing")
_CONDITIONS: Final = frozenset({"if", "whether", "unless", "lest", "though", "when"})
_FACTUAL_MODALS: Final = frozenset({"will", "shall"})
_NEGATIONS: Final = frozenset({"no", "not", "n't", "never", "neither", "nor", "without", "hardly"})
_COUNTING: Final = frozenset("multiple various several many numerous additional more".split())
_POINTING: Final = frozenset("this that these those all any each every poss nummod".split())


def is_sound(passage: ParsedPassage, stated: ClassStatement) -> bool:
    """True when a statement found by a pattern classifies something and is asserted."""
    words, class_, member = passage.words, stated.class_, stated.member
    return (
        (words.pos[class_] == "NOUN" or words.key[class_] in roles().heads)
        and words.pos[member] in NOUNS
        and words.key[class_] != words.key[member]
        and words.key[class_] not in _EMPTY
        and (stated.listed or stated.defined or words.key[class_] not in _JUDGING)
        and not passage.times.keys() & {class_, member}
        and words.key[member] not in words.key[words.phrase(class_)[-1] : class_]
        and min(len(words.text[class_]), len(words.text[member])) > 1
        and words.text[class_].isalpha()
        and words.text[member][:1].isalpha()
        and (class_ + 1 == begin(passage, member) or not _goes_on(passage, class_))
        and not _goes_on(passage, past(passage, member) - 1)
        and not _privative(words, class_)
        and not _object(words, class_)
        and _asserted(words, class_)
        and _asserted(words, member)
    )


def _goes_on(passage: ParsedPassage, noun: int) -> bool:
    """True when a noun is not the last of its phrase after all: the parser cut "enzyme complex"."""
    words, after = passage.words, noun + 1
    return after < passage.last and (
        (words.pos[after] in NOUNS and after not in passage.times)
        or words.glued(after + 1)
        or (words.text[after] == "(" and _goes_on_after_bracket(passage, after))
        or (words.tag[after] == "VBG" and words.lower[after] != "including")
    )


def _goes_on_after_bracket(passage: ParsedPassage, opening: int) -> bool:
    """True at the bracket of "reticulum (ER)-anchored protein" and "receptor (EGFR) activation"."""
    words = passage.words
    near = range(opening + 1, min(opening + 6, passage.last - 1))
    closing = next((i for i in near if words.text[i] == ")"), None)
    return closing is not None and (
        words.text[closing + 1] == "-" or words.pos[closing + 1] in NOUNS
    )


def _object(words: Words, class_: int) -> bool:
    """True when a class is what a participle acts on: "a benchmark collecting real queries"."""
    first = words.phrase(class_)[-1]
    return words.tag[first] == "VBG" and first > 0 and words.pos[first - 1] in NOUNS


def _privative(words: Words, noun: int) -> bool:
    """True when a modifier takes the class back: "a former partner", "no partner"."""
    near = {*range(words.phrase(noun)[-1], noun), *words.children[noun]}
    return any(words.lower[i] in _PRIVATIVE or words.lower[i] in _NEGATIONS for i in near)


def _asserted(words: Words, token: int) -> bool:
    """True when no clause around a token is denied, supposed or asked."""
    for node in words.up(token):
        if words.lemma[node] in _SUPPOSING:
            return False
        for child in words.children[node]:
            lower, dep = words.lower[child], words.dep[child]
            if (
                dep == "neg"
                or lower == "?"
                or (words.tag[child] == "MD" and words.lemma[child] not in _FACTUAL_MODALS)
                or (dep in ("mark", "advmod") and lower in _CONDITIONS)
                or (dep in ("det", "preconj", "cc") and lower in _NEGATIONS)
            ):
                return False
    return True


def determiner(words: Words, noun: int) -> str:
    """Return the determiner of a noun: its word, "poss" or "nummod" for those, "" for none."""
    for child in words.children[noun]:
        if child < noun and words.dep[child] in ("det", "predet"):
            return words.lower[child]
        if child < noun and words.dep[child] in ("poss", "nummod"):
            return words.dep[child]
    return ""


def plural(words: Words, noun: int) -> bool:
    """True when a noun stands in the plural."""
    return words.tag[noun] in ("NNS", "NNPS")


def begin(passage: ParsedPassage, noun: int) -> int:
    """Return the first token of the name or noun phrase that ends in a noun."""
    name = passage.name(noun)
    return name.first if name else passage.words.phrase(noun)[-1]


def past(passage: ParsedPassage, noun: int) -> int:
    """Return the token after the name or noun phrase that ends in a noun."""
    name = passage.name(noun)
    return name.last if name else noun + 1


def true_class(words: Words, noun: int) -> int | None:
    """Return the noun that classifies: of "a kind of X", "a piece of X", "one of the X", X."""
    if words.lemma[noun] not in _KINDS | _PIECES and words.lower[noun] != "one":
        return noun
    of = next((c for c in words.children[noun] if words.lower[c] == "of"), None)
    return None if of is None else words.child(of, "pobj")


def members(passage: ParsedPassage, first: int) -> list[int]:
    """Return a noun and those listed with it, as far as only commas and "and" stand between."""
    words = passage.words
    found: list[int] = []
    for noun in words.conjuncts(first):
        if words.pos[noun] not in NOUNS:
            break
        if found:
            gap = range(past(passage, found[-1]), begin(passage, noun))
            if not all(words.text[i] == "," or words.dep[i] in ("cc", "det") for i in gap):
                break
        found.append(noun)
    return found


def can_be_member(passage: ParsedPassage, noun: int) -> bool:
    """True when a noun stands for a thing or a whole class, not for this or that one."""
    words = passage.words
    return passage.name(noun) is not None or (
        words.pos[noun] in NOUNS
        and not words.stop[noun]
        and words.key[noun] not in _EMPTY
        and words.key[noun] not in _JUDGING
        and determiner(words, noun) not in _POINTING
        and not (
            plural(words, noun) and any(words.lower[c] in _COUNTING for c in words.children[noun])
        )
    )
