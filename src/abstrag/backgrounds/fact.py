"""The two things any source says: what a thing is called, and what it is a kind of."""

from __future__ import annotations

from dataclasses import dataclass

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
