"""Lending: what other documents know of a document's things, as costed edges for one search.

Document A states "World Health Organization (WHO)"; document B only writes "WHO". Asked for the
World Health Organization, B is found through a bridge that costs what the merge costs and names
the words of A. Nothing is merged in B's own map, and nothing lent is free.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from abstrag.collection.entries import NamedThing, ThingName
from abstrag.collection.homonyms import is_short
from abstrag.collection.map import CollectionMap
from abstrag.collection.map_referents import MergePath
from abstrag.collection.merge import DocumentTerm
from abstrag.config import COST_UNIT, OMEGA
from abstrag.indexing.build_map import merged_edges, merged_terms
from abstrag.language.words import term_id
from abstrag.model.index import DocumentIndex
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, Term, TermKind

OPERATOR: Final = "lend"
_ENTITY: Final = f"{TermKind.ENTITY.value}:"
_CONFIDENCE: Final = 0.5  # as for any guessed alias


def lent(index: DocumentIndex, collection: CollectionMap) -> DocumentIndex:
    """Return an index with what the other documents of its collection lend it."""
    found = list(_loans(collection, index))
    if not found:
        return index
    terms = merged_terms([*index.map.terms, *(term for term, _ in found)])
    edges = merged_edges([*index.map.edges, *(edge for _, edge in found)])
    return replace(index, map=replace(index.map, terms=terms, edges=edges))


def lend(collection: CollectionMap, index: DocumentIndex) -> tuple[Edge, ...]:
    """Return the edges that other documents lend to one, one a step, the cheapest of each."""
    return merged_edges(edge for _, edge in _loans(collection, index))


def _loans(collection: CollectionMap, index: DocumentIndex) -> Iterator[tuple[Term, Edge]]:
    """Go through what is lent, as a term a query may ask for and the edge that serves it."""
    own = {term.id for term in index.map.terms}
    for node in collection.nodes(index.document.id):
        entry = collection.entry(node)
        known = {name.term for name in entry.names} | {said.term for said in entry.classes}
        for other, path in collection.informative_paths(node).items():
            said = collection.entry(other)
            fresh = [
                name
                for name in said.names
                if name.form not in entry.forms and not collection.is_contested(name.form)
            ]
            for term, licence in (*_names(fresh, said, entry, own), *_classes(said, entry)):
                if term.id not in known:
                    yield term, _edge(node, term.id, path, _cited(other, path, licence))


def _names(
    fresh: Iterable[ThingName], said: NamedThing, entry: NamedThing, own: set[str]
) -> Iterator[tuple[Term, Licence]]:
    """Go through what else another document calls a thing, in the words by which it says so."""
    for name in fresh:
        licence = name.licence or _naming(said, entry)
        kind, _, key = name.term.partition(":")
        kinds = {TermKind(kind)}
        if is_short(name.surface):  # a query may take it for the one or for the other
            kinds |= {TermKind.ENTITY, TermKind.CONCEPT}
        # what the map calls an entity a query takes for one, and would pass the concept by
        if term_id(TermKind.CONCEPT, key) in own:
            kinds.discard(TermKind.ENTITY)
        for one in sorted(kinds):
            yield Term(term_id(one, key), one, name.surface, (name.surface,)), licence


def _naming(said: NamedThing, entry: NamedThing) -> Licence:
    """Return the words that tie a document's own name for a thing to one both documents use."""
    stated = [name for name in said.names if name.licence is not None]
    shared = [name for name in stated if name.form in entry.forms]
    for name in shared or stated:
        assert name.licence is not None
        return name.licence
    return Licence(LicenceKind.TEXT, said.label)


def _classes(said: NamedThing, entry: NamedThing) -> Iterator[tuple[Term, Licence]]:
    """Go through the classes of a named thing; of what else a noun is, only its text can tell."""
    if not (said.term.startswith(_ENTITY) and entry.term.startswith(_ENTITY)):
        return
    for one in said.classes:
        kind = TermKind(one.term.partition(":")[0])
        yield Term(one.term, kind, one.label), one.licence


def _cited(other: DocumentTerm, path: MergePath, licence: Licence) -> Licence:
    """Read the licence aloud: who says what in which words, and why that counts here.

    The place is part of the words, for a licence's span points into the document searched.
    """
    words = " ".join(licence.reference.split())
    at = "" if licence.span is None else f" at {licence.span.start}"
    says = f"{other.document} states “{words}”{at}"
    if licence.kind is LicenceKind.BACKGROUND:
        says = f"{other.document} knows from {words}"
    because = " and ".join(dict.fromkeys(step.why for step in path.steps))
    through = "".join(f", through {node.document}" for node in path.through)
    return Licence(LicenceKind.COLLECTION, f"{says}, and {because}{through}")


def _edge(node: DocumentTerm, target: str, path: MergePath, licence: Licence) -> Edge:
    weight = OMEGA[Family.EXPRESSION]
    return Edge(
        source=node.term,
        target=target,
        relation=Relation.IMPLIES,
        family=Family.EXPRESSION,
        operator=OPERATOR,
        weight=weight,
        distance=round(path.units / COST_UNIT - weight, 4),
        truth_preserving=False,
        confidence=_CONFIDENCE,
        licence=licence,
    )
