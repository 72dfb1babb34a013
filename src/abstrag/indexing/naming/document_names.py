"""Which names in a document are one, what each group is called, and where its names stand.

A name is everything written that has one key. Names are grouped by what the text or the Background
states and by rules that cannot go wrong where they apply. The result does not depend on the order
names come in.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from abstrag.indexing.layers import CoreferenceLink
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
from abstrag.indexing.naming.mentions import PlacedName
from abstrag.indexing.naming.stated_aliases import Definition
from abstrag.indexing.operator import IndexDraft
from abstrag.language.names import house_form, legal_form, without_titles
from abstrag.language.spelling import fold
from abstrag.language.words import key, term_id
from abstrag.model.term import TermKind

if TYPE_CHECKING:
    from spacy.tokens import Span as Tokens

# Known names wherever they are written: what spaCy saw in one sentence and missed in another.

_WORD = re.compile(r"[^\W_]+")
_INSIDE = re.compile(r"[\w&]|-[A-Z\d]|\.[\w]")  # what follows a surface that goes on
_CAPITAL_BEFORE = re.compile(r"(?<![.!?:]\s)(?<!^)\b(?!The\b)[A-Z][\w&.-]*\s$")
_LONGEST_WORD: Final = 40
_CAPITAL_AFTER = re.compile(r"\s[A-Z][a-z]")
_PLACES: Final = frozenset({"GPE", "LOC"})


@dataclass(frozen=True, slots=True)
class DocumentNames:
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


def build_names(
    mentions: Iterable[PlacedName],
    defined: Sequence[Definition],
    aliases: Aliases = (),
    written: Iterable[str] = (),
) -> DocumentNames:
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
    return DocumentNames(names, groups, kept, {**unsure, **contested}, concepts)


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


def canonical_names(roster: DocumentNames) -> dict[str, Canonical]:
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


@dataclass(frozen=True, slots=True)
class _FoundName:
    """A name at `text[start:end]`."""

    start: int
    end: int
    name: str  # id


@dataclass(frozen=True, slots=True)
class _Surface:
    text: str
    name: str
    lead: int  # where its first word begins
    any_case: bool
    in_capitals: bool  # also where a whole text is in capitals: "GREATER CHINA" heads a column
    plain: bool  # one capitalized word, which may be a common one at a sentence's beginning


class Surfaces:
    """Finds every surface of the given names in a text, the longest first."""

    def __init__(
        self, names: Mapping[str, NameGroup], taught: frozenset[str] = frozenset()
    ) -> None:
        """Take the names; those `taught` by a definition need no proof that they are names."""
        by_word: dict[str, list[_Surface]] = defaultdict(list)
        for one in sorted(names):
            name = names[one]
            concept = name.kind is TermKind.CONCEPT
            for text in sorted(name.surfaces):
                word = _WORD.search(text)
                if word is None:
                    continue
                any_case = " " in text and (concept or text.islower())
                plain = text.istitle() and text.isalpha() and one not in taught
                in_capitals = not concept and (" " in text or name.label in _PLACES)
                surface = _Surface(text, one, word.start(), any_case, in_capitals, plain)
                by_word[word.group().casefold()].append(surface)
        self._by_word = {
            word: sorted(found, key=lambda s: (-len(s.text), s.text, s.name))
            for word, found in by_word.items()
        }

    def find(self, text: str, tokens: Tokens | None = None) -> Iterator[_FoundName]:
        """Go through the surfaces in a text; with its tokens, a plain word must be a name there."""
        end = 0
        capitals = text.isupper()
        for word in _WORD.finditer(text):
            if word.start() < end:
                continue
            for surface in self._by_word.get(word.group().casefold(), ()):
                any_case = surface.any_case or (capitals and surface.in_capitals)
                if found := _match(text, word.start(), surface, tokens, any_case=any_case):
                    end = found.end
                    yield found
                    break


def _match(
    text: str, start: int, surface: _Surface, tokens: Tokens | None, *, any_case: bool
) -> _FoundName | None:
    start -= surface.lead
    end = start + len(surface.text)
    written = text[max(0, start) : end]
    if written != surface.text and not (any_case and written.casefold() == surface.text.casefold()):
        return None
    if _INSIDE.match(text, end) or (
        start and (text[start - 1].isalnum() or text[start - 1] == "-")
    ):
        return None
    if surface.plain and tokens is not None and not _is_name(text, start, end, tokens):
        return None
    return _FoundName(start, end, surface.name)


def _is_name(text: str, start: int, end: int, tokens: Tokens) -> bool:
    near = max(0, start - _LONGEST_WORD)
    if _CAPITAL_BEFORE.search(text, near, start) or _CAPITAL_AFTER.match(text, end):
        return False  # part of a longer name
    base = tokens.start_char
    span = tokens.doc.char_span(base + start, base + end)
    return span is not None and all(t.pos_ == "PROPN" for t in span)


@dataclass(frozen=True, slots=True)
class NameOccurrence:
    """A name at `segment.text[start:end]`, or in the segment's header number `header`."""

    segment: int
    start: int
    end: int
    name: str  # id
    header: int | None = None


