"""The event inventory, its idioms, and the one rule by which words become event keys.

The rule, shared by the index and the query: a word that the inventory lists as a verb or noun of a
type has the type's key ("collaborate", "cooperation" → `collaboration`); any other noun that names
an act has the key of the verb it derives from ("enlistment" → `enlist`); every other word is its
own key. Verbs in -ise and -yse count as their spelling in -ize and -yze. So a query for
collaborations and a text where somebody collaborated meet in one term and nothing is paid.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from abstrag.errors import ResourceMissing
from abstrag.lexicon.inventory import (
    EVENTS,
    IDIOMS,
    TELLINGS,
    entries,
    listed_words,
    read_inventory,
    read_lists,
)
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import ORGANIZATION_UNITS, is_person
from abstrag.lexicon.wordnet import sense_uses, synsets_named, wordnet

# Words that tell the same event though no dictionary has them as synonyms: let in, concede.
#
# `tellings.toml` lists them by walks of life; how a line is read is written at its head.

_NOUN_SENSES: Final = 2  # of a noun that are looked at
_PERSON: Final = "person"
_BELOW: Final = "+"  # after a noun: also what is of that kind
_DOERS: Final = " | "
_SIGNS: Final = (" : ", _DOERS)


@dataclass(frozen=True, slots=True)
class Telling:
    """Verbs that tell one event where it happens to certain things."""

    line: str
    verbs: tuple[str, ...]  # each tells what any other of them does
    wider: tuple[str, ...] = ()  # what all of these tell too, and not the other way round
    of: tuple[str, ...] = ()  # what the event happens to; anything if empty
    doers: bool = False  # without an object what does it counts

    @property
    def key(self) -> str:
        """How the event is called in an index."""
        return (
            f"{self.verbs[0]} ({self.of[0].removesuffix(_BELOW)})"
            if self.of
            else f"{self.verbs[0]} (any)"
        )


@dataclass(frozen=True, slots=True)
class TellingWord:
    """One word or phrase of a telling."""

    telling: Telling
    words: tuple[str, ...]
    wider: bool = False  # it stands for more than the event

    @property
    def name(self) -> str:
        """The word or phrase as it is written."""
        return " ".join(self.words)


def _read(line: str, things: Mapping[str, Sequence[str]]) -> Telling:
    events, sign, nouns = next(
        (parts for sign in _SIGNS if (parts := line.partition(sign))[1]), (line, "", "")
    )
    verbs, wider, of = map(_listed, (*events.partition(" > ")[::2], nouns))
    if len(verbs) + len(wider) < len(("one", "other")):
        raise ResourceMissing(f"the telling {line!r} names no two events")
    try:
        every = (n for noun in of for n in (things[noun[1:]] if noun[0] == "@" else (noun,)))
        return Telling(line, verbs, wider, tuple(every), sign == _DOERS)
    except KeyError as error:
        raise ResourceMissing(f"the telling {line!r} names no list of things: {error}") from error


def _listed(part: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.strip() for one in part.split(",") if one.strip()))


@cache
def _by_first() -> Mapping[str, tuple[TellingWord, ...]]:
    """The words of all tellings by the first of them."""
    keys: set[str] = set()
    found: dict[str, list[TellingWord]] = {}
    tables = read_inventory(TELLINGS)
    for lines in tables["tellings"].values():
        for telling in (_read(line, tables["things"]) for line in lines):
            if telling.key in keys:
                raise ResourceMissing(f"two tellings are called {telling.key!r}")
            keys.add(telling.key)
            for name in (*telling.verbs, *telling.wider):
                words = tuple(name.split())
                word = TellingWord(telling, words, name in telling.wider)
                found.setdefault(words[0], []).append(word)
    return {first: tuple(sorted(w, key=lambda x: -len(x.words))) for first, w in found.items()}


def tellings_from(word: str) -> Sequence[TellingWord]:
    """Return the words of tellings that begin with a word, the longest first."""
    return _by_first().get(word, ())


@lru_cache(maxsize=1 << 15)
def is_one_of(noun: str, things: tuple[str, ...]) -> bool:
    """Tell whether a noun is one of some things, or of a kind of which the list has all."""
    if noun in things or f"{noun}{_BELOW}" in things or (_PERSON in things and is_person(noun)):
        return True
    net, kinds = wordnet(), _kinds(things)
    senses = net.synsets(noun, Pos.NOUN)[:_NOUN_SENSES]
    return any(s in kinds or not kinds.isdisjoint(net.ancestors(s)) for s in senses)


@lru_cache(maxsize=1 << 12)
def _kinds(things: tuple[str, ...]) -> frozenset[int]:
    net = wordnet()
    nouns = [thing.removesuffix(_BELOW) for thing in things if thing.endswith(_BELOW)]
    return frozenset(s for noun in nouns for s in net.synsets(noun, Pos.NOUN)[:1])


# Nominalizations: the verb whose doing a noun names ("evaluation" → "evaluate").

# Acts and happenings, physical processes, mental processes.
_EVENTS: Final = frozenset(("event.n.01", "process.n.06", "process.n.02"))
_THINGS: Final = frozenset(("group.n.01", "physical_entity.n.01"))
_SUFFIXES: Final = tuple("tion sion ment ance ence ancy ency al ing sis ure th age".split())
_COINED: Final = (("ization", "ize"), ("ification", "ify"), ("ylation", "ylate"))
_SHARE: Final = 0.1
_THING_SHARE: Final = 0.25
_JOINED: Final = re.compile(r"-|['’]s?(?=\s|$)")
_WHOSE: Final = "one's"
OWNERS: Final = frozenset("my your his her its our their one's".split())
_LEAST: Final = 3  # words that a verb of WordNet needs to be an idiom; shorter ones have particles
_ANYTHING: Final = "something"
_MOST: Final = 5  # words that may stand for something
_ADVERBS: Final = 2  # that may stand behind the verb of an idiom
_BETWEEN: Final = frozenset("still now already just also all both again always soon quite".split())
_COPULAS: Final = frozenset("become feel get look remain seem stay".split())


@lru_cache(maxsize=65536)
def nominalized(noun: str) -> str | None:
    """Return the verb whose doing a noun names ("evaluation" → "evaluate"), or None.

    The noun must end like one, WordNet must derive it from another word that is a verb, and a tenth
    of its uses must mean events; a quarter, if it first of all means a body or a thing
    ("organization", "building"). All other nouns are events only where the inventory says so.
    """
    if not noun.endswith(_SUFFIXES):
        return None
    net = wordnet()
    if noun.endswith("isation"):
        noun = f"{noun.removesuffix('isation')}ization"
    verbs = [v for v, pos in net.derived(noun, Pos.NOUN) if pos is Pos.VERB and " " not in v]
    verbs = list(dict.fromkeys(map(one_spelling, verbs)))
    if not verbs:
        return _coined(noun)
    if noun in verbs or noun in ORGANIZATION_UNITS:
        return None
    senses = net.synsets(noun, Pos.NOUN)
    least = _THING_SHARE if _below(senses[0], _THINGS) else _SHARE
    uses = sense_uses(noun, senses)
    events = sum(n for n, s in zip(uses, senses, strict=True) if _below(s, _EVENTS))
    if events < least * sum(uses):
        return None
    return min(verbs, key=lambda v: (len(v) - _common(v, noun), v))


def _coined(noun: str) -> str | None:
    """Return the verb of a noun that WordNet links to none but whose ending leaves no doubt."""
    for ending, verb in _COINED:
        if noun.endswith(ending) and len(noun) > len(ending) + 2:
            return noun.removesuffix(ending) + verb
    return None


def _below(synset: int, names: frozenset[str]) -> bool:
    net = wordnet()
    roots = synsets_named(names)
    return synset in roots or not roots.isdisjoint(net.ancestors(synset))


def _common(a: str, b: str) -> int:
    return next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )


def one_spelling(verb: str) -> str:
    """Return the spelling in -ize or -yze of a verb in -ise or -yse, if it has one."""
    if not verb.endswith(("ise", "yse")):
        return verb
    other = f"{verb[:-2]}ze"
    net = wordnet()
    same = set(net.synsets(verb, Pos.VERB)) & set(net.synsets(other, Pos.VERB))
    return other if same else verb


# Verbs that only lend their object a subject and a tense: "held a meeting" is a meeting.
LIGHT_VERBS: Final = listed_words("light_verbs")
# Verbs that are events themselves and have their subject take part in their object's event too:
# who signs or plans a merger merges.
SHARING_VERBS: Final = listed_words("sharing_verbs")


@dataclass(frozen=True, slots=True)
class EventType:
    """One type of the inventory; what the fields mean is written at the head of `events.toml`."""

    key: str
    label: str
    verbs: tuple[str, ...] = ()
    nouns: tuple[str, ...] = ()
    frames: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    related: tuple[str, ...] = ()
    slots: tuple[str, ...] = ("who", "whom")
    reciprocal: bool = False
    of: str = "whom"


class Inventory:
    """All event types, found by key, trigger, frame and artifact."""

    def __init__(self, types: Iterable[EventType]) -> None:
        self.types: dict[str, EventType] = {}
        self.verbs: dict[str, EventType] = {}
        self.nouns: dict[str, EventType] = {}
        self.frames: dict[str, EventType] = {}
        self.artifacts: dict[str, tuple[str, ...]] = {}  # artifact → types it suggests
        self.phrase_heads: set[str] = set()  # last words of nouns and artifacts of several words
        for kind in types:
            self.types[kind.key] = kind
            for table, words in (
                (self.verbs, kind.verbs),
                (self.nouns, kind.nouns),
                (self.frames, kind.frames),
            ):
                for word in words:
                    if word in table:
                        raise ResourceMissing(f"the event inventory lists {word!r} twice")
                    table[word] = kind
            for word in kind.artifacts:
                self.artifacts[word] = (*self.artifacts.get(word, ()), kind.key)
        for phrase in (*self.nouns, *self.artifacts):
            if " " in phrase:
                self.phrase_heads.add(phrase.split()[-1])


def _event_type(key: str, entry: Mapping[str, Any]) -> EventType:
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in entry.items()}
    values = {"key": key, "label": key, **values}
    try:
        return EventType(**values)
    except TypeError as error:
        raise ResourceMissing(f"the event type {key!r} cannot be read: {error}") from error


@cache
def inventory() -> Inventory:
    """Load the inventory once per process."""
    made = Inventory(_event_type(key, e) for key, e in read_inventory(EVENTS).items())
    for kind in made.types.values():
        if unknown := [r for r in kind.related if r not in made.types]:
            raise ResourceMissing(
                f"event type {kind.key!r} is related to {unknown[0]!r}, not listed"
            )
    return made


def event_type(key: str) -> EventType | None:
    """Return the inventory's type of that key, or None for an event outside the inventory."""
    return inventory().types.get(key)


