"""Roles and offices as terms: what they are in general, and whom their holders speak for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from abstrag.config import (
    DELTA_ABS_BASELINE,
    DELTA_ABS_ONE_WAY,
    DELTA_INTENT_CONTEXT,
    DELTA_INTENT_OFFLINE,
    OMEGA,
)
from abstrag.indexing.abstraction.ledger import TermCollector
from abstrag.indexing.abstraction.offices import Office, RoleMention, office_of, role_at
from abstrag.indexing.abstraction.passage import ParsedPassage
from abstrag.language.keys import key, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import OfficeRole, Roles, roles
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind

_OPERATOR: Final = "abstract_concepts"
_SURE: Final = 0.9  # that an office phrase was read right
_GUESSED: Final = 0.5  # that the organization is of the sort such offices are usually held in
_INVENTORY: Final = 0.8


class RoleReader:
    """Collects the roles and offices of a document; `known` are the Background's role types."""

    def __init__(
        self, ledger: TermCollector, known: tuple[tuple[str, tuple[str, ...]], ...], background: str
    ) -> None:
        self.ledger = ledger
        self.known = known
        self.background = background
        self.roles: Roles = roles().with_names(key(name) for name, _ in known if " of " not in name)
        self.found: dict[str, OfficeRole] = {}
        self.offices: dict[str, tuple[Office, Licence]] = {}

    def read(self, passage: ParsedPassage) -> None:
        """Note the roles and offices of a passage."""
        for token in range(passage.first, passage.last):
            at = role_at(passage, token, self.roles)
            if at is not None:
                self._note(passage, at)

    def _note(self, passage: ParsedPassage, at: RoleMention) -> None:
        term = term_id(TermKind.ROLE, at.role.key)
        self.found[term] = at.role
        self.ledger.term(term, TermKind.ROLE, passage.words.label(at.first, at.head))
        self._mention(passage, term, at.first, at.last)
        office = office_of(passage, at)
        if office is not None:
            quote = passage.quote(office.first, office.last)
            span = passage.span(office.first, office.last)
            held = term_id(TermKind.ROLE, office.key)
            self.ledger.term(held, TermKind.ROLE, quote)
            self._mention(passage, held, office.first, office.last)
            self.offices.setdefault(held, (office, Licence(LicenceKind.TEXT, quote, span)))

    def _mention(self, passage: ParsedPassage, term: str, first: int, last: int) -> None:
        self.ledger.mention(passage.mention(term, first, last), passage.quote(first, last))

    def terms_at(self, passage: ParsedPassage, noun: int) -> tuple[str, ...]:
        """Return the role and the office that a noun names."""
        at = role_at(passage, noun, self.roles)
        if at is None:
            return ()
        office = office_of(passage, at)
        keys = (at.role.key, office.key) if office else (at.role.key,)
        return tuple(term_id(TermKind.ROLE, k) for k in keys)

    def finish(self, classes: Mapping[str, Mapping[str, str]]) -> None:
        """Add the edges, now that the classes of all organizations are known."""
        for held, (office, licence) in self.offices.items():
            self._add_office(held, office, licence, classes.get(office.organization, {}))
        for term, role in self.found.items():
            wider = (*self.roles.general(role.key), *role.types)
            for general in dict.fromkeys(g for t in wider for g in (t, *self.roles.general(t))):
                if general == role.key:
                    continue
                target = term_id(TermKind.ROLE, general)
                self.ledger.term(target, TermKind.ROLE, general)
                reference = f"role inventory: {role.key} -> {general}"
                distance = role_distance(role.key, general)
                licence = Licence(LicenceKind.LEXICON, reference)
                self.ledger.edge(_edge(term, target, distance, licence, _INVENTORY))
        self._add_background()

    def _add_office(
        self, held: str, office: Office, licence: Licence, classes: Mapping[str, str]
    ) -> None:
        role = office.at.role
        own = term_id(TermKind.ROLE, role.key)
        self.ledger.edge(_edge(held, own, 0.0, licence, _SURE, free=True))
        for class_, label in classes.items():
            self._speaks_for(held, class_, label, DELTA_INTENT_OFFLINE, licence, _SURE)
        if role.of is not None and role.of not in classes:
            far = DELTA_INTENT_OFFLINE + DELTA_INTENT_CONTEXT
            self._speaks_for(held, role.of, role.of, far, licence, _GUESSED)

    def _speaks_for(
        self, held: str, class_: str, label: str, distance: float, licence: Licence, sure: float
    ) -> None:
        target = term_id(TermKind.ROLE, f"{class_} representative")
        written = label if key(label) == class_ else class_  # a Background may use the plural
        self.ledger.term(target, TermKind.ROLE, f"{written} representative")
        self.ledger.edge(_edge(held, target, distance, licence, sure, Family.INTENT))

    def _add_background(self) -> None:
        for name, types in self.known:
            source = self._named(name)
            if source not in self.ledger:
                continue
            licence = Licence(LicenceKind.BACKGROUND, f"{self.background}: roles.{name}")
            for general in types:
                target = self._named(general)
                self.ledger.term(target, TermKind.ROLE, general)
                distance = DELTA_ABS_BASELINE + DELTA_ABS_ONE_WAY
                self.ledger.edge(_edge(source, target, distance, licence, 1.0, free=True))

    def _named(self, name: str) -> str:
        role = self.roles.find(key(name))
        return term_id(TermKind.ROLE, role.key if role else key(name))


def _edge(
    source: str,
    target: str,
    distance: float,
    licence: Licence,
    confidence: float,
    family: Family = Family.CONCEPT,
    *,
    free: bool = False,
) -> Edge:
    return Edge(
        source=source,
        target=target,
        relation=Relation.IMPLIES,
        family=family,
        operator=_OPERATOR,
        weight=OMEGA[family],
        distance=distance,
        truth_preserving=free,
        confidence=confidence,
        licence=licence,
    )


@lru_cache(maxsize=4096)
def role_distance(role: str, general: str) -> float:
    """Return how far a role is from a more general one: by WordNet where it knows both people."""
    pairs = [(a, b) for a in _persons(role) for b in _persons(general)]
    far = 1 - max(wordnet().wup(a, b) for a, b in pairs) if pairs else DELTA_ABS_BASELINE
    return round(far + DELTA_ABS_ONE_WAY, 4)


@lru_cache(maxsize=4096)
def _persons(key_: str) -> tuple[int, ...]:
    """Return the senses of a role that are people, by the first of its names that has any."""
    net, entry = wordnet(), roles().find(key_)
    person = net.synset("person.n.01")
    for name in (key_, *(entry.names if entry else ())):
        found = [s for s in net.synsets(name, Pos.NOUN) if person in net.ancestors(s)]
        if found:
            return tuple(found)
    return ()