def name_occurrences(
    draft: IndexDraft,
    roster: DocumentNames,
    mentions: Sequence[PlacedName],
    defined: Sequence[Definition],
) -> list[NameOccurrence]:
    """Return all of them in reading order; in one text no two overlap, and longer names win."""
    seen: dict[int, list[_FoundName]] = defaultdict(list)
    for m in mentions:
        seen[m.segment].append(_FoundName(m.start, m.end, roster.id_of(m)))
    taught = {one for d in defined for one in (d.alias, d.name)}
    taught |= {one for one, e in roster.evidence.items() if e.why is AliasReason.BACKGROUND}
    surfaces = Surfaces(roster.names, frozenset(taught))
    made: list[NameOccurrence] = []
    for i, segment in enumerate(draft.segments):
        for n, header in enumerate(segment.headers):
            made.extend(
                NameOccurrence(i, f.start, f.end, f.name, n) for f in surfaces.find(header.text)
            )
        found = _without_overlap([*seen[i], *surfaces.find(segment.text, draft.tokens(i))])
        made.extend(NameOccurrence(i, f.start, f.end, f.name) for f in found)
    return made


def _without_overlap(found: list[_FoundName]) -> list[_FoundName]:
    kept: list[_FoundName] = []  # in reading order, so that only the neighbours can be in the way
    for one in sorted(found, key=lambda f: (f.start - f.end, f.start, f.name)):
        at = bisect_left(kept, one.start, key=_start)
        free_before = not at or kept[at - 1].end <= one.start
        if free_before and (at == len(kept) or one.end <= kept[at].start):
            kept.insert(at, one)
    return kept


def _start(found: _FoundName) -> int:
    return found.start


def anaphors(
    links: Iterable[CoreferenceLink], names: Iterable[NameOccurrence]
) -> Iterator[tuple[CoreferenceLink, NameOccurrence]]:
    """Pair each link with the name it goes back to; links to what has no name are left out."""
    places: dict[int, list[NameOccurrence]] = defaultdict(list)
    for name in names:
        if name.header is None:
            places[name.segment].append(name)
    for link in links:
        for name in places[link.antecedent_segment]:
            if name.start < link.antecedent_end and link.antecedent_start < name.end:
                yield link, name
                break


def written_aliases(draft: IndexDraft, aliases: Aliases) -> frozenset[str]:
    """Return the Background's names that the document writes, whether or not spaCy saw them."""
    names: dict[str, NameGroup] = {}
    for name, others in aliases:
        for surface in (name, *others):
            one = term_id(TermKind.ENTITY, key(surface))
            names.setdefault(one, NameGroup(one)).surfaces[surface] += 1
    surfaces = Surfaces(names, frozenset(names))
    texts = (t for s in draft.segments for t in (s.text, *(h.text for h in s.headers)))
    return frozenset(text[f.start : f.end] for text in texts for f in surfaces.find(text))
