"""Every place where a document names something, found by spaCy or known from elsewhere in it."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from abstrag.indexing.layers import Link
from abstrag.indexing.naming.alias import Name, Why
from abstrag.indexing.naming.alias_rules import Aliases
from abstrag.indexing.naming.definitions import Definition
from abstrag.indexing.naming.mentions import Named
from abstrag.indexing.naming.roster import Roster
from abstrag.indexing.naming.surfaces import Found, Surfaces
from abstrag.indexing.operator import Draft
from abstrag.language.keys import key, term_id
from abstrag.model.term import TermKind


@dataclass(frozen=True, slots=True)
class Sighting:
    """A name at `segment.text[start:end]`, or in the segment's header number `header`."""

    segment: int
    start: int
    end: int
    name: str  # id
    header: int | None = None


def sightings(
    draft: Draft, roster: Roster, mentions: Sequence[Named], defined: Sequence[Definition]
) -> list[Sighting]:
    """Return all of them in reading order; in one text no two overlap, and longer names win."""
    seen: dict[int, list[Found]] = defaultdict(list)
    for m in mentions:
        seen[m.segment].append(Found(m.start, m.end, roster.id_of(m)))
    taught = {one for d in defined for one in (d.alias, d.name)}
    taught |= {one for one, e in roster.evidence.items() if e.why is Why.BACKGROUND}
    surfaces = Surfaces(roster.names, frozenset(taught))
    made: list[Sighting] = []
    for i, segment in enumerate(draft.segments):
        for n, header in enumerate(segment.headers):
            made.extend(Sighting(i, f.start, f.end, f.name, n) for f in surfaces.find(header.text))
        found = _without_overlap([*seen[i], *surfaces.find(segment.text, draft.tokens(i))])
        made.extend(Sighting(i, f.start, f.end, f.name) for f in found)
    return made


def _without_overlap(found: list[Found]) -> list[Found]:
    kept: list[Found] = []  # in reading order, so that only the neighbours can be in the way
    for one in sorted(found, key=lambda f: (f.start - f.end, f.start, f.name)):
        at = bisect_left(kept, one.start, key=_start)
        free_before = not at or kept[at - 1].end <= one.start
        if free_before and (at == len(kept) or one.end <= kept[at].start):
            kept.insert(at, one)
    return kept


def _start(found: Found) -> int:
    return found.start


def anaphors(links: Iterable[Link], names: Iterable[Sighting]) -> Iterator[tuple[Link, Sighting]]:
    """Pair each link with the name it goes back to; links to what has no name are left out."""
    places: dict[int, list[Sighting]] = defaultdict(list)
    for name in names:
        if name.header is None:
            places[name.segment].append(name)
    for link in links:
        for name in places[link.antecedent_segment]:
            if name.start < link.antecedent_end and link.antecedent_start < name.end:
                yield link, name
                break


def written_aliases(draft: Draft, aliases: Aliases) -> frozenset[str]:
    """Return the Background's names that the document writes, whether or not spaCy saw them."""
    names: dict[str, Name] = {}
    for name, others in aliases:
        for surface in (name, *others):
            one = term_id(TermKind.ENTITY, key(surface))
            names.setdefault(one, Name(one)).surfaces[surface] += 1
    surfaces = Surfaces(names, frozenset(names))
    texts = (t for s in draft.segments for t in (s.text, *(h.text for h in s.headers)))
    return frozenset(text[f.start : f.end] for text in texts for f in surfaces.find(text))
