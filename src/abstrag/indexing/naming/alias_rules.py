"""The rules that say which names are one; each speaks only where it cannot be wrong.

Every rule looks at all names at once, so that it sees when it could apply in two ways, and then it
applies in none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import Final

from abstrag.indexing.naming.mentions import UNLABELLED
from abstrag.indexing.naming.stated_aliases import Definition
from abstrag.language.names import PersonName, house_form, legal_form, person_name
from abstrag.language.spelling import fold, plural
from abstrag.language.words import key, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.term import TermKind

_TERRITORIES: Final = ("country.n.02", "state.n.01", "island.n.01")


class AliasReason(IntEnum):
    """Why two names are one, the strongest reason first."""

    BACKGROUND = 0  # a Background file says so
    DEFINED = 1  # the text says so: an acronym in brackets, a defined term
    SPELLING = 2  # they differ in nothing that tells names apart
    LEGAL_FORM = 3  # one has the legal form the other leaves out
    PERSON = 4  # one is part of the only full name it can belong to
    DESCRIPTION = 5  # a definite description that always means the same thing here


@dataclass(frozen=True, slots=True, order=True)
class AliasEvidence:
    """One reason; `definition` is the number of the definition that states it, if one does."""

    why: AliasReason
    alias: str
    name: str
    definition: int | None = None


@dataclass(slots=True)
class NameGroup:
    """Everything written that has one key."""

    id: str
    surfaces: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    cited: bool = False  # somewhere it is the author of a citation
    common: bool = False  # its word also occurs in small letters
    given: str = ""  # the Background's own name for the thing, where this is it

    @property
    def kind(self) -> TermKind:
        """Entity, or concept for a common noun that has an acronym."""
        return TermKind(self.id.partition(":")[0])

    @property
    def surface(self) -> str:
        """The way it is written most often; of equals the first in the alphabet."""
        return min(self.surfaces, key=lambda s: (-self.surfaces[s], s))

    @property
    def count(self) -> int:
        """How often the document writes it."""
        return self.surfaces.total()

    @property
    def label(self) -> str:
        """The entity label it is given most often."""
        labels = {n: -c for n, c in self.labels.items() if n != UNLABELLED}
        return min(labels, key=lambda n: (labels[n], n)) if labels else UNLABELLED

    @property
    def person(self) -> PersonName | None:
        """The name in parts, when it is a person's; a lone word may be a surname."""
        lone = self.label == UNLABELLED and " " not in self.surface
        return person_name(self.surface) if self.label == "PERSON" or lone else None


Aliases = Sequence[tuple[str, tuple[str, ...]]]
Open = dict[str, tuple[str, ...]]  # a name → the names it may stand for, none being sure
Names = Mapping[str, NameGroup]
_Bearer = tuple[str, PersonName]


