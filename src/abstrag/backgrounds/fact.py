"""What any source says: how a thing is called, what kind it is, and the forms it is found by."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from abstrag.model.background import Background

MOST_WORDS: Final = 16  # of a form that is looked for; a longer name is found by its other names
_WORD = re.compile(r"(?:[^\W_]|[+#])+")


def folded(surface: str) -> str:
    """Fold a surface to the form it is looked up by: case, dashes, dots and spaces do not count."""
    text = unicodedata.normalize("NFKC", surface).casefold()
    return " ".join(_WORD.findall(text))


def words(text: str) -> tuple[str, ...]:
    """Return the folded words of a text, in order."""
    return tuple(folded(match.group()) for match in _WORD.finditer(text))


def written_forms(texts: Iterable[str], longest: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    """Go through the stretches of texts that may be names, each with the words as written.

    `longest` tells for a first word how many words a name beginning with it has at most; other
    words begin no name. Of a plural the singular is tried too.
    """
    for text in texts:
        places = [(folded(m.group()), m.start(), m.end()) for m in _WORD.finditer(text)]
        for i, (_, start, _) in enumerate(places):
            first = [w for w in singulars(places[i][0]) if w in longest]
            reach = max((longest[w] for w in first), default=0)
            for last in range(i, min(i + reach, len(places))):
                written = text[start : places[last][2]]
                before = [w for w, _, _ in places[i:last]]
                for end in singulars(places[last][0]):
                    yield " ".join([*before, end]), written


def singulars(word: str) -> tuple[str, ...]:
    """Return a word and what it may be the plural of; too many rather than too few."""
    if len(word) < 4 or not word.endswith("s") or word.endswith("ss"):
        return (word,)
    if word.endswith("ies"):
        return word, f"{word[:-3]}y", word[:-1]
    if word.endswith("es"):
        return word, word[:-1], word[:-2]
    return word, word[:-1]


def agrees(surface: str, written: Iterable[str]) -> bool:
    """Tell whether a name can be meant by words so written: WHO is not who, nor US us."""
    if not (surface.isupper() and surface.isalpha()):
        return True
    return any(text.isupper() or text.removesuffix("s").isupper() for text in written)


NAMED = "name:"  # begins the id of a thing that its source identifies by nothing but its name


@dataclass(frozen=True, slots=True)
class BackgroundName:
    """A thing is called so.

    `thing` is its id, the same in every file that speaks of it. `cost` is what the line itself asks
    for using it; None leaves that to the source.
    """

    thing: str
    surface: str
    preferred: bool = False
    cost: float | None = None
    confidence: float = 1.0
    line: int | None = None


@dataclass(frozen=True, slots=True)
class ClassMembership:
    """A thing is of a class, or whoever holds an office is of a type of person (`role`)."""

    thing: str
    target: str
    role: bool = False
    cost: float | None = None
    confidence: float = 1.0
    line: int | None = None


Fact = BackgroundName | ClassMembership


def named(name: str) -> str:
    """Return the id of a thing known by its name alone."""
    return NAMED + " ".join(name.split())


def scheme(thing: str) -> str:
    """Return whose ids those of a thing are: all of Wikidata's, all of one vocabulary's."""
    if thing.startswith(NAMED):
        return NAMED
    return thing[: max(thing.rfind(mark) for mark in ":/#") + 1]


def read_file(path: Path) -> Iterator[Fact]:
    """Go through the aliases, classes and roles of a Background file."""
    background = Background.load(path)
    for name, others in background.aliases.items():
        yield BackgroundName(named(name), name, preferred=True)
        yield from (BackgroundName(named(name), other) for other in others)
    for role, table in ((False, background.classes), (True, background.roles)):
        for thing, classes in table.items():
            yield BackgroundName(named(thing), thing, preferred=True)
            for class_ in classes:
                yield BackgroundName(named(class_), class_, preferred=True)
                yield ClassMembership(named(thing), named(class_), role)


def rest_of(path: Path) -> Background:
    """Return what a Background file says that is about no name: events, anchors, known terms."""
    return replace(Background.load(path), aliases={}, classes={}, roles={})


def together(rest: Background, other: Background) -> Background:
    """Add what a second file says to the rest of the first; of two anchors the second stands."""
    return replace(
        rest,
        events=tuple(dict.fromkeys((*rest.events, *other.events))),
        anchors={**rest.anchors, **other.anchors},
        known=tuple(dict.fromkeys((*rest.known, *other.known))),
    )
