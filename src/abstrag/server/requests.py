"""What clients send: the bodies of requests, checked once, at the border."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat

from abstrag.collection.filters import Filters
from abstrag.collection.results import CollectionRanking, DocumentHits
from abstrag.config import TAU_MAX
from abstrag.model.document import Genre
from abstrag.model.ranking import Ranking
from abstrag.model.record import record
from abstrag.model.term import Family, Relation
from abstrag.search.query.question import MAX_QUERY_CHARS
from abstrag.search.relevance import Preset
from abstrag.server.views import GRID

MOST_HITS: Final = 200

QueryText = Annotated[str, Field(min_length=1, max_length=MAX_QUERY_CHARS)]
Hits = Annotated[int, Field(ge=1, le=MOST_HITS)]
Budget = Annotated[FiniteFloat, Field(ge=0.0, le=TAU_MAX)]
Cost = Annotated[FiniteFloat, Field(ge=0.0, le=TAU_MAX)]
Name = Annotated[str, Field(min_length=1, max_length=500)]
SegmentName = Annotated[str, Field(min_length=1, max_length=100)]


@record
class Weighing:
    """How the factors make a relevance: match^a · utility^b · exp(−c · gap)."""

    match_power: float  # a
    utility_power: float  # b
    gap_rate: float  # c

    @classmethod
    def of(cls, preset: Preset) -> Weighing:
        """Take the powers of a preset."""
        return cls(preset.match_power, preset.utility_power, preset.gap_rate)


@record
class TimedRanking(Ranking):
    """A ranking, how its factors were weighed, and how many milliseconds it took."""

    ms: float = 0.0
    weighing: Weighing | None = None


@record
class TimedCollectionRanking(CollectionRanking):
    """A ranking over a collection, its hits by document, and how many milliseconds it took."""

    ms: float = 0.0
    groups: tuple[DocumentHits, ...] = ()
    weighing: Weighing | None = None


class RequestBody(BaseModel):
    """A body with no fields but its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class EdgeIn(RequestBody):
    """An edge to add; its ends are term ids, or labels that name one term."""

    source: Name
    target: Name
    relation: Relation = Relation.IMPLIES
    family: Family
    weight: Cost | None = None
    distance: Cost | None = None


class RankedIn(RequestBody):
    """How to rank, where it is not to be as on the command line.

    Edges may be tried out without adding them. The same fields in another request rank the same.
    """

    preset: str | None = None
    judge: bool | None = None  # None: as the preset says
    edges: Annotated[list[EdgeIn], Field(max_length=100)] = []
    removed: Annotated[list[Name], Field(max_length=1000)] = []


class BudgetedIn(RankedIn):
    """How to rank, and the budget for bridges."""

    tau: Budget | None = None  # None: the server's


class SearchIn(BudgetedIn):
    """A question or a claim."""

    query: QueryText
    k: Hits = 10


class ExplainIn(BudgetedIn):
    """A question and the segment whose trace is wanted."""

    query: QueryText
    segment: SegmentName


class WhyNotIn(BudgetedIn):
    """A question and the passage that is missed: its words or its segment."""

    query: QueryText
    passage: Annotated[str, Field(min_length=1, max_length=20_000)] | None = None
    segment: SegmentName | None = None
    k: Hits = 10


class QueryIn(RankedIn):
    """A question at every budget."""

    query: QueryText


class SweepIn(RankedIn):
    """A question and the budgets to rank it under."""

    query: QueryText
    k: Hits = 10
    taus: Annotated[list[Budget], Field(min_length=1, max_length=200)] = list(GRID)


class CompareIn(BudgetedIn):
    """A question for everybody."""

    query: QueryText
    k: Hits = 10


class AskIn(BudgetedIn):
    """A question to answer in words."""

    question: QueryText


class RefineIn(BudgetedIn):
    """A question to learn from."""

    query: QueryText


class StepIn(RequestBody):
    """A step from a word of the text to a word of the query."""

    asked: Name
    said: Name
    family: Family | None = None


class FeedbackIn(RequestBody):
    """What a person says about the hits for a question, and about single steps."""

    query: QueryText
    good: Annotated[list[SegmentName], Field(max_length=100)] = []
    bad: Annotated[list[SegmentName], Field(max_length=100)] = []
    right: Annotated[list[StepIn], Field(max_length=100)] = []
    wrong: Annotated[list[StepIn], Field(max_length=100)] = []


class ManyIn(RequestBody):
    """Which documents are asked, and how to rank; what is None does not matter, or is as usual."""

    tau: Budget | None = None
    preset: str | None = None
    judge: bool | None = None
    since: Name | None = None  # a year, a month or a day
    until: Name | None = None
    source: Name | None = None  # a folder, a file, or a pattern such as *.pdf
    genre: Genre | None = None
    folder: Name | None = None  # its name, or its path on the server
    title: Name | None = None  # words of it

    @property
    def filters(self) -> Filters:
        """Which documents are asked."""
        return Filters(self.since, self.until, self.source, self.genre, self.folder, self.title)


class CollectionIn(ManyIn):
    """A question or a claim, and which documents it is put to."""

    query: QueryText


class AskAllIn(ManyIn):
    """A question to answer in words from all documents."""

    question: QueryText


class SearchAllIn(CollectionIn):
    """A question or a claim for all documents."""

    k: Hits = 10


class ExplainOneOfManyIn(CollectionIn):
    """A question and the segment whose trace is wanted, named DOCUMENT:SEGMENT."""

    segment: Name


class WhyNotOfManyIn(CollectionIn):
    """A question and the passage that is missed: its words, or a document and its segment."""

    passage: Annotated[str, Field(min_length=1, max_length=20_000)] | None = None
    document: Name | None = None
    segment: SegmentName | None = None
    k: Hits = 10


class RevertIn(RequestBody):
    """The policy change to take back."""

    id: Name
