"""Terms, edges and the abstraction map M_D they form; mentions tie terms to segments."""

from __future__ import annotations

from enum import StrEnum

from abstrag.config import COST_UNIT
from abstrag.model.document import Span
from abstrag.model.record import Unit, record


class TermKind(StrEnum):
    """What a term stands for; also the first part of its id."""

    ENTITY = "entity"
    CONCEPT = "concept"
    ROLE = "role"
    EVENT = "event"
    TIME = "time"
    QUANTITY = "quantity"


class Family(StrEnum):
    """The bridge family of an edge: which kind of assumption it is."""

    EXPRESSION = "expression"  # same thing, other words
    CONCEPT = "concept"  # other level of abstraction
    INTENT = "intent"  # this instance stands for that class
    EVENT = "event"  # this trace stands for that event
    CONTEXT = "context"  # the document says it elsewhere
    RELATED = "related"  # a word that was learned to be near, and nothing more is known (ours)

    @property
    def revisable(self) -> bool:
        """True when the bridge rests on typicality and may be withdrawn."""
        return self in (Family.INTENT, Family.EVENT)


class Relation(StrEnum):
    """How an edge may be used."""

    EQUIVALENT = "equivalent"  # both ways; names of one thing
    IMPLIES = "implies"  # from source to target only, never merged


class LicenceKind(StrEnum):
    """Where the right to use an edge comes from."""

    TEXT = "text"  # the document says so, at `span`
    BACKGROUND = "background"  # an entry of the Background file
    LEXICON = "lexicon"  # WordNet or an inventory that ships with the package
    MODEL = "model"  # a recorded model call
    PATCH = "patch"  # an accepted refinement patch
    COLLECTION = "collection"  # another document of the collection, which the reference quotes


@record
class Licence:
    """What justifies an edge: where it comes from, in words and, for text, in place."""

    kind: LicenceKind
    reference: str  # quoted words, Background key, synset, call id or patch id
    span: Span | None = None


@record
class Interval:
    """Days from `start` to `end`, both included, as ISO dates."""

    start: str
    end: str

    def contains(self, other: Interval) -> bool:
        """True when the other interval lies wholly inside this one."""
        return self.start <= other.start and other.end <= self.end

    def overlaps(self, other: Interval) -> bool:
        """True when the two share a day."""
        return self.start <= other.end and other.start <= self.end


@record
class Quantity:
    """A number with its unit; the unit is empty for a bare count."""

    value: float
    unit: str = ""


@record
class Term:
    """A canonical node: everything the document calls by these surfaces is this one thing.

    The id is `kind:key`, for instance `entity:anthropic` or `time:2024-05-14`; a WordNet sense is
    a concept or event whose key is the sense's name, for instance `concept:car.n.01`.
    """

    id: str
    kind: TermKind
    label: str
    surfaces: tuple[str, ...] = ()
    interval: Interval | None = None
    quantity: Quantity | None = None


@record
class Edge:
    """One licensed step between terms: evidence at `source` may serve a query for `target`."""

    source: str
    target: str
    relation: Relation
    family: Family
    operator: str
    weight: float
    distance: float
    truth_preserving: bool
    confidence: Unit
    licence: Licence

    @property
    def cost(self) -> float:
        """ω + δ, or nothing when the step is truth-preserving."""
        return self.units / COST_UNIT

    @property
    def units(self) -> int:
        """The cost as an integer in 1/10,000."""
        return 0 if self.truth_preserving else round((self.weight + self.distance) * COST_UNIT)


@record
class Mention:
    """A term in a segment, at `segment.text[start:end]`, or in its header number `header`."""

    term: str
    segment: int
    start: int
    end: int
    header: int | None = None


@record
class Slot:
    """One argument of an event: `who`, `whom`, `when` or `where`.

    It is coerced when an office stands for its organization ("the CTO of Anthropic").
    """

    name: str
    start: int
    end: int
    term: str | None = None
    coerced: bool = False


@record
class Frame:
    """An event as a segment tells it: the trigger, its arguments, and how far to trust it."""

    event: str
    segment: int
    start: int
    end: int
    slots: tuple[Slot, ...] = ()
    artifact: bool = False  # only a thing such an event leaves behind; the edge from it pays
    negated: bool = False


@record
class AbstractionMap:
    """M_D: the terms of a document and the edges it licenses, both sorted by id."""

    terms: tuple[Term, ...]
    edges: tuple[Edge, ...]

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        from abstrag.model.html import map_html  # it knows the families, so it stands above us

        return map_html(self)
