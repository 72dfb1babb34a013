"""Which names in a document are one: the groups they form, why, and what each group is called.

A name is everything written that has one key. Names are grouped by what the text or the Background
states and by rules that cannot go wrong where they apply. The result does not depend on the order
names come in.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from abstrag.indexing.naming.alias_rules import (
    Aliases,
    AliasEvidence,
    AliasReason,
    NameGroup,
    from_background,
    from_definitions,
    from_legal_forms,
    from_persons,
    from_spelling,
    names_territory,
)
from abstrag.indexing.naming.definitions import Definition
from abstrag.indexing.naming.mentions import PlacedName
from abstrag.language.keys import key, term_id
from abstrag.language.names import house_form, legal_form, without_titles
from abstrag.language.spelling import fold
from abstrag.model.term import TermKind


@dataclass(frozen=True, slots=True)
class Roster:
    """The names of a document, the group each belongs to, and what was left open."""

    names: Mapping[str, NameGroup]
    groups: Mapping[str, str]  # name id → the id that stands for its group
    evidence: Mapping[str, AliasEvidence]  # name id → what brought it into its group
    open: Mapping[str, tuple[str, ...]]  # name id → names it may stand for, none being sure
    concepts: Mapping[str, str]  # surface → id, for common nouns and their acronyms

    def id_of(self, mention: PlacedName) -> str:
        """Return the id of the name a mention writes."""
        return self.concepts.get(mention.text) or term_id(TermKind.ENTITY, key(mention.text))

    def group_of(self, mention: PlacedName) -> str:
        """Return the group of a mention; equal for two mentions when they name one thing."""
        return self.groups[self.id_of(mention)]

    def members(self) -> dict[str, list[str]]:
        """Return the groups with all their names, sorted."""
        made: dict[str, list[str]] = defaultdict(list)
        for name in sorted(self.groups):
            made[self.groups[name]].append(name)
        return made


def build_roster(
    mentions: Iterable[PlacedName],
    defined: Sequence[Definition],
    aliases: Aliases = (),
    written: Iterable[str] = (),
) -> Roster:
    """Group the names of a document.

    `aliases` are the Background's, `written` those of them that the document writes.
    """
    concepts = _concepts(defined)
    names = _names(mentions, defined, concepts)
    background = from_background(names, aliases, written)
    definitions, contested = from_definitions(defined)
    persons, unsure = from_persons(names)
    rules = [*from_spelling(names), *from_legal_forms(names), *persons]
    groups, kept = _grouped(names, sorted({*background, *definitions, *rules}))
    return Roster(names, groups, kept, {**unsure, **contested}, concepts)


def _concepts(defined: Sequence[Definition]) -> dict[str, str]:
    concept = TermKind.CONCEPT.value + ":"
    return {
        surface: one
        for d in defined
        for one, surfaces in ((d.alias, d.alias_surfaces), (d.name, d.name_surfaces))
        if one.startswith(concept)
        for surface in surfaces
    }


def _names(
    mentions: Iterable[PlacedName], defined: Sequence[Definition], concepts: Mapping[str, str]
) -> dict[str, NameGroup]:
    names: dict[str, NameGroup] = {}
    for d in defined:
        for one, surfaces in ((d.alias, d.alias_surfaces), (d.name, d.name_surfaces)):
            names.setdefault(one, NameGroup(one)).surfaces.update(dict.fromkeys(surfaces, 0))
    for m in mentions:
        one = concepts.get(m.text) or term_id(TermKind.ENTITY, key(m.text))
        name = names.setdefault(one, NameGroup(one))
        name.surfaces[m.text] += 1
        name.labels[m.label] += 1
        name.cited |= m.cited
        name.common |= m.common
    return names


def _grouped(
    names: Mapping[str, NameGroup], evidence: Sequence[AliasEvidence]
) -> tuple[dict[str, str], dict[str, AliasEvidence]]:
    """Join names, the strongest evidence first, and keep apart what was given different names.

    What the Background calls by two names is two things; so is, once the Background has spoken,
    what the text introduces by two long forms.
    """
    parent = {one: one for one in names}
    owner = {one: name.given for one, name in names.items() if name.given}
    kept: dict[str, AliasEvidence] = {}

    def root(one: str) -> str:
        while parent[one] != one:
            parent[one] = one = parent[parent[one]]
        return one

    def join(steps: Iterable[AliasEvidence]) -> None:
        for step in steps:
            low, high = sorted((root(step.alias), root(step.name)))
            owners = {owner[one] for one in (low, high) if one in owner}
            if low == high or len(owners) > 1:
                continue
            parent[high] = low
            if owners:
                owner[low] = owners.pop()
            kept.setdefault(step.alias, step)
            kept.setdefault(step.name, step)

    join(e for e in evidence if e.why is AliasReason.BACKGROUND)
    for e in evidence:
        if e.why is AliasReason.DEFINED:
            owner.setdefault(root(e.name), fold(e.name))
    join(e for e in evidence if e.why is not AliasReason.BACKGROUND)
    return {one: root(one) for one in names}, kept


@dataclass(frozen=True, slots=True)
class Canonical:
    """The id and label that stand for a group of names."""

    id: str
    label: str


def canonical_names(roster: Roster) -> dict[str, Canonical]:
    """Return, for every name, what its group is called; two groups never share an id.

    A label is the name that says most, without titles and legal form. Where that would be what
    something else is called, it is the name as written.
    """
    spelled_out = {e.name for e in roster.evidence.values() if e.why is AliasReason.DEFINED}
    members = roster.members()
    leads: dict[str, NameGroup] = {}
    for group, ids in members.items():
        names = [roster.names[one] for one in ids]
        folds = {fold(name.surface) for name in names}
        leads[group] = min(names, key=lambda n: _rank(n, folds, n.id in spelled_out))
    bare = {group: _undressed(lead) for group, lead in leads.items()}
    claimed = Counter(canonical.id for canonical in bare.values())
    made: dict[str, Canonical] = {}
    for group, lead in leads.items():
        owner = roster.groups.get(bare[group].id, group)
        free = owner == group and claimed[bare[group].id] == 1
        canonical = bare[group] if free else Canonical(lead.id, lead.surface)
        made.update(dict.fromkeys(members[group], canonical))
    return made


def _rank(
    name: NameGroup, folds: set[str], spelled_out: bool
) -> tuple[bool, bool, bool, int, int, str]:
    """Order names from the one that says most: given, spelled out, complete, frequent."""
    base, form = house_form(name.surface)
    overdressed = bool(form) and fold(base) in folds
    length = len(fold(without_titles(legal_form(name.surface)[0])))
    return not name.given, not spelled_out, overdressed, -length, -name.count, name.id


def _undressed(name: NameGroup) -> Canonical:
    if name.given:
        return Canonical(name.id, name.given)
    if name.kind is TermKind.CONCEPT:
        surfaces = name.surfaces
        label = min(surfaces, key=lambda s: (not s.islower(), -surfaces[s], len(s), s))
        return Canonical(name.id, label)
    person = name.label == "PERSON"
    label = without_titles(name.surface) if person else legal_form(name.surface)[0]
    if names_territory(label):
        label = name.surface  # "Egypt LLC" is not Egypt
    return Canonical(term_id(TermKind.ENTITY, key(label)), label)
