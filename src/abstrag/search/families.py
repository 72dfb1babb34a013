"""Families: what kind of step leads from a word of a text to a word of a query.

A family is a name for a step that something else has priced; all senses of both words are looked
at, for a price that is low says that one of them is meant. Words that are derived from one another
count as each other: "lowering" is to "reduction" what "lower" is to "reduce".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Final

from rapidfuzz.distance.OSA import distance as edits

from abstrag.language.words import key, stemmed
from abstrag.lexicon.events import event_key, event_type, names_event, nominalized
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import is_person, roles
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.term import Family

_UP: Final = 4  # steps up to what is broader
_UP_DERIVED: Final = 2  # where a noun is taken for its verb, or a verb for its noun
_LEAST_DEPTH: Final = {Pos.NOUN: 4, Pos.VERB: 0}  # what is broader still says something
_FIRST_SENSES: Final = 4  # what a word means without much ado
_STEM: Final = 5  # letters of a stem that tells what a word is about
_PART, _LEAST = 4, 3  # letters of the two parts of a word that WordNet does not know
_PREFIXES: Final = tuple(
    "post pre sub super micro macro multi inter intra trans over co re bio neuro cardio hyper hypo"
    " cyber auto tele electro photo".split()
)
_SPELLINGS: Final = (
    ("aemia", "emia"),
    ("haem", "hem"),
    ("oe", "e"),
    ("ae", "e"),
    ("our", "or"),
    ("isa", "iza"),
    ("ise", "ize"),
    ("yse", "yze"),
    ("ogue", "og"),
    ("ll", "l"),
    ("tre", "ter"),
)

_NEGATIONS: Final = frozenset("no not none neither nor never without cannot".split())
_SIGNS: Final = {"%": "percent", "$": "dollar", "€": "euro", "£": "pound", "¥": "yen"}
_WORDS: Final = re.compile(r"[\w&-]+")
_AFTER: Final = re.compile(r"\s+of\s+\w+")
_NEXT: Final = re.compile(r" [^\W\d_]+")
_BEFORE, _REACH = 4, 60  # words before the last one of an office's name, and letters
_EVENT_POS: Final = (Pos.VERB, Pos.NOUN)

Lemma = tuple[str, Pos]


@lru_cache(maxsize=1 << 14)
def step_family(asked: str, said: str, *, same: bool = False, aside: bool = False) -> str:
    """Name the family of a step from a word of a text to a word of a query.

    Synonyms, spellings and derived forms are another expression, a broader or narrower word is a
    step of concept, an office for its kind or its organization one of intent. What entails, causes
    or suggests the other is one of event, and so is any verb for another. All else is merely
    related, and so is the same form in another sense; `aside`, in a header or the name of a
    section, it is the context.
    """
    if same:
        return Family.RELATED.value
    a, b = _word(asked), _word(said)
    if opposite(a, b):
        return Family.RELATED.value
    rules = (
        (_expression, Family.EXPRESSION),
        (_office, Family.INTENT),
        (_brings_about, Family.EVENT),
        (_concept, Family.CONCEPT),
        (_suggests, Family.EVENT),
        (_both_verbs, Family.EVENT),
    )
    rest = Family.CONTEXT if aside else Family.RELATED
    return next((family for holds, family in rules if holds(a, b)), rest).value


@lru_cache(maxsize=1 << 14)
def opposite(asked: str, said: str) -> bool:
    """Tell whether two words are opposites: rise and fall, more and less."""
    net = wordnet()
    a, b = key(asked), key(said)
    if _spelled(a) == _spelled(b):
        return False
    bases = {base for base, _ in _bases(b)}
    return any(
        name.casefold() in bases for base, pos in _bases(a) for name in net.antonyms(base, pos)
    )


@lru_cache(maxsize=1 << 14)
def opposite_things(asked: str, said: str) -> bool:
    """Tell whether two words name opposite things, and neither what happens: men and women."""
    net = wordnet()
    a, b = ({w for w, pos in _bases(key(word)) if pos is Pos.NOUN} for word in (asked, said))
    found = {(w, name.casefold()) for w in a for name in net.antonyms(w, Pos.NOUN)}
    return any(
        other in b and not (names_event(word) or names_event(other)) for word, other in found
    )


@lru_cache(maxsize=1 << 14)
def direction(asked: str, said: str) -> str:
    """Say whether the word of the text is the narrower or the broader one; "" for neither."""
    a, b = _word(asked), _word(said)
    wide, narrow = _bases(a), _bases(b)
    if _above(wide, narrow, _UP) or _attribute(a, b) or a in _pieces(b):
        return "narrower"
    if _above(narrow, wide, _UP) or b in _pieces(a):
        return "broader"
    return ""


@lru_cache(maxsize=1 << 14)
def only_somebody(asked: str, said: str) -> bool:
    """Tell whether somebody is asked for, and a thing said that has to do with them.

    "Chemistry" tells of no chemist; "taught" tells of a teacher, and "recipient" of receiving.
    """
    a, b = _singular(_word(asked)), _singular(_word(said))
    thing = bool(wordnet().synsets(b, Pos.NOUN)) and not is_person(b)
    return thing and is_person(a) and not one_meaning(asked, said)


def _expression(a: str, b: str) -> bool:
    if _spelled(a) == _spelled(b) or _synonyms(_bases(a), _bases(b)):
        return True
    if {a, b} <= _NEGATIONS or nominalized(a) in _forms(b) or nominalized(b) in _forms(a):
        return True
    if _next_kind(a, b):
        return False  # a duckling is a kind of duck, whatever the one is derived from
    if set(_derived(a)) & {*_bases(b), *_derived(b)} or set(_derived(b)) & set(_bases(a)):
        return True
    if _one_stem(a, b) or _derived_synonyms(a, b) or _derived_synonyms(b, a):
        return True
    return _similar(a, b)


def _next_kind(a: str, b: str) -> bool:
    """Tell whether one of two nouns names what is next above the other."""
    one, other = ([base for base in _bases(w) if base[1] is Pos.NOUN] for w in (a, b))
    return _above(one, other, 1) or _above(other, one, 1)


def _concept(a: str, b: str) -> bool:
    if _above(_bases(a), _bases(b), _UP) or _above(_bases(b), _bases(a), _UP):
        return True
    if _attribute(a, b) or _compound(a, b):
        return True
    wide, narrow = (*_bases(a), *_doings(a)), (*_bases(b), *_doings(b))
    return _above(wide, narrow, _UP_DERIVED) or _above(narrow, wide, _UP_DERIVED)


@lru_cache(maxsize=1 << 14)
def _doings(word: str) -> tuple[Lemma, ...]:
    """Return the verb of what a noun names, and the nouns for what a verb does."""
    verb, own = nominalized(word), _forms(word)
    nouns = (found for found in _derived(word) if nominalized(found[0]) in own)
    return (*(((verb, Pos.VERB),) if verb else ()), *nouns)


def _office(a: str, b: str) -> bool:
    """An office for the kind of person that holds it, or for the organization it speaks for."""
    known = roles()
    asked, said = known.find(_singular(a)), known.find(_singular_last(b))
    if said is None:
        return False
    if asked is None:
        return said.of is not None and _singular(a) in (said.of, "company", "organization", "firm")
    return asked is said or asked.key in known.general(said.key)


@lru_cache(maxsize=1 << 14)
def names_office(word: str) -> bool:
    """Tell whether a word names a kind of office."""
    return roles().find(_singular(key(word))) is not None


def office_around(text: str, start: int, end: int) -> str:
    """Return the name of an office that a word of a text belongs to, "" where it is none."""
    before = _WORDS.findall(text[max(0, start - _REACH) : start])[-_BEFORE:]
    after = _AFTER.match(text, end)
    known, word = roles(), text[start:end]
    if (held := _NEXT.match(text, end)) and known.find(key(word + held.group())):
        return word + held.group()  # "head coach", at its first word
    for first in range(len(before) + 1):
        name = " ".join((*before[first:], word))
        if after is not None and first == len(before) and known.find(key(name + after.group())):
            return name + after.group()
        if known.find(_singular_last(key(name))) is not None:
            return name
    return ""


def _brings_about(a: str, b: str) -> bool:
    """Tell whether one word entails or causes the other: to kill is to make die."""
    net = wordnet()
    asked = _senses((*_bases(a), *_derived(a)), Pos.VERB)
    told = _senses((*_bases(b), *_derived(b)), Pos.VERB)
    return any(
        others & {*net.entailments(sense), *net.causes(sense)}
        for some, others in ((asked, told), (told, asked))
        for sense in some
    )


def _suggests(a: str, b: str) -> bool:
    """Tell whether the inventory of events reads the one as the other, or as one event."""
    asked = {event_key(base, pos.name) for base, pos in _bases(a) if pos in _EVENT_POS}
    for base, pos in _bases(b) if asked else ():
        told = event_type(event_key(base, pos.name)) if pos in _EVENT_POS else None
        if told is not None and (told.key in asked or asked & set(told.related)):
            return True
    return False


@lru_cache(maxsize=1 << 14)
def linked_events(asked: str, said: str) -> bool:
    """Tell whether more speaks for a step of event than that both words are verbs."""
    a, b = _word(asked), _word(said)
    return _brings_about(a, b) or _suggests(a, b)


def _both_verbs(a: str, b: str) -> bool:
    """Tell whether both words are verbs first of all."""
    return _is_verb(a) and _is_verb(b)


@lru_cache(maxsize=1 << 14)
def _is_verb(word: str) -> bool:
    """Tell whether a word is used as a verb more than as anything else."""
    seen = {pos: _uses(word, pos) for pos in Pos if _senses(_bases(word), pos)}
    return Pos.VERB in seen and seen[Pos.VERB] == max(seen.values())


def _uses(word: str, pos: Pos) -> int:
    """Return how often a word was seen in a part of speech, in WordNet's tagged texts."""
    net = wordnet()
    pairs = [(b, s) for b, own in _bases(word) if own is pos for s in net.synsets(b, pos)]
    return sum(net.count(base, sense) for base, sense in dict.fromkeys(pairs))


