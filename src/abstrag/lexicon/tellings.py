"""Words that tell the same event though no dictionary has them as synonyms: let in, concede.

`tellings.toml` lists them by walks of life; how a line is read is written at its head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from abstrag.errors import ResourceMissing
from abstrag.lexicon.inventory import TELLINGS, read_inventory
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import is_person
from abstrag.lexicon.wordnet import wordnet

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
