"""P(type | role): how probable it is that the holder of an office is of a type (appendix C).

Local mode assumes a distance for every office; with a model to ask, the surprisal takes its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from abstrag.errors import ModelError
from abstrag.indexing.layers import Concepts
from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.prompted.plan import Plan, planned
from abstrag.indexing.prompted.reader import StageReader
from abstrag.indexing.shortfall import ReplyFault
from abstrag.llm.budget import room
from abstrag.llm.prompt import Prompt
from abstrag.llm.shape import Percent
from abstrag.model.distances import intent_distance
from abstrag.model.record import record
from abstrag.model.term import Edge, Family, Licence, LicenceKind

_EACH: Final = 40  # tokens of a reply for a pair
_PAIRS: Final = 40  # in one call, where the program sets no limit of its own


@record
class Probability:
    """P(type | role) of one pair."""

    pair: str
    probability: Percent
    context_sensitive: bool


@record
class Probabilities:
    """The reply of the program `role_probability`."""

    probabilities: tuple[Probability, ...]


def with_probabilities(
    draft: IndexDraft, layer: Concepts, prompt: Prompt, reader: StageReader
) -> Concepts:
    """Return the layer with the distance of every intent edge that a model was told about."""
    edges = _intent(layer)
    chunks = _chunks(edges, prompt)
    inputs = [_inputs(draft, layer, chunk) for chunk in chunks]
    replies = prompt.ask_many(Probabilities, inputs, max_tokens=room(inputs, _EACH))
    priced: dict[tuple[str, str], Edge] = {}
    where = {m.term: m.segment for m in reversed(layer.mentions)}
    for chunk, reply in zip(chunks, replies, strict=True):
        if isinstance(reply, ModelError):
            reader.miss({where[e.source] for e in chunk if e.source in where}, reply)
            continue
        asked = {f"p{n}": edge for n, edge in enumerate(chunk, 1)}
        for said in reply.value.probabilities:
            edge = asked.get(said.pair.strip())
            if edge is None:
                reader.drop(ReplyFault.UNKNOWN_ID)
                continue
            distance = intent_distance(said.probability, context_sensitive=said.context_sensitive)
            priced[edge.source, edge.target] = replace(
                edge,
                distance=round(distance, 4),
                licence=Licence(LicenceKind.MODEL, reply.call, edge.licence.span),
            )
    kept = (
        priced.get((e.source, e.target), e) if e.family is Family.INTENT else e for e in layer.edges
    )
    return replace(layer, edges=tuple(kept))


def plan_intent(draft: IndexDraft, layer: Concepts, prompt: Prompt) -> Plan:
    """Say how many calls that takes."""
    chunks = _chunks(_intent(layer), prompt)
    inputs = [_inputs(draft, layer, chunk) for chunk in chunks]
    return planned(prompt, inputs, each=_EACH)


def _intent(layer: Concepts) -> list[Edge]:
    return [e for e in layer.edges if e.family is Family.INTENT and not e.truth_preserving]


def _chunks(edges: Sequence[Edge], prompt: Prompt) -> list[Sequence[Edge]]:
    most = prompt.limit("probabilities", _PAIRS)
    return [edges[i : i + most] for i in range(0, len(edges), most)]


def _inputs(draft: IndexDraft, layer: Concepts, edges: Sequence[Edge]) -> dict[str, Any]:
    labels = {t.id: t.label for t in layer.terms}
    pairs = [
        {"id": f"p{n}", "role": labels[e.source], "type": labels[e.target]}
        for n, e in enumerate(edges, 1)
    ]
    return {"about": draft.document.title, "pairs": pairs}
