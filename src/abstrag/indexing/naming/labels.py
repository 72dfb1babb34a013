"""What a group of names is called: its canonical label and id."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from abstrag.indexing.naming.alias import AliasReason, NameGroup
from abstrag.indexing.naming.roster import Roster
from abstrag.language.keys import key, term_id
from abstrag.language.names import house_form, legal_form
from abstrag.language.persons import without_titles
from abstrag.language.spelling import fold
from abstrag.lexicon.territories import names_territory
from abstrag.model.term import TermKind


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
