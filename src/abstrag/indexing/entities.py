"""NormNE: give everything the text names one canonical term, with all its names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final

from abstrag.indexing.layers import CoreferenceLink, Entities, Rewrite
from abstrag.indexing.naming.alias_edges import Licences, alias_edges, equivalence, guessed_edges
from abstrag.indexing.naming.definitions import Definition, definitions
from abstrag.indexing.naming.described import Described, described
from abstrag.indexing.naming.labels import Canonical, canonical_names
from abstrag.indexing.naming.mentions import named_mentions
from abstrag.indexing.naming.roster import Roster, build_roster
from abstrag.indexing.naming.sightings import Sighting, anaphors, sightings, written_aliases
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.language.acronyms import singular
from abstrag.language.keys import term_id
from abstrag.language.spelling import plural
from abstrag.model.index import Ambiguity
from abstrag.model.term import Edge, Mention, Term, TermKind

_DESCRIBED: Final = 0.85  # how sure a description is that always means the same


@dataclass(frozen=True, slots=True)
class NormalizeEntities:
    """Group the names of a document; `aliases` and their source's name come from a Background."""

    aliases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    background: str = "background"

    name: ClassVar[str] = "normalize_entities"
    requires: ClassVar[Layer | None] = Layer.COREFERENCE
    provides: ClassVar[Layer] = Layer.ENTITIES
    conservative: ClassVar[bool] = True
    version: ClassVar[int] = 5

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Find the names, group them, and say why."""
        assert draft.coreference is not None
        mentions = named_mentions(draft)
        defined = definitions(draft, mentions)
        seen = written_aliases(draft, self.aliases) if self.aliases else frozenset()
        roster = build_roster(mentions, defined, self.aliases, seen)
        canonical = canonical_names(roster)
        found = sightings(draft, roster, mentions, defined)
        links = list(anaphors(draft.coreference.links, found))
        first: dict[str, Sighting] = {}
        for sighting in found:
            if sighting.header is None:
                first.setdefault(sighting.name, sighting)
        licences = Licences(draft, roster, defined, first, self.background)
        extra = [
            d
            for d in described(draft, links, found, canonical)
            if term_id(TermKind.ENTITY, d.key) not in roster.names  # then it names something else
        ]
        edges = [
            *alias_edges(licences, canonical),
            *_description_edges(licences, extra),
            *guessed_edges(licences, canonical),
        ]
        layer = Entities(
            terms=_terms(draft, roster, canonical, found, extra),
            mentions=_mentions(found, links, canonical),
            edges=tuple(sorted(edges, key=lambda e: (e.source, e.target, e.relation))),
            ambiguities=tuple(_ambiguities(roster, canonical, found)),
            rewrites=tuple(_rewrites(draft, canonical, found, defined)),
        )
        return draft.with_(entities=layer)


def _terms(
    draft: IndexDraft,
    roster: Roster,
    canonical: Mapping[str, Canonical],
    found: Sequence[Sighting],
    extra: Sequence[Described],
) -> tuple[Term, ...]:
    """Make a term of every name and of every canonical label, with the surfaces the text has."""
    labels: dict[str, str] = {}
    surfaces: dict[str, set[str]] = defaultdict(set)
    for one, name in roster.names.items():
        target = canonical[one]
        labels.setdefault(one, name.surface)
        surfaces[one].add(name.surface)
        surfaces[target.id] |= {name.surface, target.label}
    for sighting in found:
        written = _written(draft, sighting)
        surfaces[sighting.name].add(written)
        surfaces[canonical[sighting.name].id].add(written)
    labels |= {target.id: target.label for target in canonical.values()}
    for d in extra:
        one = term_id(TermKind.ENTITY, d.key)
        labels.setdefault(one, d.surfaces[0])
        surfaces[one].update(d.surfaces)
        surfaces[d.meaning.id].update(d.surfaces)
    return tuple(
        Term(one, TermKind(one.partition(":")[0]), labels[one], tuple(sorted(surfaces[one])))
        for one in sorted(labels)
    )


def _written(draft: IndexDraft, sighting: Sighting) -> str:
    segment = draft.segments[sighting.segment]
    text = segment.text if sighting.header is None else segment.headers[sighting.header].text
    return text[sighting.start : sighting.end]


def _mentions(
    found: Sequence[Sighting],
    links: Sequence[tuple[CoreferenceLink, Sighting]],
    canonical: Mapping[str, Canonical],
) -> tuple[Mention, ...]:
    """Make a mention of every name, and of every anaphor where it stands."""
    made = {Mention(canonical[s.name].id, s.segment, s.start, s.end, s.header) for s in found}
    made |= {Mention(canonical[s.name].id, link.segment, link.start, link.end) for link, s in links}
    return tuple(
        sorted(
            made,
            key=lambda m: (m.segment, -1 if m.header is None else m.header, m.start, m.end, m.term),
        )
    )


def _description_edges(licences: Licences, extra: Sequence[Described]) -> Iterator[Edge]:
    for d in extra:
        alias = term_id(TermKind.ENTITY, d.key)
        licence = licences.at(d.segment, d.start, d.end)
        yield equivalence(alias, d.meaning, d.surfaces[0], _DESCRIBED, licence)


def _ambiguities(
    roster: Roster, canonical: Mapping[str, Canonical], found: Sequence[Sighting]
) -> Iterator[Ambiguity]:
    """Flag every use of a name that may stand for one of several things."""
    for s in found:
        if s.header is None and s.name in roster.open:
            labels = sorted({canonical[one].label for one in roster.open[s.name]})
            yield Ambiguity(s.segment, s.start, s.end, "a name for several things", tuple(labels))


def _rewrites(
    draft: IndexDraft,
    canonical: Mapping[str, Canonical],
    found: Sequence[Sighting],
    defined: Sequence[Definition],
) -> Iterator[Rewrite]:
    """Write the canonical label for an alias, but not where the text is just defining it."""
    assert draft.coreference is not None
    taken = [(r.segment, r.start, r.end) for r in draft.coreference.rewrites]
    taken += [(d.segment, d.start, d.end) for d in defined]
    busy: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for segment, start, end in taken:
        busy[segment].append((start, end))
    for s in found:
        target = canonical[s.name]
        if s.header is not None or s.name == target.id:
            continue
        if all(s.end <= a or b <= s.start for a, b in busy[s.segment]):
            yield Rewrite(s.segment, s.start, s.end, _label_for(draft, s, target.label))


def _label_for(draft: IndexDraft, sighting: Sighting, label: str) -> str:
    """Return the label as it reads in the alias's place: plural, or opening a sentence."""
    written = _written(draft, sighting)
    text = plural(label) if singular(written) != written else label
    return text[0].upper() + text[1:] if sighting.start == 0 else text
