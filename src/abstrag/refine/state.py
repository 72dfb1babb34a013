"""Ξ = ⟨operators, programs, map, judges⟩: what a search runs under, as a value with a hash."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from hashlib import sha256
from typing import Final

from abstrag.config import OMEGA
from abstrag.language.words import key
from abstrag.model.patch import (
    Alias,
    ClauseCost,
    DeltaKind,
    EffectKind,
    EventMapping,
    HypernymRestriction,
    Patch,
    Precedent,
    PromptEdit,
    RoleRule,
    Stage,
    StepPrice,
    TimeWindow,
)
from abstrag.model.record import record, to_json
from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation, TermKind


@record
class Programs:
    """Π: the prompt programs in force and the policy of the query side, as far as it is changed.

    All fields are sorted, so that the order in which patches came does not matter.
    """

    base: str = ""  # hash of the program files that edits apply to
    edits: tuple[PromptEdit, ...] = ()
    budgets: tuple[tuple[str, float], ...] = ()  # key of a query, its τ
    weights: tuple[tuple[Family, float], ...] = ()  # a family, its ω
    windows: tuple[TimeWindow, ...] = ()
    restrictions: tuple[HypernymRestriction, ...] = ()
    steps: tuple[StepPrice, ...] = ()
    precedents: tuple[Precedent, ...] = ()

    def budget(self, query: str) -> float | None:
        """Return the τ granted to a query, if one is."""
        return dict(self.budgets).get(key(query))


@record
class MapChanges:
    """M: what was added to the abstraction map that the chain built."""

    edges: tuple[Edge, ...] = ()
    surfaces: tuple[tuple[str, str], ...] = ()  # what the text calls a term, the term


@record
class State:
    """Ξ. Frozen: refinement makes new states, and earlier ones stay valid.

    `operators` names the chain, its Background and its settings; `judges` the evaluators. Nothing
    in this package can change either, least of all the evaluators.
    """

    operators: str
    programs: Programs = Programs()
    map: MapChanges = MapChanges()
    judges: str = ""

    @property
    def hash(self) -> str:
        """Equal states have equal hashes, on every machine."""
        return sha256(to_json(self).encode()).hexdigest()


# Which stages a kind of change belongs to; anywhere else it is unclassified and changes nothing.
STAGES: Final = {
    DeltaKind.ALIAS: (Stage.MAP,),
    DeltaKind.HYPERNYM_RESTRICTION: (Stage.MAP, Stage.QUERY),
    DeltaKind.ROLE_RULE: (Stage.MAP,),
    DeltaKind.EVENT_MAPPING: (Stage.EVENT,),
    DeltaKind.TIME_WINDOW: (Stage.CONTEXT, Stage.QUERY),
    DeltaKind.CLAUSE_COST: (Stage.QUERY,),
    DeltaKind.STEP_PRICE: (Stage.MAP, Stage.EVENT),
    DeltaKind.PRECEDENT: (Stage.QUERY,),
}
_NAMES: Final = tuple(f"{k.value}:" for k in (TermKind.ENTITY, TermKind.TIME, TermKind.QUANTITY))
_OPERATOR: Final = {
    Family.EXPRESSION: "alias",
    Family.CONCEPT: "synonym",
    Family.INTENT: "role",
    Family.EVENT: "event",
}


def classify(patch: Patch) -> EffectKind:
    """Tell what a patch would do; a delta at a stage that is not its own does nothing."""
    delta = patch.delta
    if delta is None:
        return EffectKind.NO_OP if patch.edit is None else EffectKind.PROMPT_EDIT
    if patch.stage not in STAGES[delta.kind]:
        return EffectKind.NO_OP
    match delta:
        case Alias() | RoleRule() | EventMapping():
            return EffectKind.EDGE_ADDITION
        case HypernymRestriction() | Precedent():
            return EffectKind.QUERY_REWRITE
        case TimeWindow():
            return EffectKind.TIME_WINDOW
        case ClauseCost():
            return EffectKind.QUERY_REWRITE if delta.family is None else EffectKind.BRIDGE_WEIGHT
        case StepPrice():
            return EffectKind.BRIDGE_WEIGHT


def route(state: State, patch: Patch) -> State:
    """Return the state after a patch; an unclassified one leaves it as it is."""
    if classify(patch) is EffectKind.NO_OP:
        return state
    programs, changes = state.programs, state.map
    match patch.delta:
        case Alias() | RoleRule() | EventMapping():
            changes = _mapped(changes, patch)
        case HypernymRestriction() as delta:
            restrictions = _with(programs.restrictions, delta)
            programs = replace(programs, restrictions=restrictions)
        case TimeWindow() as delta:
            others = [w for w in programs.windows if w.target != delta.target]
            programs = replace(programs, windows=_with(others, delta))
        case ClauseCost() as delta:
            programs = _priced(programs, delta)
        case StepPrice() as delta:
            same = (key(delta.asked), key(delta.said))
            kept = [s for s in programs.steps if (key(s.asked), key(s.said)) != same]
            programs = replace(programs, steps=_with(kept, delta))
        case Precedent() as delta:
            case = delta.document, key(delta.question)
            elsewhere = [p for p in programs.precedents if (p.document, key(p.question)) != case]
            rest = sorted((*elsewhere, delta), key=lambda p: (p.document, p.question))
            programs = replace(programs, precedents=tuple(rest))
    if patch.edit is not None:
        programs = replace(programs, edits=_with(programs.edits, patch.edit))
    return replace(state, programs=programs, map=changes)


def replayed(initial: State, patches: Iterable[Patch]) -> State:
    """Return the state after several patches; leaving one out is how it is taken back."""
    return reduce(route, patches, initial)


def edge_of(patch: Patch) -> Edge | None:
    """Return the edge a patch adds; None when it adds none."""
    delta = patch.delta
    if not isinstance(delta, Alias | RoleRule | EventMapping) or delta.source == delta.target:
        return None
    family = family_of(delta)
    return Edge(
        source=delta.source,
        target=delta.target,
        relation=Relation.IMPLIES,
        family=family,
        operator=_OPERATOR[family],
        weight=OMEGA[family],
        distance=delta.distance,
        truth_preserving=False,  # a patch is a guess that did no harm, never a premise
        confidence=0.5,
        licence=Licence(LicenceKind.PATCH, patch.id),
    )


def family_of(delta: Alias | RoleRule | EventMapping) -> Family:
    """Return the bridge family of an added edge: it decides what the edge and the patch cost."""
    if isinstance(delta, RoleRule):
        return Family.INTENT
    if isinstance(delta, EventMapping):
        return Family.EVENT
    named = delta.surface is not None or delta.target.startswith(_NAMES)
    return Family.EXPRESSION if named else Family.CONCEPT


def _mapped(changes: MapChanges, patch: Patch) -> MapChanges:
    edge, delta = edge_of(patch), patch.delta
    if edge is not None:
        changes = replace(changes, edges=_with(changes.edges, edge))
    if isinstance(delta, Alias) and delta.surface is not None:
        surfaces = sorted({*changes.surfaces, (key(delta.surface), delta.source)})
        changes = replace(changes, surfaces=tuple(surfaces))
    return changes


def _priced(programs: Programs, delta: ClauseCost) -> Programs:
    if delta.query is not None and delta.tau is not None:
        budgets = {**dict(programs.budgets), key(delta.query): delta.tau}
        return replace(programs, budgets=tuple(sorted(budgets.items())))
    assert delta.family is not None
    assert delta.weight is not None
    weights = {**dict(programs.weights), delta.family: delta.weight}
    return replace(programs, weights=tuple(sorted(weights.items())))


def _with(known: Iterable[object], added: object) -> tuple:  # type: ignore[type-arg]
    """Add a record to a sorted tuple of its kind, once."""
    return tuple(sorted({*known, added}, key=to_json))
