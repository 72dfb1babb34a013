"""Suggestions of compiled Background sources as costed edges of a document's map.

They lead from what the document says to what a query may call it. None merges anything, none is
truth-preserving, each pays and names the line that licenses it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Final

from abstrag.backgrounds.fact import folded
from abstrag.backgrounds.touched import Suggestion, SuggestionKind, TouchedFacts
from abstrag.config import OMEGA
from abstrag.indexing.abstraction.nominals import class_key
from abstrag.indexing.build_map import merged_edges, merged_terms
from abstrag.language.words import key, term_id
from abstrag.lexicon.roles import roles
from abstrag.model.index import DocumentIndex
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, Term, TermKind

OPERATOR: Final = "background"
_THINGS: Final = (TermKind.ENTITY, TermKind.CONCEPT)


def with_sources(index: DocumentIndex, part: TouchedFacts) -> DocumentIndex:
    """Return an index with what the sources suggest, and with the lines that state the rest."""
    terms, edges = list(index.map.terms), [_cited(e, part) for e in index.map.edges]
    forms, known = _forms(index), frozenset(term.id for term in terms)
    for suggestion in part.suggestions:
        for source in forms.get(suggestion.form, ()):
            for target in _targets(source, suggestion, known):
                if target.id != source.id:
                    terms.append(target)
                    edges.append(_edge(source.id, target.id, suggestion))
    made = replace(index.map, terms=merged_terms(terms), edges=merged_edges(edges))
    return replace(index, map=made)


def _forms(index: DocumentIndex) -> Mapping[str, tuple[Term, ...]]:
    """Return the terms that segments mention, by every form they are written in."""
    mentioned = {mention.term for mention in index.mentions}
    found: defaultdict[str, dict[str, Term]] = defaultdict(dict)
    for term in index.map.terms:
        if term.id in mentioned and term.kind in (*_THINGS, TermKind.ROLE):
            own = term.id.partition(":")[2]
            for surface in (own, term.label, *term.surfaces):
                found[folded(surface)][term.id] = term
    return {form: tuple(terms[one] for one in sorted(terms)) for form, terms in found.items()}


def _targets(source: Term, suggestion: Suggestion, known: Collection[str]) -> Iterator[Term]:
    """Yield the terms that a query may make of a name.

    A query takes for an entity what the map calls one. So a word that the document itself uses as
    a concept must not become the name of an entity here, or queries would pass the word by.
    """
    name = suggestion.target
    if suggestion.says is SuggestionKind.ROLE:
        if source.kind is TermKind.ROLE:
            role = roles().find(key(name))
            yield _term(TermKind.ROLE, role.key if role else key(name), name)
        return
    if source.kind not in _THINGS:
        return
    concept, entity = _term(TermKind.CONCEPT, _class_key(name), name), _entity(name)
    name_only = name[1:] != name[1:].lower() or any(c.isdigit() for c in name)
    if name != name.lower() and (entity.id in known or concept.id not in known):
        yield entity
    if suggestion.says is SuggestionKind.CLASS or not name_only or concept.id in known:
        yield concept


def _entity(name: str) -> Term:
    made = _term(TermKind.ENTITY, key(name), name)
    surfaces = (name, f"{name}s") if name.isupper() else (name,)  # an NSAID, two NSAIDs
    return replace(made, surfaces=surfaces)


def _term(kind: TermKind, key_: str, label: str) -> Term:
    return Term(term_id(kind, key_), kind, label)


@lru_cache(maxsize=8192)
def _class_key(name: str) -> str:
    return class_key(name)


def _edge(source: str, target: str, suggestion: Suggestion) -> Edge:
    alias = suggestion.says is SuggestionKind.ALIAS
    family = Family.EXPRESSION if alias else Family.CONCEPT
    return Edge(
        source=source,
        target=target,
        relation=Relation.IMPLIES,
        family=family,
        operator=OPERATOR,
        weight=OMEGA[family],
        distance=suggestion.distance,
        truth_preserving=False,
        confidence=suggestion.confidence,
        licence=Licence(LicenceKind.BACKGROUND, suggestion.reference),
    )


def _cited(edge: Edge, part: TouchedFacts) -> Edge:
    """Let the licence of a premise name the line it stands on."""
    if edge.licence.kind is not LicenceKind.BACKGROUND:
        return edge
    entry = edge.licence.reference.removeprefix(f"{part.background.name}: ")
    for end in (edge.source, edge.target):
        origin = part.origins.get((entry, folded(end.partition(":")[2])))
        if origin is not None:
            return replace(edge, licence=replace(edge.licence, reference=f"{origin}: {entry}"))
    return edge
