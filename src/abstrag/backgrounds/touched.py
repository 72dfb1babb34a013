"""The part of the sources that a document touches: premises as a Background, the rest suggested.

Only what is stated, and stated of one thing, is a premise. A name that several things bear stays
open: each of them is a candidate and pays −ln of its share, as any other uncertain reading does.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import heappop, heappush
from math import log
from typing import Final

from abstrag.config import DELTA_ABS_ONE_WAY, OMEGA, TAU_MAX
from abstrag.model.background import Background

LEVELS: Final = 4  # steps up a hierarchy that are followed
MOST_NAMES: Final = 40  # of one thing; the nearest, for some concepts have hundreds
MOST_CLASSES: Final = 60  # of one thing; the nearest
MOST_CLASS_NAMES: Final = 8  # of one class; the nearest


@dataclass(frozen=True, slots=True)
class NameFact:
    """A name of a thing; a distance below 0 says that it is stated."""

    form: str
    thing: int
    surface: str
    preferred: bool
    distance: float
    confidence: float
    origin: str
    scheme: str

    @property
    def stated(self) -> bool:
        """True when the user states it."""
        return self.distance < 0


@dataclass(frozen=True, slots=True)
class Weight:
    """How much confidence all things of one scheme have together that are called so."""

    form: str
    scheme: str
    stated: bool
    confidence: float


@dataclass(frozen=True, slots=True)
class ClassFact:
    """A thing and a class it is in, or an office and a type of person."""

    thing: int
    target: int
    role: bool
    distance: float
    confidence: float
    origin: str


@dataclass(frozen=True, slots=True)
class BackgroundPart:
    """What was looked up: names the document writes, all names of the things, links upward."""

    hits: Sequence[NameFact]
    names: Sequence[NameFact]
    kinds: Sequence[ClassFact]
    weights: Sequence[Weight]


class SuggestionKind(StrEnum):
    """What a suggestion says of two surfaces."""

    ALIAS = "="
    CLASS = "is a"
    ROLE = "is the office of a"


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a document calls by a form may also be called, or be a kind of, `target`."""

    form: str
    says: SuggestionKind
    target: str
    distance: float
    confidence: float
    reference: str


@dataclass(frozen=True, slots=True)
class TouchedFacts:
    """What sources say about the things of a document.

    `origins` tells where the entries of the Background stand: by table and key as its licences
    have them, and the form of the alias or class.
    """

    background: Background
    suggestions: tuple[Suggestion, ...]
    origins: Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class _Way:
    """The cheapest way up from a thing to a class."""

    target: int
    role: bool
    stated: bool
    distance: float
    confidence: float
    origin: str


def touched(part: BackgroundPart, name: str) -> TouchedFacts:
    """Sort what was looked up into premises and suggestions."""
    sorter = _Sorter(part, name)
    for hit in part.hits:
        sorter.take(hit)
    return sorter.result()


