"""Roles and offices as terms: what they are in general, and whom their holders speak for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from abstrag.config import (
    DELTA_ABS_BASELINE,
    DELTA_ABS_ONE_WAY,
    DELTA_INTENT_CONTEXT,
    DELTA_INTENT_OFFLINE,
    OMEGA,
)
from abstrag.indexing.abstraction.nominals import TermCollector
from abstrag.indexing.abstraction.passage import NameMention, ParsedPassage
from abstrag.language.words import NOUNS, folded, key, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import (
    OFFICIAL,
    ORGANIZATION_UNITS,
    OfficeRole,
    Roles,
    is_institution,
    is_person,
    may_be_employed,
    roles,
)
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind

_BODIES: Final = frozenset({"ORG", "GPE"})
_OF: Final = frozenset({"of", "at", "for"})
_OPERATOR: Final = "abstract_concepts"
_SURE: Final = 0.9  # that an office phrase was read right
_GUESSED: Final = 0.5  # that the organization is of the sort such offices are usually held in
_INVENTORY: Final = 0.8


@dataclass(frozen=True, slots=True)
class _RoleMention:
    """A role named at some tokens; `head` is the noun the rest of the sentence hangs from."""

    role: OfficeRole
    first: int
    head: int
    last: int  # the token after the last


@dataclass(frozen=True, slots=True)
class Office:
    """A role held in an organization that the text names: the whole phrase, and the name's term."""

    at: _RoleMention
    organization: str
    key: str
    first: int
    last: int


def role_at(passage: ParsedPassage, token: int, roles: Roles) -> _RoleMention | None:
    """Return the role that a noun names, by the longest name that fits."""
    words = passage.words
    if words.pos[token] not in NOUNS:
        return None
    if roles.is_head(words.key[token]):
        if token + 2 < passage.last and words.lower[token + 1] == "of":
            of = token + 2  # "secretary of state", "clerk of the court"
            of += of + 1 < passage.last and words.lower[of] == "the"
            if role := roles.find(f"{words.key[token]} {words.phrase_key(token + 1, of)}"):
                return _RoleMention(role, token, token, of + 1)
        for first in range(max(passage.first, token - 4), token + 1):
            if role := roles.find(words.phrase_key(first, token)):
                return _RoleMention(role, first, token, token + 1)
    return _by_its_place(passage, token)


def _by_its_place(passage: ParsedPassage, token: int) -> _RoleMention | None:
    """Read "the reeve of Upper Vell, Anselm Kroll,": a noun in the place of an office.

    It must not be said of anything ("is the brand of Acme, Ann Lee says"), stand in the singular
    with an article or an owner, and be followed by "of" a body or place, if by anything, and then
    by a person's name. A word for people must be one of an institution's: "the court's taster".
    """
    words = passage.words
    first = next((c for c in words.children[token] if words.dep[c] in ("det", "poss")), None)
    if first is None or words.tag[token] != "NN" or words.dep[token] == "attr":
        return None
    owned = words.dep[first] == "poss"
    if not owned and words.lower[first] != "the":
        return None
    after = token + 1
    owners = [c for c in words.children[token] if words.dep[c] in ("poss", "compound", "nmod")]
    if after < passage.last and words.lower[after] in _OF:
        place = words.child(after, "pobj")
        if place is None or (passage.name(place) is None and not is_institution(words.key[place])):
            return None
        owners.append(place)
        name = passage.name(place)
        after = place + 1 if name is None else name.last
        owned = True
    institution = any(is_institution(words.key[owner]) for owner in owners)
    noun = words.key[token]
    if not ((owned or institution) and _person_after(passage, after)):
        return None
    if not is_person(noun):
        role = OfficeRole(noun, types=(OFFICIAL, "leader"), of="organization")
    elif institution and may_be_employed(noun):
        role = OfficeRole(noun, types=("employee",), of="organization")
    else:
        return None
    return _RoleMention(role, token, token, token + 1)


def _person_after(passage: ParsedPassage, comma: int) -> bool:
    """Tell whether a comma stands at a place, and a person's name behind it."""
    words, name = passage.words, comma + 1
    if name >= passage.last or words.text[comma] != ",":
        return False
    if words.kind[name] == "PERSON":
        return True
    return name + 1 < passage.last and all(
        words.pos[part] == "PROPN" and words.text[part].istitle() for part in (name, name + 1)
    )


def office_of(passage: ParsedPassage, at: _RoleMention) -> Office | None:
    """Return the office that a role is, when it is one and the text says in which organization."""
    return None if at.role.of is None else _after(passage, at) or _before(passage, at)


def _after(passage: ParsedPassage, at: _RoleMention) -> Office | None:
    """Find "ROLE of ORG", "ROLE of ORG's division", "ROLE of marketing at ORG"."""
    for place, direct in _places(passage, at):
        own = passage.name(place)
        name = own or owner_of_unit(passage, place)
        if name is None:
            continue
        last = max(place + 1, name.last)
        if direct and own is not None:
            key = f"{at.role.key} of {_key_of(name)}"
        else:
            key = f"{at.role.key} {folded(passage.quote(at.last, last))}"
        return Office(at, name.term, key, at.first, last)
    return None


def _places(passage: ParsedPassage, at: _RoleMention) -> list[tuple[int, bool]]:
    """Return the nouns that prepositions after a role lead to, and whether from the role itself."""
    words = passage.words
    found: list[tuple[int, bool]] = []
    holders = [at.head]
    for holder in holders:
        for prep in words.children[holder]:
            if words.dep[prep] == "prep" and prep >= at.last and words.lower[prep] in _OF:
                place = words.child(prep, "pobj")
                if place is not None and words.pos[place] in NOUNS:
                    found.append((place, holder == at.head))
                    if holder == at.head and passage.name(place) is None:
                        holders.append(place)
    return found


def owner_of_unit(passage: ParsedPassage, token: int) -> NameMention | None:
    """Return the name of the organization that a division or team is a part of."""
    words = passage.words
    if words.key[token] not in ORGANIZATION_UNITS:
        return None
    for child in words.children[token]:
        owner: int | None = None
        if words.dep[child] in ("poss", "compound", "nmod"):
            owner = child
        elif words.dep[child] == "prep" and words.lower[child] in _OF:
            place = words.child(child, "pobj")  # a branch of TSMC, but not a branch of AI
            owner = place if place is not None and words.kind[place] in _BODIES else None
        if owner is not None and (name := passage.name(owner)):
            return name
    return None


def _before(passage: ParsedPassage, at: _RoleMention) -> Office | None:
    """Find "ORG's ROLE" and "ORG ROLE"."""
    words = passage.words
    token = at.first - 1
    while token >= passage.first and words.pos[token] == "ADJ" and token not in passage.names:
        token -= 1  # "Anthropic's new CTO"
    owned = token > passage.first and words.tag[token] == "POS"
    if owned:
        token -= 1
    if token < passage.first or not (owned or token in passage.names):
        return None  # "Senior Director": without 's only an entity is sure to be an owner
    name = passage.name(token)
    inside = range(at.first, at.head + 1)
    if name is None or not {words.head[token], words.head[words.head[token]]} & {*inside}:
        return None
    return Office(at, name.term, f"{at.role.key} of {_key_of(name)}", name.first, at.last)


def _key_of(name: NameMention) -> str:
    return name.term.partition(":")[2]


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

    def _note(self, passage: ParsedPassage, at: _RoleMention) -> None:
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
