"""Offices and roles: their canonical names, what they are in general, and whom they speak for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from abstrag.errors import ResourceMissing
from abstrag.lexicon.inventory import ROLES, listed_words, read_inventory, table
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import synsets_named, wordnet

ORGANIZATION_UNITS: Final = listed_words("organization_units")
OFFICIAL: Final = "official"
_HEADS: Final = listed_words("heads_of_office")
_MEDICINE: Final = listed_words("medicine")
_RANKS: Final = listed_words("ranks_of_office")
_OFFICES: Final = listed_words("offices")
_PROFESSIONS: Final = listed_words("professions")
_NO_PART: Final = listed_words("no_part_of_office")
_VAGUE_PEOPLE: Final = listed_words("vague_people")
_ENDINGS: Final = {word: tuple(types) for word, types in table("office_endings").items()}
_LEADING: Final = listed_words("leading_offices")
_FREE_PEOPLE: Final = listed_words("people_without_office")
_HIRED: Final = listed_words("occupations")
_BODIES: Final = listed_words("bodies_with_offices")
_NOT_EMPLOYED: Final = listed_words("people_of_no_employer")
_ADMINISTRATIONS: Final = listed_words("administrations")
_LEAST_PERSON: Final = 4  # how deep in WordNet a kind of person still says something
_PERSON_SENSES: Final = 3
_FIRST_SENSES: Final = 2


@dataclass(frozen=True, slots=True)
class OfficeRole:
    """One role: `of` is the sort of organization it speaks for, None when it speaks for none."""

    key: str
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  # the more general roles, nearest first
    of: str | None = None


class Roles:
    """All roles, found by any of their names; names are keys: folded, singular, single spaces."""

    def __init__(self, entries: Iterable[OfficeRole]) -> None:
        self.by_key: dict[str, OfficeRole] = {}
        self.by_name: dict[str, OfficeRole] = {}
        self.heads: set[str] = set()  # every word that a name ends in, or that "of" follows
        for role in entries:
            self.by_key[role.key] = role
            for name in (role.key, *role.names):
                if name in self.by_name:
                    raise ResourceMissing(f"the role inventory names {name!r} twice")
                self.by_name[name] = role
                self.heads.add(name.partition(" of ")[0].split()[-1])

    def find(self, name: str) -> OfficeRole | None:
        """Return the role of that name, written as a key; also one that only its shape tells.

        "chief nursing officer" is an executive, "head coach" a leader, "head of security" a
        manager too, and "deputy minister" has to do with a minister, whether or not the inventory
        has them.
        """
        return self.by_name.get(name) or self._shaped(name)

    def is_head(self, word: str) -> bool:
        """Tell whether a name of a role may end in a word."""
        return word in self.heads or word in _ENDINGS or holds_office(word) or works_as(word)

    def general(self, key: str) -> tuple[str, ...]:
        """Return every more general role, nearest first."""
        found: dict[str, None] = {}
        level = [key]
        while level:
            known = [role for k in level if (role := self.by_key.get(k) or self.find(k))]
            level = [t for role in known for t in role.types if t not in found]
            found.update(dict.fromkeys(level))
        own = self.by_key.get(key) or self.find(key)
        if own is not None and OFFICIAL in self.by_key:
            found.update(dict.fromkeys(_wider(own, found)))
        found.pop(key, None)
        return tuple(found)

    def _shaped(self, name: str) -> OfficeRole | None:
        first, _, rest = name.partition(" ")
        if first == "chief" and rest.endswith(" officer"):
            return OfficeRole(name, types=("executive",), of="company")
        if first in _HEADS and 1 <= len(rest.split()) <= 2 and is_person(rest.split()[-1]):
            held = self.find(rest.split()[-1])
            own = () if held is None else (held.key,)
            return OfficeRole(name, types=(*own, "leader", OFFICIAL), of="organization")
        if first in ("chief", "head") and rest.startswith("of ") and rest[3:] in _MEDICINE:
            return OfficeRole(name, types=("physician", "leader", OFFICIAL), of="organization")
        if first in _RANKS and rest and (below := self.find(rest)):
            return OfficeRole(name, types=(below.key,), of=below.of)
        if not rest and holds_office(name):
            return OfficeRole(name, types=("official", *broader_people(name)))
        if " of " not in name and works_as(name):
            return OfficeRole(name, types=broader_people(name))
        if rest and " " not in rest and is_hired(rest) and is_institution(first):
            of_state = (OFFICIAL,) if _administers(first) else ()
            return OfficeRole(name, types=(rest, "employee", *of_state))  # "school cook"
        if (
            (types := _ENDINGS.get(rest))
            and first not in _NO_PART
            and wordnet().synsets(first, Pos.NOUN)
        ):
            return OfficeRole(name, types=types, of="organization")
        return None

    def with_names(self, names: Iterable[str]) -> Roles:
        """Return roles that also know these names, each as a role of its own."""
        more = [OfficeRole(name) for name in dict.fromkeys(names) if name not in self.by_name]
        return Roles([*self.by_key.values(), *more]) if more else self


def _wider(role: OfficeRole, known: Collection[str]) -> Iterator[str]:
    """Go through the widest kinds of office that a role is of, whatever it is called.

    Whoever leads or manages a part of an organization is a manager and an official, and whoever
    works in an occupation that people are hired for, and neither leads nor holds an office by that,
    is an employee.
    """
    head = role.key.partition(" of ")[0].split()[-1]
    if not _FREE_PEOPLE.isdisjoint((head, *known)):
        return
    if head in _LEADING or not _LEADING.isdisjoint((role.key, *role.types)):
        yield from ("manager", "leader", OFFICIAL)
    elif role.of is not None or holds_office(head):
        yield OFFICIAL
    elif is_hired(head) and role.key != "officer" and "leader" not in known:
        yield "employee"


@lru_cache(maxsize=4096)
def is_hired(noun: str) -> bool:
    """Tell whether a noun may mean somebody whom others employ: interpreter, cook, mechanic.

    A worker need not be employed by anybody.
    """
    kinds, net = synsets_named(_HIRED), wordnet()
    return any(not kinds.isdisjoint(net.ancestors(sense)) for sense in _first_senses(noun))


@lru_cache(maxsize=4096)
def may_be_employed(noun: str) -> bool:
    """Tell whether a word for people says nothing that keeps an institution from employing them.

    A school's interpreter is one of its employees, its pupil or its widow is not.
    """
    senses = wordnet().synsets(noun, Pos.NOUN)[:_FIRST_SENSES]
    return not any(_is_kind_of(sense, _NOT_EMPLOYED) for sense in senses)


@lru_cache(maxsize=4096)
def is_institution(noun: str) -> bool:
    """Tell whether a noun may mean a body that has offices: court, school, parish, club."""
    return any(_is_kind_of(sense, _BODIES) for sense in _first_senses(noun))


@lru_cache(maxsize=4096)
def _administers(noun: str) -> bool:
    """Tell whether a noun means a body of the state, whose people are officials."""
    return any(_is_kind_of(sense, _ADMINISTRATIONS) for sense in _first_senses(noun))


def _first_senses(noun: str) -> list[int]:
    """Return what a noun is most often used for, less what only one thing is called."""
    net = wordnet()
    return [s for s in net.synsets(noun, Pos.NOUN)[:_FIRST_SENSES] if not net.is_instance(s)]


def _is_kind_of(sense: int, kinds: frozenset[str]) -> bool:
    """Tell whether a sense is one of some kinds, by their names in WordNet, or below one."""
    return not synsets_named(kinds).isdisjoint((sense, *wordnet().ancestors(sense)))


@lru_cache(maxsize=4096)
def holds_office(noun: str) -> bool:
    """Tell whether a noun first of all means somebody who holds an office: provost, sheriff."""
    net = wordnet()
    senses = net.synsets(noun, Pos.NOUN)
    if not senses or net.is_instance(senses[0]):
        return False
    return not synsets_named(_OFFICES).isdisjoint(net.ancestors(senses[0]))


@lru_cache(maxsize=4096)
def works_as(noun: str) -> bool:
    """Tell whether a noun that means somebody may say what they do: midwife, umpire, matron."""
    net = wordnet()
    senses = net.synsets(noun, Pos.NOUN)[:_PERSON_SENSES]
    return is_person(noun) and any(
        not net.is_instance(s)
        and not synsets_named(_PROFESSIONS).isdisjoint((s, *net.ancestors(s)))
        for s in senses
    )


@lru_cache(maxsize=4096)
def broader_people(noun: str) -> tuple[str, ...]:
    """Return the kinds of people that WordNet has directly above a kind of people.

    Only its first sense counts: a surveyor is no actuary.
    """
    net, found = wordnet(), dict[str, None]()
    person = net.synset("person.n.01")
    senses = [s for s in net.synsets(noun, Pos.NOUN)[:_PERSON_SENSES] if not net.is_instance(s)]
    people = [sense for sense in senses if person in net.ancestors(sense)][:1]
    for up in (up for sense in people for up in net.hypernyms(sense)):
        if person in net.ancestors(up) and net.depth(up) >= _LEAST_PERSON:
            found.update(dict.fromkeys(name.casefold() for name in net.lemmas(up)))
    return tuple(name for name in found if name != noun and name not in _VAGUE_PEOPLE)


@lru_cache(maxsize=4096)
def is_person(noun: str) -> bool:
    """Tell whether a noun first of all means somebody: coach, nurse."""
    net = wordnet()
    senses = net.synsets(noun, Pos.NOUN)
    return bool(senses) and net.synset("person.n.01") in net.ancestors(senses[0])


def _roles_of(key: str, entry: Mapping[str, object]) -> Iterator[OfficeRole]:
    """Make a role of an entry, and one of each that it lists as being of the same types."""

    def words(field: str) -> tuple[str, ...]:
        value = entry.get(field, ())
        assert isinstance(value, list | tuple)
        return tuple(value)

    of = entry.get("of")
    speaks_for = of if isinstance(of, str) else None
    yield OfficeRole(key, words("names"), words("types"), speaks_for)
    for other in words("alike"):
        yield OfficeRole(other, (), words("types"), speaks_for)


@cache
def roles() -> Roles:
    """Load the inventory once per process."""
    entries = read_inventory(ROLES).items()
    made = Roles(role for key, entry in entries for role in _roles_of(key, entry))
    for role in made.by_key.values():
        if unknown := [t for t in role.types if t not in made.by_key]:
            raise ResourceMissing(f"the role {role.key!r} is of a type {unknown[0]!r} not listed")
    return made
