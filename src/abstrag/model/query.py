"""φ_q: a query as weighted, typed literals; the bridges it may use and the clauses they make."""

from __future__ import annotations

from enum import StrEnum
from math import isclose, isfinite

from abstrag.config import COST_UNIT, MAX_LITERALS
from abstrag.errors import InputError
from abstrag.model.record import record
from abstrag.model.term import Edge, Family, Interval, Licence, Quantity, Relation


class LiteralKind(StrEnum):
    """What a literal asks for."""

    ENTITY = "entity"
    CONCEPT = "concept"
    ROLE = "role"
    EVENT = "event"
    TIME = "time"
    QUANTITY = "quantity"
    RELATION = "relation"


@record
class Literal:
    """One condition of a query.

    `terms` are the terms that meet it as asked, at no cost: its own term, the senses of a word,
    every time inside the asked interval. None at all means that nothing known is called so, and
    the literal stays unmet. `slots` are the arguments an event has to fill. `negated` shows in the
    trace and never makes the literal unmet, for what refutes a claim is evidence too.
    """

    kind: LiteralKind
    label: str
    terms: tuple[str, ...]
    weight: float
    negated: bool = False
    slots: tuple[str, ...] = ()
    interval: Interval | None = None
    quantity: Quantity | None = None


@record
class AnswerForm:
    """How the answer is to be written. It says nothing about what is evidence.

    "Answer in one word, as an investor would, in USD millions; if not stated, say so."
    """

    length: str | None = None  # "one word", "a number"
    unit: str | None = None  # "USD millions"
    decimals: int | None = None
    count: int | None = None  # how many things are to be named: "three main companies"
    reader: str | None = None  # as whom, or for whom: "an investor"
    says_when_missing: bool = False  # an answer that is not there is to be reported as such


@record
class Query:
    """A conjunction of literals whose weights sum to 1, and what else the question says.

    `scope` names the sections or roles to look in and is a filter; `answer_type` is for the judge.
    `sources` names the parts of the document to rely on ("cash flow statement"), as the asker calls
    them. They hide nothing, for headings seldom are what askers call them. `answer_form` is what
    the asker says about the answer, `subject` the number of the literal the question is about.
    """

    text: str
    literals: tuple[Literal, ...]
    answer_type: str | None = None
    window: Interval | None = None
    scope: tuple[str, ...] = ()
    topic: str = ""  # what a question about the whole document looks for; empty where it is none
    glossed: str = ""  # the text with other names of what it asks for; empty where there are none
    sources: tuple[str, ...] = ()
    answer_form: AnswerForm | None = None
    subject: int | None = None
    figures: tuple[str, ...] = ()  # names under which a report prints what is asked for
    widened: str = ""  # why a scope that was asked for does not hold; empty where it does
    notice: str = ""  # why it is searched for by words and vectors alone; empty where it is not

    @property
    def reading(self) -> str:
        """What similarities and judges read: the wording, with other names where it has some."""
        return self.glossed or self.wording

    @property
    def wording(self) -> str:
        """The text whose words are looked for."""
        return self.topic or self.text

    def __post_init__(self) -> None:
        if len(self.literals) > MAX_LITERALS:
            raise InputError(
                f"query {self.text[:60]!r} has {len(self.literals)} literals",
                hint=f"keep the {MAX_LITERALS} heaviest and let their weights sum to 1",
            )
        for literal in self.literals:
            if not (isfinite(literal.weight) and literal.weight >= 0):
                raise InputError(f"literal {literal.label!r} has weight {literal.weight!r}")
        total = sum(literal.weight for literal in self.literals)
        if self.literals and not isclose(total, 1.0, abs_tol=1e-6):
            raise InputError(
                f"the literal weights of query {self.text[:60]!r} sum to {total:.6f}",
                hint="divide each weight by the sum",
            )


@record
class Bridge:
    """One assumption put to use: evidence for `source` is taken as evidence for `target`.

    Most bridges are edges of the map, the Background or the lexicon. Two are not, and belong to one
    literal in one segment: leaning on the lifted context, and event slots that are not cleanly
    filled. Equal bridges are one assumption and are paid once.
    """

    family: Family
    relation: Relation
    operator: str
    source: str
    target: str
    weight: float  # ω
    distance: float  # δ
    cost: float
    truth_preserving: bool
    licence: Licence | None = None
    literal: int | None = None
    segment: int | None = None
    details: tuple[str, ...] = ()  # for slots: what is wrong with which of them

    @property
    def units(self) -> int:
        """The cost as an integer in 1/10,000."""
        return round(self.cost * COST_UNIT)

    @classmethod
    def over(cls, edge: Edge) -> Bridge:
        """Put an edge to use."""
        return cls(
            family=edge.family,
            relation=edge.relation,
            operator=edge.operator,
            source=edge.source,
            target=edge.target,
            weight=edge.weight,
            distance=edge.distance,
            cost=edge.cost,
            truth_preserving=edge.truth_preserving,
            licence=edge.licence,
        )


@record
class Clause:
    """One affordable alternative of a query.

    `terms` has one entry for each literal: the term that stands in for it, or None where the
    literal stays as asked. `bridges` is the cheapest set that allows all of it, each paid once.
    """

    terms: tuple[str | None, ...]
    bridges: tuple[Bridge, ...]
    cost: float
