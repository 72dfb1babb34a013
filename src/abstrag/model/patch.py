"""u = ⟨t, Δ_t, π_edit⟩: what failed, where, and the least typed change that is tried (section 3.6).

A failure says which query went wrong on which segment and why. A patch names the one stage it
edits; its delta is of one kind, small enough to be read, costed and taken back.
"""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256
from math import isfinite
from typing import Annotated, Literal

from pydantic import Field

from abstrag.config import MAX_GAP, TAU_MAX
from abstrag.errors import InputError
from abstrag.model.query import Bridge, Query
from abstrag.model.record import record, to_json
from abstrag.model.term import Family, Interval, Licence


class Stage(StrEnum):
    """S = {π_con, π_M, π_event, π_query}: the stages that a patch may edit."""

    CONTEXT = "context"  # construction and lifting of context
    MAP = "map"  # names, synonyms and classes in the abstraction map
    EVENT = "event"  # event abstraction
    QUERY = "query"  # controlled expansion on the query side


class DeltaKind(StrEnum):
    """The paper's six kinds of change, and two of ours: the price of a step, and a precedent."""

    ALIAS = "alias"
    HYPERNYM_RESTRICTION = "hypernym_restriction"
    ROLE_RULE = "role_rule"
    EVENT_MAPPING = "event_mapping"
    TIME_WINDOW = "time_window"
    CLAUSE_COST = "clause_cost"
    STEP_PRICE = "step_price"
    PRECEDENT = "precedent"


class EffectKind(StrEnum):
    """What an accepted patch does to the state; the sixth does nothing."""

    EDGE_ADDITION = "edge_addition"
    QUERY_REWRITE = "query_rewrite"
    BRIDGE_WEIGHT = "bridge_weight"
    TIME_WINDOW = "time_window"
    PROMPT_EDIT = "prompt_edit"
    NO_OP = "no_op"


@record
class Alias:
    """Evidence at `source` may serve a query for `target`: another name, or a word for the same.

    Where a `surface` is given, the places of the text that read so become mentions of `source`;
    with `source` the same as `target` that is all there is to it.
    """

    source: str
    target: str
    distance: float  # δ
    surface: str | None = None
    kind: Literal[DeltaKind.ALIAS] = DeltaKind.ALIAS


@record
class HypernymRestriction:
    """The costed step from `source` up to `target` is no longer taken."""

    source: str
    target: str
    kind: Literal[DeltaKind.HYPERNYM_RESTRICTION] = DeltaKind.HYPERNYM_RESTRICTION


@record
class RoleRule:
    """Whoever holds the office or is of the class `source` may stand for the type `target`."""

    source: str
    target: str
    distance: float
    kind: Literal[DeltaKind.ROLE_RULE] = DeltaKind.ROLE_RULE


@record
class EventMapping:
    """Telling the event `source` may be read as telling the event `target`."""

    source: str
    target: str
    distance: float = 0.0
    kind: Literal[DeltaKind.EVENT_MAPPING] = DeltaKind.EVENT_MAPPING


@record
class TimeWindow:
    """Who asks for the time `target` is also served, at a price, by times inside `window`."""

    target: str
    window: Interval
    kind: Literal[DeltaKind.TIME_WINDOW] = DeltaKind.TIME_WINDOW


@record
class ClauseCost:
    """Another price: ω of one family (`family`, `weight`), or τ of one query (`query`, `tau`)."""

    family: Family | None = None
    weight: float | None = None
    query: str | None = None
    tau: float | None = None
    kind: Literal[DeltaKind.CLAUSE_COST] = DeltaKind.CLAUSE_COST

    def __post_init__(self) -> None:
        weighs = self.family is not None and self.weight is not None
        grants = self.query is not None and self.tau is not None
        given = (self.family, self.weight, self.query, self.tau)
        if weighs == grants or sum(value is not None for value in given) != 2:
            raise InputError(
                "a clause cost delta sets one price",
                hint="give family and weight, or query and tau",
            )
        number = self.weight if self.weight is not None else self.tau
        assert number is not None
        if not (isfinite(number) and 0 < number <= TAU_MAX):
            raise InputError(
                f"a clause cost delta sets {number!r}",
                hint=f"a price lies above 0 and is at most {TAU_MAX:g}",
            )


