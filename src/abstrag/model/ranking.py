"""What search returns: hits with their factors, and the trace that says why each is there."""

from __future__ import annotations

from abstrag.model.context import FieldValue
from abstrag.model.query import Bridge, Literal, Query
from abstrag.model.record import record
from abstrag.model.segment import Role
from abstrag.model.span import Span
from abstrag.model.term import Frame, Mention


@record
class LiteralTrace:
    """How a segment meets one literal by itself, or how far it is from meeting it.

    `distance` is d_j, the cost of the cheapest way, and None when there is none at all. `bridges`
    are that way's, from the literal outwards, and `via` is the term it ends at; the term stands in
    the segment at `mention` or is lifted from the context as `context`. `frame` is the reading of
    the event whose slots were counted.
    """

    literal: Literal
    met: bool
    distance: float | None = None
    via: str | None = None
    bridges: tuple[Bridge, ...] = ()
    mention: Mention | None = None
    context: FieldValue | None = None
    frame: Frame | None = None


@record
class GapTrace:
    """The gap between a query and a segment, taken apart.

    `bridge_cost` is b*, the cost of the cheapest set of bridges that meets all literals, and
    `bridges` is that set; both are empty when some literal cannot be met at any affordable cost.
    `over_budget_by` says by how much b* overruns the budget although each literal is affordable.
    """

    literals: tuple[LiteralTrace, ...]
    bridges: tuple[Bridge, ...]
    bridge_cost: float | None
    reachable: bool
    over_budget_by: float | None
    share: float  # of the literals' weight that is met
    soft: float
    gap: float


@record
class Hit:
    """One segment of a ranking: what it says, exactly, the three factors, and the trace."""

    document: str
    position: int
    segment: str
    quote: str
    span: Span
    role: Role
    section: tuple[str, ...]
    page: int | None
    match: float
    utility: float
    gap: float
    relevance: float
    trace: GapTrace
    judgement: float | None = None  # what the judge said, where it was asked
    reading: str = ""  # the trace in one sentence, for a person


@record
class Ranking:
    """The best segments of a document for a query, best first, and what it took to find them."""

    query: Query
    document: str
    tau: float
    preset: str
    hits: tuple[Hit, ...]
    segments: int  # of the document
    touched: int  # that hold something of the query
    judgements: int = 0
    judgements_avoided: int = 0