def _forms(word: str) -> set[str]:
    return {base for base, _ in _bases(word)}


def _word(text: str) -> str:
    """Return the key of a word, of a sign the word it stands for."""
    found = key(text)
    return _SIGNS.get(found, found)


@lru_cache(maxsize=1 << 14)
def share_part_of_speech(asked: str, said: str) -> bool:
    """Tell whether two words may be of one part of speech; of words nobody knows, yes."""
    a, b = _bases(key(asked)), _bases(key(said))
    return not (a and b) or bool({pos for _, pos in a} & {pos for _, pos in b})


def is_code(word: str) -> bool:
    """Tell whether a word is a code or an acronym, which is met by itself alone."""
    return len(word) > 1 and word.upper() == word and word.isalnum() and not _bases(word.lower())


@lru_cache(maxsize=1 << 14)
def _bases(word: str) -> tuple[Lemma, ...]:
    """Return a word and the base forms it may have, in each part of speech that WordNet knows."""
    net = wordnet()
    found: dict[Lemma, None] = {}
    for pos in Pos:
        for base in (word, *net.base_forms(word, pos)):
            if net.synsets(base, pos):
                found[(base.casefold(), pos)] = None
    return tuple(found)


@lru_cache(maxsize=1 << 14)
def _derived(word: str) -> tuple[Lemma, ...]:
    """Return what is derived from a word or what it derives from, also in a part of speech."""
    net = wordnet()
    found: dict[Lemma, None] = {}
    for base, pos in _bases(word):
        for lemma, other in net.derived(base, pos):
            found[(lemma.casefold(), other)] = None
        if pos is Pos.ADVERB and base.endswith("ly"):
            found.update(dict.fromkeys(_adjectives(base)))
    return tuple(lemma for lemma in found if lemma not in _bases(word))


