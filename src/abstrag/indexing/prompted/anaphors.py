"""Anaphors that a model resolved, as terms of their own with an edge that pays.

"She" in segment 12 is a term that only segment 12 mentions; the edge from it to Marie Curie is an
expression bridge with the model's call as its licence. So a search for Marie Curie finds the
segment at a price, and nobody takes the link for something the text says. The terms join the map
after the rules have read the document, so that the rules read it as they do without a model.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from abstrag.config import DELTA_EXPR_ALIAS, OMEGA
from abstrag.indexing.abstraction.nominals import class_key
from abstrag.indexing.coref import ResolveCoreference
from abstrag.indexing.layers import Concepts, Entities, Link, SuggestedLink
from abstrag.indexing.operator import Draft
from abstrag.language.keys import key, term_id
from abstrag.language.places import overlaps
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Mention, Relation, Term, TermKind


def with_anaphors(draft: Draft, layer: Concepts) -> Concepts:
    """Return the layer with a term, a mention and an edge for every suggested link."""
    assert draft.coreference is not None
    assert draft.entities is not None
    terms: dict[str, Term] = {}
    mentions: list[Mention] = []
    edges: list[Edge] = []
    for suggested in draft.coreference.suggested:
        link = suggested.link
        if _at(draft.entities.mentions, link.segment, link.start, link.end) is not None:
            continue  # the rules know what stands there
        anaphor, meant = _anaphor(draft, link), _meant(draft, draft.entities, link)
        terms |= {t.id: t for t in (anaphor, meant)}
        mentions.append(Mention(anaphor.id, link.segment, link.start, link.end))
        edges.append(_edge(anaphor, meant, suggested))
    known = {t.id for t in layer.terms}
    return replace(
        layer,
        terms=(*layer.terms, *(t for i, t in sorted(terms.items()) if i not in known)),
        mentions=(*layer.mentions, *mentions),
        edges=(*layer.edges, *edges),
    )


def _anaphor(draft: Draft, link: Link) -> Term:
    segment = draft.segments[link.segment]
    words = segment.text[link.start : link.end]
    # the label names the place, so that no query for "the company" takes this one for it
    where = f"@{segment.id} {link.start}"
    term = term_id(TermKind.ENTITY, f"{key(words)} {where}")
    return Term(term, TermKind.ENTITY, f"{words} {where}")


def _meant(draft: Draft, known: Entities, link: Link) -> Term:
    """Return the entity that stands at the antecedent, or the concept its words name."""
    start, end = link.antecedent_start, link.antecedent_end
    entity = _at(known.mentions, link.antecedent_segment, start, end)
    if entity is not None:
        return next(t for t in known.terms if t.id == entity)
    words = draft.segments[link.antecedent_segment].text[start:end]
    return Term(term_id(TermKind.CONCEPT, class_key(words)), TermKind.CONCEPT, words)


def _edge(anaphor: Term, meant: Term, suggested: SuggestedLink) -> Edge:
    """Price a link: how a pronoun is spelt says nothing, so doubt takes the place of spelling."""
    confidence = suggested.link.confidence
    return Edge(
        source=anaphor.id,
        target=meant.id,
        relation=Relation.IMPLIES,
        family=Family.EXPRESSION,
        operator=ResolveCoreference.name,
        weight=OMEGA[Family.EXPRESSION],
        distance=round(DELTA_EXPR_ALIAS + 1.0 - confidence, 4),
        truth_preserving=False,
        confidence=confidence,
        licence=Licence(LicenceKind.MODEL, suggested.call),
    )


def _at(mentions: Iterable[Mention], segment: int, start: int, end: int) -> str | None:
    for mention in mentions:
        here = mention.segment == segment and mention.header is None
        if here and overlaps((mention.start, mention.end), (start, end)):
            return mention.term
    return None