def event_key(lemma: str, pos: str) -> str:
    """Return the event key of a word or phrase: a folded lemma, `pos` as in universal tags.

    A phrase that nobody knows goes by its head: the first word of a verb, the last of a noun.
    """
    return _verb_key(lemma) if pos == "VERB" else _noun_key(lemma)


def named_event(name: str) -> str:
    """Return the key of an event that somebody named by hand: a type, a frame or any of its words.

    A Background rule may say "visit", "visits", "visited" or "hold talks".
    """
    types = inventory()
    if name in types.types:
        return name
    first, _, rest = name.partition(" ")
    verbs = [f"{verb} {rest}".strip() for verb in _bases(first, Pos.VERB)]
    nouns = _bases(name, Pos.NOUN)
    for verb in _bases(first, Pos.VERB):
        for noun in _bases(rest, Pos.NOUN):
            if frame := types.frames.get(f"{verb} {noun}"):
                return frame.key
    for noun in nouns:
        if noun in types.artifacts or names_event(noun):
            return event_key(noun, "NOUN")
    known = [v for v in verbs if v in types.verbs or wordnet().synsets(v, Pos.VERB)]
    return event_key(known[-1], "VERB") if known else name


def _bases(word: str, pos: Pos) -> list[str]:
    """Return the forms a word may be listed under: itself, its base, itself less a plural s."""
    found = (word, wordnet().morphy(word, pos), word.removesuffix("s"))
    return list(dict.fromkeys(form for form in found if form))