def _adjectives(adverb: str) -> Iterator[Lemma]:
    """Go through the adjectives that an adverb in -ly may come from."""
    bare = adverb.removesuffix("ly")
    for form in (bare, f"{bare}le", f"{bare.removesuffix('i')}y", bare.removesuffix("al")):
        if wordnet().synsets(form, Pos.ADJECTIVE):
            yield form, Pos.ADJECTIVE


def _synonyms(some: Iterable[Lemma], others: Iterable[Lemma]) -> bool:
    """Tell whether two words share a sense."""
    one, other = tuple(some), tuple(others)
    return any(_senses(one, pos) & _senses(other, pos) for pos in Pos)


@lru_cache(maxsize=1 << 14)
def one_meaning(asked: str, said: str) -> bool:
    """Tell whether two words share a sense that is one of the first of either: collect, gather."""
    net = wordnet()
    a, b = _bases(_word(asked)), _bases(_word(said))
    for pos in Pos:
        shared = _senses(a, pos) & _senses(b, pos)
        for base, own in (*a, *b):
            if own is pos and shared.intersection(net.synsets(base, pos)[:_FIRST_SENSES]):
                return True
    return False


@lru_cache(maxsize=1 << 14)
def one_word(asked: str, said: str) -> bool:
    """Tell whether two words are forms of one, or derived from one another or from a third."""
    a, b = _word(asked), _word(said)
    one, other = {*_bases(a)}, {*_bases(b)}
    if _forms(a) & _forms(b) or nominalized(a) in _forms(b) or nominalized(b) in _forms(a):
        return True
    from_a, from_b = set(_derived(a)), set(_derived(b))
    return bool(from_a & (other | from_b) or from_b & one) or _one_stem(a, b)


