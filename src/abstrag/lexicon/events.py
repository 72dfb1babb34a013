"""The event inventory, and the one rule by which words become event keys.

The rule, shared by the index and the query: a word that the inventory lists as a verb or noun of a
type has the type's key ("collaborate", "cooperation" → `collaboration`); any other noun that names
an act has the key of the verb it derives from ("enlistment" → `enlist`); every other word is its
own key. Verbs in -ise and -yse count as their spelling in -ize and -yze. So a query for
collaborations and a text where somebody collaborated meet in one term and nothing is paid.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any, Final

from abstrag.errors import ResourceMissing
from abstrag.lexicon.inventory import EVENTS, read_inventory
from abstrag.lexicon.nominalization import nominalized, one_spelling
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet

# Verbs that only lend their object a subject and a tense: "held a meeting" is a meeting.
LIGHT_VERBS: Final = frozenset(
    "hold have make take give do conduct perform undertake pay reach strike enter run "
    "complete continue begin start".split()
)
# Verbs that are events themselves and have their subject take part in their object's event too:
# who signs or plans a merger merges.
SHARING_VERBS: Final = frozenset(
    "sign ink seal close finalize plan pursue seek announce cancel abandon terminate form join "
    "renew extend launch file initiate propose".split()
)


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
