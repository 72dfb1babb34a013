"""NormNE: give everything the text names one canonical term, with all its names."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import ClassVar, Final

from abstrag.config import DELTA_EXPR_ALIAS, OMEGA
from abstrag.indexing.coref import DESCRIPTION
from abstrag.indexing.layers import CoreferenceLink, Entities, Rewrite
from abstrag.indexing.naming.alias_rules import AliasEvidence, AliasReason
from abstrag.indexing.naming.document_names import (
    Canonical,
    DocumentNames,
    NameOccurrence,
    anaphors,
    build_names,
    canonical_names,
    name_occurrences,
    written_aliases,
)
from abstrag.indexing.naming.mentions import named_mentions
from abstrag.indexing.naming.stated_aliases import Definition, definitions
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.language.acronyms import singular
from abstrag.language.spelling import distance, plain, plural
from abstrag.language.words import key, term_id
from abstrag.model.index import Ambiguity
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Mention, Relation, Term, TermKind

_DESCRIBED: Final = 0.85  # how sure a description is that always means the same
_OPERATOR: Final = "normalize_entities"
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
_THE = re.compile(r"^the\s+", re.IGNORECASE)
# what stands between a name and its description: "Anthropic, an AI startup"; "AI startup Anthropic"
_AFTER_NAME = re.compile(r"[\s,(–—-]+(?:(?:is|was)\s+)?(?:an?|the)?\s*(?:[\w-]+\s+){0,2}")
_BEFORE_NAME = re.compile(r"[\s,]+")
_FARTHEST: Final = 40  # characters


@dataclass(frozen=True, slots=True)
class NormalizeEntities:
    """Group the names of a document; `aliases` and their source's name come from a Background."""

    aliases: tuple[tuple[str, tuple[str, ...]], ...] = ()
    background: str = "background"

    name: ClassVar[str] = "normalize_entities"
    requires: ClassVar[Layer | None] = Layer.COREFERENCE
    provides: ClassVar[Layer] = Layer.ENTITIES
    conservative: ClassVar[bool] = True
    version: ClassVar[int] = 6

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Find the names, group them, and say why."""
        assert draft.coreference is not None
        mentions = named_mentions(draft)
        defined = definitions(draft, mentions)
        seen = written_aliases(draft, self.aliases) if self.aliases else frozenset()
        roster = build_names(mentions, defined, self.aliases, seen)
        canonical = canonical_names(roster)
        found = name_occurrences(draft, roster, mentions, defined)
        links = list(anaphors(draft.coreference.links, found))
        first: dict[str, NameOccurrence] = {}
        for sighting in found:
            if sighting.header is None:
                first.setdefault(sighting.name, sighting)
        licences = _Licences(draft, roster, defined, first, self.background)
        extra = [
            d
            for d in _described(draft, links, found, canonical)
            if term_id(TermKind.ENTITY, d.key) not in roster.names  # then it names something else
        ]
        edges = [
            *_alias_edges(licences, canonical),
            *_description_edges(licences, extra),
            *_guessed_edges(licences, canonical),
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
    roster: DocumentNames,
    canonical: Mapping[str, Canonical],
    found: Sequence[NameOccurrence],
    extra: Sequence[_Described],
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


def _written(draft: IndexDraft, sighting: NameOccurrence) -> str:
    segment = draft.segments[sighting.segment]
    text = segment.text if sighting.header is None else segment.headers[sighting.header].text
    return text[sighting.start : sighting.end]


def _mentions(
    found: Sequence[NameOccurrence],
    links: Sequence[tuple[CoreferenceLink, NameOccurrence]],
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


def _description_edges(licences: _Licences, extra: Sequence[_Described]) -> Iterator[Edge]:
    for d in extra:
        alias = term_id(TermKind.ENTITY, d.key)
        licence = licences.at(d.segment, d.start, d.end)
        yield _equivalence(alias, d.meaning, d.surfaces[0], _DESCRIBED, licence)


def _ambiguities(
    roster: DocumentNames, canonical: Mapping[str, Canonical], found: Sequence[NameOccurrence]
) -> Iterator[Ambiguity]:
    """Flag every use of a name that may stand for one of several things."""
    for s in found:
        if s.header is None and s.name in roster.open:
            labels = sorted({canonical[one].label for one in roster.open[s.name]})
            yield Ambiguity(s.segment, s.start, s.end, "a name for several things", tuple(labels))


def _rewrites(
    draft: IndexDraft,
    canonical: Mapping[str, Canonical],
    found: Sequence[NameOccurrence],
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


def _label_for(draft: IndexDraft, sighting: NameOccurrence, label: str) -> str:
    """Return the label as it reads in the alias's place: plural, or opening a sentence."""
    written = _written(draft, sighting)
    text = plural(label) if singular(written) != written else label
    return text[0].upper() + text[1:] if sighting.start == 0 else text


