"""What search returns: hits with their factors, and the trace that says why each is there."""

from __future__ import annotations

from enum import StrEnum

from abstrag.model.document import Span
from abstrag.model.html import curve_html, hit_html, ranking_html, why_not_html
from abstrag.model.index import FieldValue
from abstrag.model.query import Bridge, Literal, Query
from abstrag.model.record import Result, record
from abstrag.model.segment import SegmentRole
from abstrag.model.term import Edge, Family, Frame, Mention


@record
class LiteralTrace:
    """How a segment meets one literal by itself, or how far it is from meeting it.

    `distance` is d_j, the cost of the cheapest way, and None when there is none at all. `bridges`
    are that way's, from the literal outwards, and `via` is the term it ends at; the term stands in
    the segment at `mention` or is lifted from the context as `context`; `alternatives` are other
    terms of the segment that do as well. `frame` is the telling of the event whose slots counted.
    """

    literal: Literal
    met: bool
    distance: float | None = None
    via: str | None = None
    alternatives: tuple[str, ...] = ()
    bridges: tuple[Bridge, ...] = ()
    mention: Mention | None = None
    context: FieldValue | None = None
    frame: Frame | None = None


@record
class WordTrace:
    """One content word of a query, and the word of a segment that meets it best.

    `price` lies in [0, 4], 0 for the very word; it is met where the price is within what the family
    of the step allows. `said` is the word that comes nearest, "" where none does, at `said_start`
    to `said_end` of the segment's text, of its header number `header`, or of its section's name.
    `family` names the step and is None for the very word. `units` is what the word adds to the
    score, in 1/10,000.
    """

    asked: str
    start: int
    end: int
    price: float
    weight: float
    met: bool = False
    said: str = ""
    family: Family | None = None
    other_sense: bool = False
    said_start: int | None = None
    said_end: int | None = None
    header: int | None = None
    in_section: bool = False
    literal: int | None = None  # the condition it belongs to
    units: int = 0


@record
class ScoreLine:
    """One addend of a score: −log of it, in 1/10,000; all lines of a hit add up to its score."""

    name: str
    units: int


@record
class GapTrace:
    """The gap between a query and a segment, taken apart.

    `bridge_cost` is b*, the cost of the cheapest set of bridges that meets all literals, and
    `bridges` is that set; there is neither when some literal cannot be met at any budget.
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
class Hit(Result):
    """One segment of a ranking: what it says, exactly, the three factors, and the trace."""

    document: str
    position: int
    segment: str
    quote: str
    span: Span
    role: SegmentRole
    section: tuple[str, ...]
    page: int | None
    match: float
    utility: float
    gap: float
    relevance: float
    trace: GapTrace
    judgement: float | None = None  # what the judge said, where it was asked
    reading: str = ""  # the trace in one sentence, for a person
    text: str = ""  # the quote as it reads: lines joined, hyphens at line ends healed
    doubt: str = ""  # why the quote itself may be wrong: words of a scan that were hard to read
    headers: tuple[str, ...] = ()  # of a table's row or cell: they count as said by it
    cell: str | None = None  # the address of a cell, row or table in its sheet: B7, A7:D7
    words: tuple[WordTrace, ...] = ()  # how each word of the query is met, where words are aligned
    lines: tuple[ScoreLine, ...] = ()  # what the score is made of, where words are aligned

    @property
    def under(self) -> str:
        """What a row or cell of a table stands under, for a person; "" for any other text."""
        return f"under {' · '.join(self.headers)}" if self.headers else ""

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return hit_html(self)


@record
class Ranking(Result):
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
    absent: float | None = None  # how likely the document holds no evidence; None: not calibrated

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return ranking_html(self)


@record
class LeftOut:
    """A hit that does not go with a support set, and why."""

    position: int
    reason: str


@record
class SupportSet(Result):
    """Hits that belong together, best first: the fewest that together meet a query.

    `joined_by` says of each hit why it joined those before it, `unmet` names the conditions that
    none of them meets. Under a preset of the paper they are hits that can be believed together: no
    literal is bound to two entities or times among them, and the bridges of all of them, each paid
    once, stay within the budget.
    """

    hits: tuple[Hit, ...]
    bindings: tuple[str | None, ...]  # for each literal: the entity or time it is bound to
    bridges: tuple[Bridge, ...]
    cost: float
    left_out: tuple[LeftOut, ...] = ()
    joined_by: tuple[str, ...] = ()
    unmet: tuple[str, ...] = ()


@record
class Entry:
    """A segment and the least budget at which it meets the whole query."""

    segment: str
    position: int
    tau: float


@record
class BudgetStep:
    """What one budget reaches: segments that meet all, that hold anything, and the best share."""

    tau: float
    reachable: int
    touched: int
    best_share: float


@record
class BudgetCurve(Result):
    """What every budget reaches.

    `covers` is the least τ at which one segment meets all literals, `covers_together` the least at
    which each literal is met by some segment.
    """

    query: Query
    document: str
    entries: tuple[Entry, ...]
    steps: tuple[BudgetStep, ...]
    covers: float | None
    covers_together: float | None

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return curve_html(self)


class Cause(StrEnum):
    """Why a passage is not among the first hits, in the order in which it can get lost."""

    FOUND = "found"
    NOT_IN_DOCUMENT = "not in the document"
    NOT_A_SEGMENT = "not a segment of its own"
    OUT_OF_SCOPE = "outside the sections asked for"
    NO_COUNTERPART = "a literal has no counterpart"
    NO_EDGE = "no licensed edge"
    OVER_TAU = "cost over the budget"
    OVER_TOGETHER = "affordable one by one, over the budget together"
    OUTRANKED = "outranked"


@record
class Counterfactual:
    """The least change that would lift a passage: an edge to add, or a budget to grant."""

    description: str
    rank_before: int | None
    rank_after: int
    edge: Edge | None = None
    tau: float | None = None


@record
class WhyNot(Result):
    """The one first cause why a passage is not among the first hits, and what would change it."""

    passage: str
    cause: Cause
    detail: str
    segment: str | None = None
    rank: int | None = None
    literal: str | None = None  # the one that stands in the way
    by: float | None = None  # how much the budget is overrun, or the factor falls short
    rival: str | None = None  # the segment that outranks it
    counterfactual: Counterfactual | None = None
    hit: Hit | None = None

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return why_not_html(self)
