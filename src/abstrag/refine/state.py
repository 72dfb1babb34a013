"""Ξ = ⟨operators, programs, map, judges⟩: what a search runs under, as a value with a hash."""

from __future__ import annotations

from hashlib import sha256

from abstrag.language.keys import key
from abstrag.model.patch import HypernymRestriction, Precedent, PromptEdit, StepPrice, TimeWindow
from abstrag.model.record import record, to_json
from abstrag.model.term import Edge, Family


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
    """M: what the abstraction map has gained over the one the chain built."""

    edges: tuple[Edge, ...] = ()
    surfaces: tuple[tuple[str, str], ...] = ()  # what the text calls a term, the term


@record
class State:
    """Ξ. Frozen: refinement moves from one state to the next, and every earlier one still stands.

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
