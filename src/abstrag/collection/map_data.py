"""The map of a collection as plain data, for JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from abstrag.collection.map import CollectionMap, Thing, forms_of_text
from abstrag.collection.merge import Cited, DocumentTerm, Merge, Refusal
from abstrag.model.record import to_data


def map_data(collection: CollectionMap, term: str | None = None) -> dict[str, Any]:
    """Return the whole map, or what concerns the bearers of one name."""
    wanted = None if term is None else forms_of_text(term)
    things: list[dict[str, Any]] = []
    merges: list[dict[str, Any]] = []
    refusals: list[dict[str, Any]] = []
    for related in collection.related(term):  # once, for each is worked out anew
        things += map(thing_data, related.things(wanted))
        merges += map(merge_data, related.merges)
        refusals += map(refusal_data, related.refusals)
    made: dict[str, Any] = {
        "documents": list(collection.documents),
        "things": things,
        "merges": merges,
        "refusals": refusals,
    }
    if term is None:
        for found in collection.events():
            if isinstance(found, Merge):
                merges.append(merge_data(found))
            else:
                refusals.append(refusal_data(found))
        made["concepts"] = {one: list(where) for one, where in collection.concepts.items()}
    return made


def thing_data(thing: Thing) -> dict[str, Any]:
    """Return a thing with the documents that name it and what each says of it."""
    return {
        "label": thing.label,
        "kinds": list(thing.kinds),
        "nodes": _nodes(thing.nodes),
        "names": [{"name": one, "stated": _cited(by)} for one, by in thing.names],
        "classes": [{"class": one, "stated": _cited(by)} for one, by in thing.classes],
    }


def merge_data(merge: Merge) -> dict[str, Any]:
    """Return a merge with its cost and its licence."""
    return {
        "name": merge.name,
        "family": merge.family.value,
        "cost": merge.cost,
        "weight": merge.weight,
        "distance": merge.distance,
        "truth_preserving": merge.truth_preserving,
        "evidence": merge.evidence.name.lower(),
        "why": merge.why,
        "members": _nodes(merge.members),
        "licences": _cited(merge.licences),
    }


def refusal_data(refusal: Refusal) -> dict[str, Any]:
    """Return what stays apart, and why."""
    sides = [{"label": side.label, "members": _nodes(side.members)} for side in refusal.sides]
    return {"name": refusal.name, "reason": refusal.reason, "sides": sides}


def _nodes(nodes: Iterable[DocumentTerm]) -> list[dict[str, str]]:
    return [{"document": node.document, "term": node.term} for node in nodes]


def _cited(licences: Iterable[Cited]) -> list[Any]:
    return [to_data(cited) for cited in licences]
