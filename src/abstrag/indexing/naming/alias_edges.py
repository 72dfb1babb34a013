"""Alias edges: free where names are known to be one, paid for where it is only a guess."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Final

from abstrag.config import DELTA_EXPR_ALIAS, OMEGA
from abstrag.indexing.naming.alias import AliasEvidence, AliasReason
from abstrag.indexing.naming.definitions import Definition
from abstrag.indexing.naming.labels import Canonical
from abstrag.indexing.naming.roster import Roster
from abstrag.indexing.naming.sightings import Sighting
from abstrag.indexing.operator import IndexDraft
from abstrag.language.spelling import distance, plain
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind

OPERATOR: Final = "normalize_entities"
_SURE: Final = MappingProxyType(
    {
        AliasReason.BACKGROUND: 1.0,
        AliasReason.DEFINED: 0.98,
        AliasReason.SPELLING: 0.95,
        AliasReason.LEGAL_FORM: 0.95,
        AliasReason.PERSON: 0.9,
    }
)
_GUESS: Final = 0.5
_ALIKE: Final = 0.12  # edit distance up to which two names may be one misspelled
_TELLING: Final = 6  # letters a name must have for that
_FEW: Final = 3  # people one of whom a surname may mean; of more it says nothing
_BLOCK: Final = 3  # letters two names must share to be compared at all
_DIGITS = re.compile(r"\d+|[+#*]|\b\w{1,2}\b")
_CAPITALS = re.compile(r"^[A-Z]{3,6}$")  # two letters are the initials of too much
_SMALL: Final = frozenset("of the and for de on in a &".split())


def equivalence(
    alias: str, canonical: Canonical, surface: str, confidence: float, licence: Licence
) -> Edge:
    """Make the free edge from an alias to what it is an alias of."""
    return Edge(
        source=alias,
        target=canonical.id,
        relation=Relation.EQUIVALENT,
        family=Family.EXPRESSION,
        operator=OPERATOR,
        weight=OMEGA["expression"],
        distance=distance(surface, canonical.label),
        truth_preserving=True,
        confidence=confidence,
        licence=licence,
    )


@dataclass(frozen=True, slots=True)
class Licences:
    """Where a document or its Background says that two names are one."""

    draft: IndexDraft
    roster: Roster
    defined: Sequence[Definition]
    first: Mapping[str, Sighting]  # name id → where it stands first
    background: str

    def of(self, evidence: AliasEvidence) -> Licence | None:
        """Return what justifies a step; None when the text has neither name."""
        if evidence.why is AliasReason.BACKGROUND:
            given = self.roster.names[evidence.name].given
            return Licence(LicenceKind.BACKGROUND, f"{self.background}: aliases.{given}")
        if evidence.definition is not None:
            d = self.defined[evidence.definition]
            return self.at(d.segment, d.start, d.end)
        ends = (evidence.alias, evidence.name)
        if evidence.why is AliasReason.PERSON:
            ends = (evidence.name, evidence.alias)  # it is the full name that says who Smith is
        place = next((self.first[one] for one in ends if one in self.first), None)
        return self.at(place.segment, place.start, place.end) if place else None

    def at(self, segment: int, start: int, end: int) -> Licence:
        """Quote the words of a segment."""
        owner = self.draft.segments[segment]
        span = owner.alignment.locate(start, end)
        return Licence(LicenceKind.TEXT, owner.text[start:end], span)


def alias_edges(licences: Licences, canonical: Mapping[str, Canonical]) -> Iterator[Edge]:
    """Go through the edges from each name to its group's canonical term."""
    roster = licences.roster
    for one in sorted(roster.names):
        target = canonical[one]
        evidence = roster.evidence.get(one)
        if one == target.id:
            continue
        if evidence is None:  # the label is this very name without its dress
            evidence = AliasEvidence(AliasReason.LEGAL_FORM, one, one)
        licence = licences.of(evidence)
        if licence is not None:
            surface = roster.names[one].surface
            yield equivalence(one, target, surface, _SURE[evidence.why], licence)


def guessed_edges(licences: Licences, canonical: Mapping[str, Canonical]) -> Iterator[Edge]:
    """Go through pairs that may be one: open surnames, near spellings, undefined initials."""
    roster, first = licences.roster, licences.first
    pairs = {
        (one, other)
        for one, others in roster.open.items()
        if len(others) <= _FEW
        for other in others
    }
    entities = sorted(
        {canonical[one] for one in first if roster.names[one].kind is TermKind.ENTITY},
        key=lambda c: c.id,
    )
    guesses = {(canonical[a], canonical[b]) for a, b in pairs}
    guesses |= {*_alike(entities), *_initialled(entities)}
    places = {canonical[one].id: place for one, place in sorted(first.items(), reverse=True)}
    for a, b in sorted(guesses, key=lambda pair: (pair[0].id, pair[1].id)):
        if a == b or a.id not in places or b.id not in places:
            continue
        for source, target in ((a, b), (b, a)):
            place = places[source.id]
            yield Edge(
                source=source.id,
                target=target.id,
                relation=Relation.IMPLIES,
                family=Family.EXPRESSION,
                operator=OPERATOR,
                weight=OMEGA["expression"],
                distance=round(distance(source.label, target.label) + DELTA_EXPR_ALIAS, 4),
                truth_preserving=False,
                confidence=_GUESS,
                licence=licences.at(place.segment, place.start, place.end),
            )


def _alike(entities: Sequence[Canonical]) -> Iterator[tuple[Canonical, Canonical]]:
    """Pair names that differ by a slip of the pen; digits and single letters never are one."""
    blocks: dict[tuple[str, tuple[str, ...]], list[tuple[str, Canonical]]] = defaultdict(list)
    for entity in entities:
        text = plain(entity.label).casefold()
        if len(text) >= _TELLING:
            blocks[text[:_BLOCK], tuple(_DIGITS.findall(text))].append((text, entity))
    for block in blocks.values():
        for (one, a), (other, b) in combinations(block, 2):
            longest = max(len(one), len(other))
            if abs(len(one) - len(other)) <= _ALIKE * longest and distance(one, other) <= _ALIKE:
                yield a, b


def _initialled(entities: Sequence[Canonical]) -> Iterator[tuple[Canonical, Canonical]]:
    """Pair capitals with the names whose initials they are, though no text says so."""
    by_initials: dict[str, list[Canonical]] = defaultdict(list)
    for entity in entities:
        words = [w for w in entity.label.split() if w.casefold() not in _SMALL]
        if len(words) > 1:
            by_initials["".join(w[0] for w in words).upper()].append(entity)
    for entity in entities:
        letters = entity.label.replace(".", "")
        if _CAPITALS.match(letters) and len(by_initials[letters]) == 1:
            yield entity, by_initials[letters][0]