class _Sorter:
    def __init__(self, part: BackgroundPart, name: str) -> None:
        self.name = name
        self.weights: dict[str, list[Weight]] = defaultdict(list)
        for weight in part.weights:
            self.weights[weight.form].append(weight)
        self.names: dict[int, list[NameFact]] = defaultdict(list)
        for one in part.names:
            self.names[one.thing].append(one)
        for found in self.names.values():
            found.sort(key=lambda n: (not n.preferred, n.distance, len(n.form), n.form))
        self.links: dict[int, list[ClassFact]] = defaultdict(list)
        for kind in part.kinds:
            self.links[kind.thing].append(kind)
        self.ways: dict[int, list[_Way]] = {}
        self.tables: dict[str, dict[str, list[str]]] = {
            table: defaultdict(list) for table in ("aliases", "classes", "roles")
        }
        self.origins: dict[tuple[str, str], str] = {}
        self.suggestions: dict[Suggestion, None] = {}

    def take(self, hit: NameFact) -> None:
        """Sort everything that is said about one thing under one of its names."""
        names = _nearest(self.names[hit.thing], MOST_NAMES)
        premises = [n for n in names if n.stated and self._share(n) == 1.0]
        sure = hit in premises
        for other in names:
            if other.form != hit.form and not (sure and other in premises):
                far = max(hit.distance, other.distance, 0.0)
                far += _surprisal(self._share(hit)) + _surprisal(self._share(other))
                stands = other.origin if hit.preferred else hit.origin
                self._suggest(hit, SuggestionKind.ALIAS, other, far, other.confidence, stands)
        if sure and len(premises) > 1:
            self._state("aliases", premises)
        if hit.thing not in self.ways:
            self.ways[hit.thing] = self._up(hit.thing)
        for way in self.ways[hit.thing]:
            self._climb(hit, way, sure=sure)

    def _climb(self, hit: NameFact, way: _Way, *, sure: bool) -> None:
        for other in _nearest(self.names[way.target], MOST_CLASS_NAMES):
            if sure and way.stated and other.stated:
                table = "roles" if way.role else "classes"
                entry = self.tables[table][hit.surface]
                if other.surface not in entry:
                    entry.append(other.surface)
                self.origins.setdefault((f"{table}.{hit.surface}", other.form), way.origin)
                continue
            extra = 0.0 if other.preferred else max(other.distance, 0.0)
            far = DELTA_ABS_ONE_WAY + way.distance + extra + _surprisal(self._share(hit))
            says = SuggestionKind.ROLE if way.role else SuggestionKind.CLASS
            self._suggest(hit, says, other, far, way.confidence, way.origin)

    def _state(self, table: str, premises: Sequence[NameFact]) -> None:
        main, *others = premises
        self.tables[table][main.surface] = [other.surface for other in others]
        for other in others:
            self.origins[f"{table}.{main.surface}", other.form] = other.origin

    def _suggest(
        self,
        hit: NameFact,
        says: SuggestionKind,
        other: NameFact,
        far: float,
        sure: float,
        origin: str,
    ) -> None:
        weight = OMEGA["expression" if says is SuggestionKind.ALIAS else "concept"]
        if weight + far > TAU_MAX or other.form == hit.form:
            return
        confidence = round(min(hit.confidence, sure) * self._share(hit), 4)
        reference = f"{origin}: {hit.surface} {says.value} {other.surface}"
        made = Suggestion(hit.form, says, other.surface, round(far, 4), confidence, reference)
        self.suggestions[made] = None

    def _share(self, name: NameFact) -> float:
        """Return how much of what bears a name is this thing; exactly 1 when nothing else does.

        Its rivals are the things of its own scheme, and for what is stated all else that is. That
        two schemes have a thing of one name says nothing: it may well be the same thing.
        """
        rivals = [
            weight.confidence
            for weight in self.weights[name.form]
            if weight.scheme == name.scheme or (name.stated and weight.stated)
        ]
        return min(1.0, name.confidence / sum(rivals))

    def _up(self, thing: int) -> list[_Way]:
        """Return the cheapest way to every class within reach, what is stated first."""
        best: dict[int, _Way] = {}
        heap: list[tuple[bool, float, int, int, _Way]] = []
        start = _Way(thing, False, True, 0.0, 1.0, "")
        heappush(heap, (False, 0.0, 0, thing, start))
        while heap and len(best) <= MOST_CLASSES:
            _, _, level, at, way = heappop(heap)
            if at in best:
                continue
            best[at] = way
            for kind in self.links[at] if level < LEVELS else ():
                if kind.target not in best:
                    one = _Way(
                        kind.target,
                        way.role or kind.role,
                        way.stated and kind.distance < 0,
                        way.distance + max(kind.distance, 0.0),
                        min(way.confidence, kind.confidence),
                        way.origin or kind.origin,
                    )
                    entry = (not one.stated, one.distance, level + 1, kind.target, one)
                    heappush(heap, entry)
        return [way for target, way in best.items() if target != thing]

    def result(self) -> TouchedFacts:
        tables = {
            table: {key: tuple(entries[key]) for key in sorted(entries)}
            for table, entries in self.tables.items()
        }
        suggestions = sorted(
            self.suggestions, key=lambda s: (s.form, s.says, s.target, s.distance, s.reference)
        )
        background = Background(
            tables["aliases"], tables["classes"], tables["roles"], name=self.name
        )
        return TouchedFacts(background, tuple(suggestions), dict(sorted(self.origins.items())))


def _nearest(names: Sequence[NameFact], most: int) -> list[NameFact]:
    """Return all names that are stated, and the nearest of the others."""
    suggested = [name for name in names if not name.stated][:most]
    return [name for name in names if name.stated or name in suggested]


def _surprisal(share: float) -> float:
    return -log(share) if share < 1.0 else 0.0
