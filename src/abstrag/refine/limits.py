"""What refinement may spend, and what no patch may do whatever it gains."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations
from typing import Final

from abstrag.config import DELTA_INTENT_CAP, OMEGA
from abstrag.errors import InputError
from abstrag.model.index import DocumentIndex
from abstrag.model.patch import (
    Alias,
    ClauseCost,
    EffectKind,
    EventMapping,
    Patch,
    Precedent,
    PromptEdit,
    RoleRule,
    Stage,
    StepPrice,
    TimeWindow,
)
from abstrag.model.record import record
from abstrag.model.term import Family, TermKind
from abstrag.policy.edit import denied
from abstrag.policy.location import MUTABLE
from abstrag.refine.overlay import away, mentions_of, reach
from abstrag.refine.state import State, classify
from abstrag.search.document_words import forms
from abstrag.search.lexical import words
from abstrag.search.query.operators import interval_of

_KINDS: Final = tuple(f"{kind.value}:" for kind in TermKind)


@record
class RefineBudget:
    """How much may be tried: cycles for each trigger, attempts a cycle, and the patches' size."""

    cycles: int = 3  # SPEC: max_cycles per trigger
    attempts: int = 12  # patches put to the gate in one cycle
    size: int = 4  # rules, edges or examples in one patch
    total: int = 64  # patches a document may carry

    def __post_init__(self) -> None:
        for name in ("cycles", "attempts", "size", "total"):
            if getattr(self, name) < 1:
                raise InputError(f"the budget's {name} is {getattr(self, name)}, at least 1")


def objection(
    patch: Patch, state: State, document: DocumentIndex, *, budget: RefineBudget, carried: int = 0
) -> str | None:
    """Return why a patch is refused before the gate; None when it is not."""
    if classify(patch) is EffectKind.NO_OP:
        return f"unclassified: stage {patch.stage.value} has no such change"
    if patch.size > budget.size:
        return f"too large: it changes {patch.size} things, at most {budget.size} are allowed"
    if carried >= budget.total:
        return f"the document carries {carried} patches already"
    if patch.edit is not None and (reason := _edit_objection(patch.edit, patch.stage)):
        return reason
    match patch.delta:
        case Alias() | RoleRule() | EventMapping() as delta:
            return _edge_objection(delta, document)
        case TimeWindow() as delta:
            return _window_objection(delta)
        case StepPrice() as delta:
            return _step_objection(delta)
        case Precedent():
            return "a precedent comes of what documents have shown, and is not proposed"
        case ClauseCost(family=Family() as family, weight=float() as weight):
            return _order_objection({**dict(state.programs.weights), family: weight})
    return None


def _edit_objection(edit: PromptEdit, stage: Stage) -> str | None:
    """Return why a prompt edit would never be accepted by the policy store, or None."""
    owner = MUTABLE.get(edit.program)
    if owner is None:
        return f"the program {edit.program!r} may not be edited"
    if owner is not stage:
        return f"{edit.program!r} belongs to stage {owner.value}, not {stage.value}"
    if (offence := denied(edit.text)) is not None:
        return f"the prompt edit is denied: {offence}"
    return None


def _edge_objection(delta: Alias | RoleRule | EventMapping, document: DocumentIndex) -> str | None:
    surface = delta.surface if isinstance(delta, Alias) else None
    if not delta.target.startswith(_KINDS) or not delta.source.startswith(_KINDS):
        return f"{delta.source!r} → {delta.target!r} does not lead from term to term"
    if not 0.0 <= delta.distance <= DELTA_INTENT_CAP:
        return f"a distance of {delta.distance:g} lies outside 0 to {DELTA_INTENT_CAP:g}"
    if surface is not None:
        if not mentions_of([(surface, delta.source)], document.segments):
            return f"the text never says {surface!r}"
        return None
    if delta.source == delta.target:
        return "a term is itself already"
    if all(term.id != delta.source for term in document.map.terms):
        return f"the document has no term {delta.source!r}"
    return None


def _step_objection(delta: StepPrice) -> str | None:
    if not words(delta.asked) or not words(delta.said):
        return f"{delta.said!r} → {delta.asked!r} is no step from word to word"
    named = [w for w in (delta.asked, delta.said) if any(c.isdigit() for c in w)]
    if named and not delta.refuses:
        return f"{named[0]!r} is a number, and a number is met by itself alone"
    if not set(forms(delta.asked)).isdisjoint(forms(delta.said)) and not delta.refuses:
        return f"{delta.said!r} is the word {delta.asked!r} itself"
    return None


def _window_objection(delta: TimeWindow) -> str | None:
    asked = interval_of(delta.target)
    if asked is None:
        return f"{delta.target!r} is no time"
    try:
        wide = max(
            away(type(asked)(end, end), asked) for end in (delta.window.start, delta.window.end)
        )
    except ValueError:
        return f"{delta.window.start!r} to {delta.window.end!r} are no days"
    if not delta.window.contains(asked):
        return "the window does not hold the time asked for"
    if wide > reach(asked):
        return f"the window is widened by {wide} days, at most {reach(asked)} are allowed"
    return None


def _order_objection(changed: Mapping[Family, float]) -> str | None:
    """Refuse weights that make a riskier family cheaper than a safer one."""
    weights = {family: changed.get(family, OMEGA[family]) for family in Family}
    for low, high in permutations(Family, 2):
        if OMEGA[low] < OMEGA[high] and not weights[low] < weights[high]:
            return f"{low.value} would no longer be cheaper than {high.value}"
    return None