@lru_cache(maxsize=1 << 14)
def rarely_synonyms(asked: str, said: str) -> bool:
    """Tell whether nothing but a rare sense of either makes two words synonyms.

    A founder is a father in WordNet, in one of the last senses of that word.
    """
    net = wordnet()
    a, b = _bases(_word(asked)), _bases(_word(said))
    if not _synonyms(a, b) or {w for w, _ in a} & {w for w, _ in b}:
        return False
    for pos in Pos:
        one, other = (
            {s for base, own in w if own is pos for s in net.synsets(base, pos)[:_FIRST_SENSES]}
            for w in (a, b)
        )
        if one & other:
            return False
    return True


def _derived_synonyms(a: str, b: str) -> bool:
    """Tell whether a word first of all means what is derived from another.

    Its other senses do not count: a state's revenue is taxation, a company's is not.
    """
    net = wordnet()
    first = {s for base, pos in _bases(a) for s in net.synsets(base, pos)[:1]}
    return bool(first & _derived_senses(b))


@lru_cache(maxsize=1 << 14)
def _derived_senses(word: str) -> frozenset[int]:
    """Return the senses in which words are derived from a word or it from them."""
    net = wordnet()
    found = {s for base, pos in _bases(word) for s in net.derived_senses(base, pos)}
    for base, pos in _bases(word):
        if pos is Pos.ADVERB and base.endswith("ly"):
            found |= _senses(_adjectives(base), Pos.ADJECTIVE)
    return frozenset(found)


def _similar(a: str, b: str) -> bool:
    """Tell whether one adjective is a near synonym of the other."""
    net = wordnet()
    senses, others = _senses(_bases(a), Pos.ADJECTIVE), _senses(_bases(b), Pos.ADJECTIVE)
    return any(others & set(net.similar(s)) for s in senses)


def _senses(lemmas: Iterable[Lemma], pos: Pos) -> frozenset[int]:
    net = wordnet()
    return frozenset(s for word, own in lemmas if own is pos for s in net.synsets(word, pos))


def _above(wide: Iterable[Lemma], narrow: Iterable[Lemma], steps: int) -> bool:
    """Tell whether a sense of some words is broader than one of others, few steps up."""
    wider, narrower = tuple(wide), tuple(narrow)
    for pos, least in _LEAST_DEPTH.items():
        known = _senses(wider, pos)
        if known and any(known & _broader(s, least, steps) for s in _senses(narrower, pos)):
            return True
    return False


@lru_cache(maxsize=1 << 15)
def _broader(synset: int, least: int, steps: int) -> frozenset[int]:
    net, level, found = wordnet(), [synset], set[int]()
    for _ in range(steps):
        level = [up for one in level for up in net.hypernyms(one) if net.depth(up) >= least]
        found.update(level)
    return frozenset(found)


def _attribute(a: str, b: str) -> bool:
    """Tell whether one thing is of a kind that the other names a mark of: European, of France."""
    net = wordnet()
    for sense in _senses(_bases(b), Pos.NOUN):
        if net.is_instance(sense):
            for up in net.hypernyms(sense):
                if any(name.casefold().startswith(f"{a} ") for name in net.lemmas(up)):
                    return True
    return False


def _one_stem(a: str, b: str) -> bool:
    """Tell whether two words have one stem, but for a slip where WordNet does not know one."""
    one, other = stemmed([_spelled(a), _spelled(b)])
    if _bases(a) and _bases(b):
        short, long = sorted((one, other), key=len)
        return len(short) >= _STEM and len(long) <= len(short) + 1 and long.startswith(short)
    if one == other or (min(len(one), len(other)) >= _STEM and edits(one, other) == 1):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _STEM and long.startswith(short)


