"""Making the card of a document: its stems, its times, and the terms its map leads to."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import blake2b
from heapq import heappop, heappush
from typing import Final

import numpy as np

from abstrag.config import COST_UNIT, OMEGA, TAU
from abstrag.language.words import key, term_id
from abstrag.model.index import DocumentIndex
from abstrag.model.term import Family, Relation, TermKind
from abstrag.search.bridges.paths import to_units
from abstrag.search.lexical import words
from abstrag.stores.cards import Card

COST_STEPS: Final = 100  # a cost of 1 is kept as this many
TITLE_WEIGHT: Final = 2  # a word of the title counts as often; docs/collections.md says why
MOST: Final = 255  # counts and costs are kept in a byte

_LIMIT: Final = to_units(TAU)
_CONTEXT: Final = to_units(OMEGA[Family.CONTEXT])


def card_of(index: DocumentIndex) -> Card:
    """Make the card of an indexed document."""
    stems = Counter(_words_of(index))
    found = _reach(index)
    counted = sorted((hashed(stem), min(count, MOST)) for stem, count in stems.items())
    costed = sorted(
        (hashed(term), min(round(units * COST_STEPS / COST_UNIT), MOST))
        for term, units in found.items()
    )
    document = index.document
    return Card(
        text=hashed(f"{document.title}\n{document.text}"),
        segments=len(index.records),
        length=stems.total(),
        stems=np.array([stem for stem, _ in counted], np.uint64),
        counts=np.array([count for _, count in counted], np.uint8),
        terms=np.array([term for term, _ in costed], np.uint64),
        costs=np.array([cost for _, cost in costed], np.uint8),
        times=tuple(sorted(term.id for term in index.map.terms if term.interval is not None)),
    )


@lru_cache(maxsize=1 << 16)
def hashed(name: str) -> int:
    """Return the 64-bit hash of a stem or a term."""
    data = name.encode(errors="surrogatepass")
    return int.from_bytes(blake2b(data, digest_size=8).digest(), "little")


def _words_of(index: DocumentIndex) -> list[str]:
    """The stems of the title, twice, of every heading once, and of the segments with headers."""
    headings = dict.fromkeys(name for s in index.segments for name in s.section)
    headings.pop(index.document.title, None)
    texts = [*(index.document.title,) * TITLE_WEIGHT, *headings]
    for segment in index.segments:
        texts += (*(header.text for header in segment.headers), segment.text)
    return words("\n".join(texts))


def _reach(index: DocumentIndex) -> Mapping[str, int]:
    """Return every term the document leads to within the default budget, with the least units.

    The families on a path are not looked at, so that a cost may be too low and never too high.
    """
    own = dict.fromkeys((m.term for m in index.mentions), 0)
    own |= dict.fromkeys((frame.event for frame in index.frames), 0)
    for record in index.records:
        for _, value in record.context.values():
            if value.term is not None:
                own.setdefault(value.term, _CONTEXT)
    ways: defaultdict[str, list[tuple[str, int]]] = defaultdict(list)
    for edge in index.map.edges:
        units = to_units(edge.cost)
        ways[edge.source].append((edge.target, units))
        if edge.relation is Relation.EQUIVALENT:
            ways[edge.target].append((edge.source, units))
    found = _cheapest(own, ways)
    for term in index.map.terms:  # an entity is found under each of its names
        if term.kind is TermKind.ENTITY and term.id in found:
            for surface in term.surfaces:
                name = term_id(TermKind.ENTITY, key(surface))
                found[name] = min(found.get(name, _LIMIT), found[term.id])
    return found


def _cheapest(
    own: Mapping[str, int], ways: Mapping[str, Iterable[tuple[str, int]]]
) -> dict[str, int]:
    """Return the least cost of every term that some terms lead to, within the limit."""
    found: dict[str, int] = {}
    queue: list[tuple[int, str]] = []
    for term, units in own.items():
        heappush(queue, (units, term))
    while queue:
        units, term = heappop(queue)
        if term in found:
            continue
        found[term] = units
        for target, more in ways.get(term, ()):
            if target not in found and units + more <= _LIMIT:
                heappush(queue, (units + more, target))
    return found
