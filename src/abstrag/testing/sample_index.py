"""An index small enough to read, with something in every field.

For tests of whatever keeps, sends or shows an index.
"""

from __future__ import annotations

from typing import Final

from abstrag.model.background import Background, EventRule
from abstrag.model.document import (
    Block,
    BlockKind,
    Cell,
    Document,
    Genre,
    Metadata,
    OffsetMap,
    Quote,
    Span,
    Table,
)
from abstrag.model.index import (
    Ambiguity,
    Context,
    DocumentIndex,
    FieldValue,
    Profile,
    SegmentRecord,
    Statement,
    StatementKind,
    Utility,
)
from abstrag.model.segment import Granularity, Segment, SegmentKind, SegmentRole
from abstrag.model.term import (
    AbstractionMap,
    Edge,
    Family,
    Frame,
    Interval,
    Licence,
    LicenceKind,
    Mention,
    Quantity,
    Relation,
    Slot,
    Term,
    TermKind,
)

TEXT: Final = "Anna visited Basel on 14 May. She paid 12 francs."


def sample_index(
    document_id: str = "trip", *, title: str = "A trip", edges: int = 2
) -> DocumentIndex:
    """Return an index of two sentences; `edges` makes it as large as a test needs."""
    return DocumentIndex(
        document=_document(document_id, title),
        genre=Genre.NEWS,
        granularity=Granularity.SENTENCE,
        records=(
            _record(0, Span(0, 29), Context(time=(FieldValue("anchor", "2024-05-14", 1.0),))),
            _record(
                1,
                Span(30, 49),
                Context(
                    entities=(FieldValue("She", "Anna", 0.9, Span(0, 4), "entity:anna"),),
                    scope=(
                        FieldValue("section", "Travel", 1.0),
                        FieldValue("caption", "Costs", 0.5, Span(30, 33)),
                    ),
                    evidence=(FieldValue("profile", "established", 0.8),),
                ),
            ),
        ),
        map=AbstractionMap(
            terms=(
                Term("entity:anna", TermKind.ENTITY, "Anna", ("Anna", "She")),
                Term(
                    "quantity:12 franc", TermKind.QUANTITY, "12 francs", (), None, Quantity(12, "F")
                ),
                Term(
                    "time:2024-05-14",
                    TermKind.TIME,
                    "14 May",
                    ("14 May",),
                    Interval("2024-05-14", "2024-05-14"),
                ),
            ),
            edges=tuple(_edge(i) for i in range(edges)),
        ),
        mentions=(
            Mention("entity:anna", 0, 0, 4),
            Mention("time:2024-05-14", 0, 22, 28),
            Mention("entity:anna", 1, 0, 3),
            Mention("concept:unlisted", 1, 0, 4, header=0),
        ),
        frames=(Frame("event:visit", 0, 5, 12, (Slot("who", 0, 4, "entity:anna", coerced=True),)),),
        ambiguities=(Ambiguity(1, 0, 3, "two candidates", ("Anna", "Basel")),),
        fingerprint="f1",
        background=Background(
            aliases={"Anna": ("A.",)}, events=(EventRule("visit", "meeting"),), name="trip.toml"
        ),
    )


def _document(document_id: str, title: str) -> Document:
    table = Table((Cell(0, 0, "Cost", Span(30, 33), header=True),), Quote("Costs", Span(30, 33)))
    blocks = (
        Block(BlockKind.PARAGRAPH, TEXT, Span(0, 49), OffsetMap(((0, 0),)), ("Travel",), 1),
        Block(BlockKind.TABLE, "", Span(30, 49), OffsetMap(((0, 30),)), (), 1, None, table),
    )
    metadata = Metadata(date="2024-05-15", date_span=Span(22, 28), source="trip.txt", pages=1)
    return Document(document_id, title, TEXT, blocks, metadata)


def _record(number: int, span: Span, context: Context) -> SegmentRecord:
    text = span.of(TEXT)
    segment = Segment(
        id=f"s{number}",
        kind=SegmentKind.SENTENCE,
        role=SegmentRole.TEXT,
        text=text,
        span=span,
        alignment=OffsetMap(((0, span.start), (5, span.start + 5))),
        block=0,
        section=("Travel", "Öffentlich"),
        page=1,
        headers=(Quote("Cost", Span(30, 33)),) if number else (),
        row=number or None,
        column=None,
    )
    statement = Statement(StatementKind.CLAIM, Profile.ESTABLISHED, 0.8, 0, len(text), "paid")
    utility = Utility(0.9, 0.5, 0.4, 1.0)
    return SegmentRecord(segment, text.replace("She", "Anna"), context, (statement,), utility)


def _edge(number: int) -> Edge:
    return Edge(
        source="entity:anna",
        target=f"concept:traveller {number}",  # not a term of the map
        relation=Relation.IMPLIES,
        family=Family.CONCEPT,
        operator="abs_concept",
        weight=0.65,
        distance=0.1 + number,
        truth_preserving=number % 2 == 0,
        confidence=0.75,
        licence=Licence(LicenceKind.TEXT, "visited", Span(5, 12) if number % 2 else None),
    )