def _compound(a: str, b: str) -> bool:
    """Tell whether one word is the other with a part in front: postinfection, self-training."""
    for whole, part in ((a, b), (b, a)):
        pieces = whole.split("-")
        if len(pieces) > 1 and any(stemmed([p]) == stemmed([part]) for p in pieces):
            return not pieces[0].startswith(("non", "un", "anti"))
        if not _bases(whole) and any(_bases(rest) for rest in _rests(whole, part)):
            return True
        for prefix in _PREFIXES:
            rest = whole.removeprefix(prefix).lstrip("-")
            if rest != whole and len(rest) >= _STEM and stemmed([rest]) == stemmed([part]):
                return True
    return False


def _rests(whole: str, part: str) -> list[str]:
    """Return what a word without another at its beginning or end is: "set" of "dataset"."""
    if len(part) < _PART:
        return []
    rests = (whole.removeprefix(part), whole.removesuffix(part))
    return [rest for rest in rests if _LEAST <= len(rest) < len(whole)]


def _pieces(word: str) -> list[str]:
    """Return what a word without what stands in front of it may be."""
    rests = [word.removeprefix(p).lstrip("-") for p in _PREFIXES if word.startswith(p)]
    return [*(word.split("-") if "-" in word else ()), *rests]


def _singular_last(name: str) -> str:
    """Return a name with its last word in the singular."""
    *first, last = name.split() or [""]
    return " ".join((*first, _singular(last)))


def _singular(word: str) -> str:
    found = wordnet().base_forms(word, Pos.NOUN)
    return found[-1] if found else word


@lru_cache(maxsize=1 << 14)
def _spelled(word: str) -> str:
    """Return a word in one of its spellings."""
    for british, american in _SPELLINGS:
        word = word.replace(british, american)
    return word


# How cheap a learned step must be to count, given what else speaks for it.
#
# A price alone is right about four times of five below 0.25 and less than once of two at 0.6.
# Where a lexicon knows the pair as well, more may be paid. A word that grades or counts ("only",
# "more", "million") is near many others of its sort and means none of them: without a lexicon it
# is met by itself alone.

LIMITS: Final[Mapping[str, float]] = {
    Family.EXPRESSION.value: 0.5,
    Family.CONCEPT.value: 0.45,
    Family.INTENT.value: 0.7,
    Family.EVENT.value: 0.5,
    Family.CONTEXT.value: 0.1,
    Family.RELATED.value: 0.25,
}
SYNONYMS: Final = 0.6  # the limit for words that share one of their first senses, the highest
ANOTHER_SENSE: Final = 0.7  # above it what a lexicon has of a pair is of another sense
_UNSUPPORTED: Final = frozenset({Family.CONTEXT.value, Family.RELATED.value})
_GRADING: Final = frozenset(
    "only all any some each every both either most more much many few less least several other"
    " another same such own just even also too very up down out off over about long including"
    " except first second third last next previous million billion thousand hundred dozen zero"
    " one two three four five six seven eight nine ten total average net gross % $ € £ ¥ °".split()
)
_BROADER: Final = 0.25  # the limit where a word is not the narrower one: it may mean much else
_VERBS: Final = 0.35  # the limit where nothing but being verbs speaks for two words
_RARE_SENSE: Final = 0.35  # the limit for words that are synonyms in a rare sense alone
_BESIDE: Final = 0.2  # the limit where the document has the asked word too
_ANOTHER_SORT: Final = 0.2  # the limit where two words share no part of speech


def price_limit(asked: str, said: str, family: str, *, own_word: bool = False) -> float:
    """Return the price up to which a step of a family counts as meeting a word.

    Where the document has the asked word itself, `own_word`, a merely related one is more often
    another thing.
    """
    named = said[:1].isupper() and not asked[:1].isupper()  # "join" is not the club "United"
    if family == Family.EXPRESSION.value and only_somebody(asked, said):
        return 0.0
    if family == Family.EXPRESSION.value and rarely_synonyms(asked, said):
        return _RARE_SENSE
    if family == Family.EXPRESSION.value:
        return SYNONYMS if one_meaning(asked, said) and not named else LIMITS[family]
    if {asked.casefold(), said.casefold()} & _GRADING and not opposite(asked, said):
        return 0.0
    if family == Family.EVENT.value and not linked_events(asked, said):
        return _VERBS
    if family == Family.CONCEPT.value and direction(asked, said) != "narrower":
        return _BROADER
    if family not in _UNSUPPORTED:
        return LIMITS[family]
    if is_code(asked) or is_code(said) or opposite_things(asked, said):
        return 0.0
    limit = min(LIMITS[family], _BESIDE) if own_word else LIMITS[family]
    return limit if share_part_of_speech(asked, said) else min(limit, _ANOTHER_SORT)