def _equivalence(
    alias: str, canonical: Canonical, surface: str, confidence: float, licence: Licence
) -> Edge:
    """Make the free edge from an alias to what it is an alias of."""
    return Edge(
        source=alias,
        target=canonical.id,
        relation=Relation.EQUIVALENT,
        family=Family.EXPRESSION,
        operator=_OPERATOR,
        weight=OMEGA["expression"],
        distance=distance(surface, canonical.label),
        truth_preserving=True,
        confidence=confidence,
        licence=licence,
    )


@dataclass(frozen=True, slots=True)
class _Licences:
    """Where a document or its Background says that two names are one."""

    draft: IndexDraft
    roster: DocumentNames
    defined: Sequence[Definition]
    first: Mapping[str, NameOccurrence]  # name id → where it stands first
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


def _alias_edges(licences: _Licences, canonical: Mapping[str, Canonical]) -> Iterator[Edge]:
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
            yield _equivalence(one, target, surface, _SURE[evidence.why], licence)


def _guessed_edges(licences: _Licences, canonical: Mapping[str, Canonical]) -> Iterator[Edge]:
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
                operator=_OPERATOR,
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


@dataclass(frozen=True, slots=True)
class _Described:
    """A description that always stands for one thing, and the words that say so."""

    key: str
    surfaces: tuple[str, ...]
    meaning: Canonical
    segment: int
    start: int
    end: int


def _described(
    draft: IndexDraft,
    pairs: Sequence[tuple[CoreferenceLink, NameOccurrence]],
    names: Sequence[NameOccurrence],
    canonical: Mapping[str, Canonical],
) -> list[_Described]:
    """Return the descriptions that stand for the same thing every time they occur."""
    uses: dict[str, list[tuple[CoreferenceLink, NameOccurrence]]] = defaultdict(list)
    for link, sighting in pairs:
        if link.kind == DESCRIPTION:
            text = draft.segments[link.segment].text[link.start : link.end]
            uses[_THE.sub("", text).lower()].append((link, sighting))
    if not uses:
        return []
    pages = _Pages(draft, names)
    made: list[_Described] = []
    for phrase in sorted(uses):
        meanings = {canonical[sighting.name] for _, sighting in uses[phrase]}
        if len(meanings) == 1:
            meaning = meanings.pop()
            own = frozenset(one for one, c in canonical.items() if c == meaning)
            if place := pages.defining(phrase, uses[phrase], own):
                surfaces = tuple(sorted({_noun(draft, link) for link, _ in uses[phrase]}))
                made.append(_Described(key(phrase), surfaces, meaning, *place))
    return made


def _noun(draft: IndexDraft, link: CoreferenceLink) -> str:
    return _THE.sub("", draft.segments[link.segment].text[link.start : link.end])


class _Pages:
    """The document's texts and where its names stand, looked up by many phrases."""

    def __init__(self, draft: IndexDraft, names: Sequence[NameOccurrence]) -> None:
        self.texts = [segment.text for segment in draft.segments]
        self.lower = [text.lower() for text in self.texts]
        self.names: dict[int, list[NameOccurrence]] = defaultdict(list)
        for name in names:
            if name.header is None:
                self.names[name.segment].append(name)

    def defining(
        self,
        phrase: str,
        uses: Sequence[tuple[CoreferenceLink, NameOccurrence]],
        own: frozenset[str],
    ) -> tuple[int, int, int] | None:
        """Return the place that defines a phrase, or None when it is used for something else too.

        Besides the linked uses, the phrase may only stand next to the thing's own name; the first
        such place defines it. Without one, that is where the first use's antecedent stands.
        """
        pattern = re.compile(rf"\b{re.escape(phrase)}s?\b", re.IGNORECASE)
        linked = {(link.segment, link.end) for link, _ in uses}
        first: tuple[int, int, int] | None = None
        for i, lower in enumerate(self.lower):
            if phrase not in lower:
                continue
            for found in pattern.finditer(self.texts[i]):
                if (i, found.end()) in linked:
                    continue
                name = self._beside(i, found.start(), found.end(), own)
                if name is None:
                    return None
                first = first or (i, min(name.start, found.start()), max(name.end, found.end()))
        antecedent = uses[0][1]
        return first or (antecedent.segment, antecedent.start, antecedent.end)

    def _beside(
        self, segment: int, start: int, end: int, own: frozenset[str]
    ) -> NameOccurrence | None:
        text = self.texts[segment]
        for name in self.names[segment]:
            if name.name not in own:
                continue
            if name.start <= start and end <= name.end:
                return name  # "river" in "Hudson River"
            if 0 < start - name.end < _FARTHEST and _AFTER_NAME.fullmatch(text, name.end, start):
                return name
            if 0 < name.start - end < _FARTHEST and _BEFORE_NAME.fullmatch(text, end, name.start):
                return name
        return None
