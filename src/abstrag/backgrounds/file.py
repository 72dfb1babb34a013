"""A Background file as a source: its names and classes become facts, the rest is carried whole."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from abstrag.backgrounds.fact import BackgroundName, ClassMembership, Fact, named
from abstrag.model.background import Background


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