@record
class StepPrice:
    """What it costs to take the word `said` of a text for the word `asked` of a query.

    A step that somebody refused costs at least `at_least`, one that was confirmed at most
    `at_most`. Both words stand for all their inflections. Where a `family` is given, a floor holds
    for steps of that family alone.
    """

    asked: str
    said: str
    at_least: float = 0.0
    at_most: float = MAX_GAP
    family: Family | None = None
    kind: Literal[DeltaKind.STEP_PRICE] = DeltaKind.STEP_PRICE

    def __post_init__(self) -> None:
        if not (0.0 <= self.at_least <= self.at_most <= MAX_GAP):
            raise InputError(
                f"the step {self.said!r} → {self.asked!r} costs {self.at_least!r} to "
                f"{self.at_most!r}",
                hint=f"prices lie between 0 and {MAX_GAP:g}, the lower one first",
            )

    @property
    def refuses(self) -> bool:
        """True for a floor, false for a ceiling."""
        return self.at_least > 0.0


@record
class Precedent:
    """What a document said where a question was asked of it: in which direction, in which words.

    Whoever asks nearly the same of a document of the same genre looks a little further that way.
    Vectors are those of one model, as base64 of little-endian half floats: `asked` is the
    question's, `told` the mean of the evidence less the mean of what ranks best and is none.
    """

    question: str
    document: str  # hash of its text
    segments: tuple[str, ...]  # that were called evidence
    model: str
    asked: str
    told: str
    words: tuple[tuple[str, float, float], ...] = ()  # the share of evidence, of the others with it
    beside: float = 0.0  # the share of evidence that stands beside other evidence
    opened: float | None = None  # of evidence in lists, the share whose opening is evidence too
    kind: Literal[DeltaKind.PRECEDENT] = DeltaKind.PRECEDENT

    def __hash__(self) -> int:
        """Of what tells two apart; hundreds of them are hashed with every search."""
        return hash((self.document, self.question, self.told))


Delta = Annotated[
    Alias
    | HypernymRestriction
    | RoleRule
    | EventMapping
    | TimeWindow
    | ClauseCost
    | StepPrice
    | Precedent,
    Field(discriminator="kind"),
]


class EditOp(StrEnum):
    """What may be done to the two mutable slots of a prompt program."""

    ADD_RULE = "add_rule"
    ADD_FEW_SHOT = "add_few_shot"
    REMOVE_RULE = "remove_rule"
    REMOVE_FEW_SHOT = "remove_few_shot"


@record
class PromptEdit:
    """π_edit: an edit of a program's rules or examples, forked from the file `base_hash` names.

    `text` is the rule, or the example as JSON. The empty hash means: whatever is there now.
    """

    program: str
    op: EditOp
    text: str
    base_hash: str = ""


@record
class GapTerm:
    """How much of a gap one family of bridges makes up."""

    family: Family
    cost: float
    share: Annotated[float, Field(ge=0.0, le=1.0)]


@record
class OverExpansion:
    """A bridge that led only to segments of the top K that the evaluator takes for no evidence."""

    source: str
    target: str
    family: Family
    segments: int


@record
class Diagnosis:
    """κ: the structured trace of a failure, and its reading for a person."""

    unmet: tuple[str, ...] = ()  # labels of the literals no affordable bridge meets
    dominant: tuple[GapTerm, ...] = ()  # the dearest family first
    ambiguities: tuple[str, ...] = ()  # mentions the canonical form leaves open
    over_expansion: tuple[OverExpansion, ...] = ()
    over_budget_by: float | None = None  # each literal affordable, all together not
    nearby: tuple[str, ...] = ()  # literals that only headings or sentences before it name
    reading: str = ""


@record
class Failure:
    """f = ⟨q, s, φ_q, A*, Gap, κ⟩: one query that is not served, and the segment nearest to it."""

    query: str
    segment: str | None
    canonical: Query
    bridges: tuple[Bridge, ...]
    gap: float
    diagnosis: Diagnosis
    refused: tuple[str, ...] = ()  # what was tried for it so far, and why the gate said no


@record
class Patch:
    """A change of one stage: a delta, a prompt edit, or both; with its licence, cost and size.

    `size` counts the rules, edges or examples it adds, withdraws or changes.
    """

    stage: Stage
    delta: Delta | None
    licence: Licence
    cost: float
    size: int = 1
    edit: PromptEdit | None = None

    @property
    def id(self) -> str:
        """Equal patches have equal ids, whoever proposes them."""
        return sha256(to_json(self).encode()).hexdigest()[:16]