def with_plurals(aliases: Aliases) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Let a Background's common nouns be named by their plural too, and with a capital.

    "Neutrophils" begins a sentence about what the Background calls a neutrophil.
    """
    stated = {surface for main, others in aliases for surface in (main, *others)}
    found = []
    for main, others in aliases:
        nouns = [name for name in (main, *others) if name.islower() and name[-1:].isalpha()]
        nouns += [plural(name) for name in nouns if not name.endswith("s")]
        words = [name.capitalize() for name in nouns if " " not in name]  # others: in any case
        more = (name for name in dict.fromkeys((*nouns, *words)) if name not in stated)
        found.append((main, (*others, *more)))
    return tuple(found)


def from_background(
    names: dict[str, NameGroup], aliases: Aliases, written: Iterable[str]
) -> list[AliasEvidence]:
    """Join what the Background joins, and add its names for things the document speaks of."""
    if not aliases:
        return []
    known: dict[str, set[str]] = {fold(surface): set() for surface in written}
    for one, name in names.items():
        for surface in name.surfaces:
            known.setdefault(fold(surface), set()).add(one)
    owners = Counter(f for main, others in aliases for f in {fold(a) for a in (main, *others)})
    found: list[AliasEvidence] = []
    for main, others in aliases:
        if not any(fold(surface) in known for surface in (main, *others)):
            continue
        target = term_id(TermKind.ENTITY, key(main))
        for surface in sorted({main, *others}):
            if surface != main and owners[fold(surface)] > 1:
                continue  # the Background itself calls two things so
            alias = term_id(TermKind.ENTITY, key(surface))
            names.setdefault(alias, NameGroup(alias)).surfaces[surface] += 0
            same = {alias, *known.get(fold(surface), ())} - {target}
            found.extend(AliasEvidence(AliasReason.BACKGROUND, one, target) for one in same)
        names[target].given = main
    return found


def from_definitions(defined: Sequence[Definition]) -> tuple[list[AliasEvidence], Open]:
    """Take a definition at its word, unless the text gives the alias to something else too."""
    meant: dict[str, dict[str, str]] = defaultdict(dict)
    first: dict[tuple[str, str], int] = {}
    for i, d in enumerate(defined):
        meant[d.alias].setdefault(fold(d.name), d.name)
        first.setdefault((d.alias, d.name), i)
    found = [
        AliasEvidence(AliasReason.DEFINED, alias, name, i)
        for (alias, name), i in first.items()
        if len(meant[alias]) == 1
    ]
    return found, {a: tuple(sorted(m.values())) for a, m in meant.items() if len(m) > 1}


def from_spelling(names: Names) -> Iterator[AliasEvidence]:
    """Join names of one kind that fold to the same letters."""
    same: dict[tuple[str, str], list[str]] = defaultdict(list)
    for one in names:
        kind, _, own = one.partition(":")
        same[kind, fold(own)].append(one)
    for group in same.values():
        first, *rest = sorted(group)
        yield from (AliasEvidence(AliasReason.SPELLING, other, first) for other in rest)


def from_legal_forms(names: Names) -> Iterator[AliasEvidence]:
    """Join `Acme Inc.` and `Acme`, unless there is an `Acme Ltd.` or `Acme` is a country."""
    dressed: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    bare: dict[str, set[str]] = defaultdict(set)
    people = [p for p in (name.person for name in names.values()) if p is not None]
    surnames = {p.surname for p in people if p.given or p.titles}
    for one, name in names.items():
        if name.kind is not TermKind.ENTITY or _somebody(name, surnames):
            continue
        for split in (legal_form, house_form):
            base, form = split(name.surface)
            if form and names_territory(base):
                continue  # "Egypt LLC" is not Egypt
            (dressed[fold(base)][form] if form else bare[fold(base)]).add(one)
    for base, forms in dressed.items():
        if len(forms) == 1:
            first, *rest = sorted(bare.get(base, ())) + sorted(*forms.values())
            yield from (AliasEvidence(AliasReason.LEGAL_FORM, one, first) for one in rest)


def _somebody(name: NameGroup, surnames: set[str]) -> bool:
    """True for a person's name, which no company is called by; spaCy's word is not enough."""
    person = name.person
    if name.label != "PERSON" or person is None or legal_form(name.surface)[1]:
        return False
    return bool(person.given or person.titles) or person.surname in surnames


def from_persons(names: Names) -> tuple[list[AliasEvidence], Open]:
    """Join `Ms. Smith`, `J. Smith` and `Smith` when there is one Smith they can all be."""
    by_surname: dict[str, list[_Bearer]] = defaultdict(list)
    for one in sorted(names):
        person = names[one].person
        if person is not None:
            by_surname[person.surname].append((one, person))
    found: list[AliasEvidence] = []
    unsure: Open = {}
    for bearers in by_surname.values():
        people = _people(bearers)
        for person_names in people:
            (first, _), *rest = person_names
            found.extend(AliasEvidence(AliasReason.PERSON, one, first) for one, _ in rest)
        placed = {one for group in people for one, _ in group}
        for one, person in bearers:
            if one in placed:
                continue
            fitting = [g[0][0] for g in people if all(person.may_be(p) for _, p in g)]
            doubtful = len(people) > 1 or names[one].cited or names[one].common
            partial = person.titles or (person.given and len(person.given[0]) == 1)
            bare = not person.given and not person.titles
            if len(fitting) == 1 and (partial or (bare and not doubtful)):
                found.append(AliasEvidence(AliasReason.PERSON, one, fitting[0]))
            elif fitting:
                unsure[one] = tuple(sorted(fitting))
    return found, unsure


def _people(bearers: Sequence[_Bearer]) -> list[list[_Bearer]]:
    """Group the names of one surname that say enough to tell people apart.

    A full name says enough. So does a name with initial or title, when it fits no full name.
    """
    people: list[list[_Bearer]] = []
    telling = [b for b in bearers if b[1].given or b[1].titles]
    telling.sort(key=lambda b: (_fullness(b[1]), b[0]))
    for one, person in telling:
        fitting = [g for g in people if all(person.may_be(p) for _, p in g)]
        if len(fitting) == 1 and all(person.is_plainly(p) for _, p in fitting[0]):
            fitting[0].append((one, person))
        elif not fitting:
            people.append([(one, person)])
    return people


def _fullness(person: PersonName) -> tuple[int, int, int]:
    spelled = bool(person.given) and len(person.given[0]) > 1
    return -spelled, -len(person.given), -len(person.titles)


@lru_cache(maxsize=4096)
def names_territory(name: str) -> bool:
    """True for the name of a country, state or province: "Egypt", "Puerto Rico"."""
    net = wordnet()
    kinds = set(map(net.synset, _TERRITORIES))
    found = (s for s in net.synsets(name, Pos.NOUN) if net.is_instance(s))
    return any(not kinds.isdisjoint(net.ancestors(s)) for s in found)


@lru_cache(maxsize=4096)
def territory_classes(name: str) -> tuple[str, ...]:
    """Return what a territory is, and what of: France is a European country, so it is European."""
    net = wordnet()
    kinds = set(map(net.synset, _TERRITORIES))
    found: dict[str, None] = {}
    for sense in net.synsets(name, Pos.NOUN):
        if not net.is_instance(sense) or kinds.isdisjoint(net.ancestors(sense)):
            continue
        for label in (label for up in net.hypernyms(sense) for label in net.lemmas(up)):
            found[label] = None
            *mark, kind = label.split(" ")
            found[kind] = None
            if mark:
                found[" ".join(mark)] = None
        break
    return tuple(found)