@lru_cache(maxsize=65536)
def _verb_key(lemma: str) -> str:
    verb = one_spelling(lemma)
    if found := inventory().verbs.get(verb):
        return found.key
    if " " in verb and not wordnet().synsets(verb, Pos.VERB):
        return _verb_key(verb.split()[0])
    return verb


@lru_cache(maxsize=65536)
def _noun_key(lemma: str) -> str:
    types = inventory()
    if found := types.nouns.get(lemma):
        return found.key
    if lemma in types.artifacts:
        return lemma
    if " " in lemma:
        return _noun_key(lemma.split()[-1])
    verb = nominalized(lemma)
    return _verb_key(verb) if verb else lemma


def names_event(noun: str) -> bool:
    """True when a noun names an event: a trigger of the inventory, or derived from a verb."""
    return noun in inventory().nouns or nominalized(noun) is not None


@dataclass(frozen=True, slots=True)
class _Idiom:
    """An idiom that begins at a verb, and what it says in plain words."""

    words: tuple[str, ...]
    meanings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _PlacedIdiom:
    """An idiom in a text: how many tokens it takes, and what it says in plain words."""

    size: int
    meanings: tuple[str, ...]
    closed: bool  # nothing within it is said of anybody


def idiom_at(lemmas: Sequence[str], lower: Sequence[str], verb: int) -> _PlacedIdiom | None:
    """Return the longest idiom that begins at a verb, or at what may be a form of one.

    An adverb may stand behind the verb: "is still in its infancy".
    """
    beginning = _beginning(lemmas[verb], lower[verb])
    after = verb + 1
    while beginning and after < len(lemmas):
        found = _idiom_from(beginning, lemmas, lower, verb, after)
        if found is not None or after > verb + _ADVERBS or not _is_adverb(lower[after]):
            return found
        after += 1
    return None


def _is_adverb(word: str) -> bool:
    return word in _BETWEEN or (word.endswith("ly") and bool(wordnet().synsets(word, Pos.ADVERB)))


def _idiom_from(
    beginning: Mapping[str, tuple[_Idiom, ...]],
    lemmas: Sequence[str],
    lower: Sequence[str],
    verb: int,
    after: int,
) -> _PlacedIdiom | None:
    """Return the longest idiom that begins at a verb and goes on at a later token."""
    own = [_WHOSE] if lower[after] in OWNERS else []
    # of idioms of one length the one that names its second word comes first, in every process
    seconds = dict.fromkeys((lower[after], lemmas[after], *own, _ANYTHING))
    some = [idiom for second in seconds for idiom in beginning.get(second, ())]
    for idiom in sorted(some, key=lambda each: -len(each.words)):
        end = _end(idiom.words, 1, after, lemmas, lower)
        if end is not None:
            closed = _ANYTHING not in idiom.words
            return _PlacedIdiom(end - verb, idiom.meanings, closed)
    return None


def is_meaning(word: str) -> bool:
    """Tell whether idioms are read as a word."""
    return word in _meanings()


def _end(
    words: Sequence[str], word: int, at: int, lemmas: Sequence[str], lower: Sequence[str]
) -> int | None:
    """Return the token after an idiom's last, None where its words do not go on as they must."""
    if word == len(words):
        return at
    if at >= len(lemmas):
        return None
    if words[word] == _ANYTHING:
        ends = (_end(words, word + 1, at + n, lemmas, lower) for n in range(1, _MOST + 1))
        return next((end for end in ends if end is not None), None)
    fits = _fits(words[word], lemmas[at], lower[at])
    return _end(words, word + 1, at + 1, lemmas, lower) if fits else None


@lru_cache(maxsize=1 << 14)
def _beginning(lemma: str, lower: str) -> Mapping[str, tuple[_Idiom, ...]]:
    """Return the idioms that may begin with a word, by their second one."""
    known = _by_verb()
    forms = wordnet().base_forms(lower, Pos.VERB) if lower.isalpha() else ()
    if lemma in _COPULAS:  # who "feels under the weather" is
        forms = (*forms, "be")
    found: dict[str, tuple[_Idiom, ...]] = {}
    for form in dict.fromkeys((lemma, *forms)):
        for second, idioms in known.get(form, {}).items():
            found[second] = (*found.get(second, ()), *idioms)
    return found


def _fits(word: str, lemma: str, lower: str) -> bool:
    return lower in OWNERS if word == _WHOSE else word in (lower, lemma)


@cache
def _meanings() -> frozenset[str]:
    """The plain words that idioms are read as."""
    return frozenset(m for meanings, _ in read_lists(IDIOMS) for m in meanings.split(", "))


@cache
def _by_verb() -> Mapping[str, Mapping[str, tuple[_Idiom, ...]]]:
    """The idioms by their verb, and by the word after it."""
    meant: dict[str, dict[str, None]] = {}
    for meanings, inside in read_lists(IDIOMS):
        for idiom in entries(inside):
            meant.setdefault(idiom, {}).update(dict.fromkeys(meanings.split(", ")))
    for idiom in wordnet().phrases(Pos.VERB, _LEAST):
        if idiom not in meant and (synonyms := _plain(idiom)):
            meant[idiom] = dict.fromkeys(synonyms)
    grouped: dict[str, dict[str, list[_Idiom]]] = {}
    for idiom, plain in meant.items():
        written = tuple(idiom.split())
        for words in dict.fromkeys((written, _cut(idiom, written))):
            grouped.setdefault(words[0], {}).setdefault(words[1], []).append(
                _Idiom(words, tuple(plain))
            )
    return {
        verb: {second: tuple(idioms) for second, idioms in seconds.items()}
        for verb, seconds in grouped.items()
    }


def _cut(idiom: str, written: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of an idiom as a parser cuts them: go - ahead, lion 's mouth."""
    if idiom.islower() and "-" not in idiom and "'" not in idiom.replace(_WHOSE, ""):
        return written
    kept = (word if word == _WHOSE else _JOINED.sub(r" \g<0>", word) for word in written)
    return tuple(" ".join(kept).replace("-", "- ").lower().split())


def _plain(idiom: str) -> list[str]:
    """Return the single verbs that share the first sense of an idiom, the most usual one first."""
    net = wordnet()
    senses = net.synsets(idiom, Pos.VERB)[:1]
    return [lemma for sense in senses for lemma in net.lemmas(sense) if " " not in lemma][:1]
