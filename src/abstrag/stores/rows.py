"""How an index becomes rows, and rows become the same index again.

Nothing here knows which database the rows go to. What queries look for has a column of its own; a
column that holds a whole record holds its JSON; what is only ever read as a whole is compressed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from abstrag.collector import collector_paused
from abstrag.model.background import Background
from abstrag.model.context import Context, Field, FieldValue, Statement
from abstrag.model.document import Document, Genre
from abstrag.model.index import Ambiguity, DocumentIndex, SegmentRecord, Utility
from abstrag.model.record import from_json, to_json
from abstrag.model.segment import Granularity, Segment, SegmentKind, SegmentRole
from abstrag.model.span import OffsetMap, Quote, Span
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
    Term,
    TermKind,
)
from abstrag.stores.tables import CONTEXTS, EDGES, POSTINGS, SEGMENTS, TERMS, Row, StoreTable

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Packed:
    """An index as a database keeps it: rows of tables, and columns of its own row."""

    rows: Mapping[StoreTable, Sequence[Row]]
    genre: str
    granularity: str
    fingerprint: str
    background: bytes
    document: bytes
    frames: bytes
    ambiguities: bytes


class Squeezed(bytes):
    """Bytes that are compressed already, as a worker hands them to the process that writes."""


def squeeze(data: bytes) -> Squeezed:
    """Compress bytes, once; fast rather than small, for indexing waits on it."""
    return data if isinstance(data, Squeezed) else Squeezed(zlib.compress(data, 1))


def unsqueeze(data: bytes) -> bytes:
    """Give back what was squeezed."""
    return zlib.decompress(data)


def pack(index: DocumentIndex) -> Packed:
    """Turn an index into rows."""
    ids, numbers = _number_terms(index)
    return Packed(
        rows={
            SEGMENTS: [_segment_row(i, r) for i, r in enumerate(index.records)],
            CONTEXTS: [
                row
                for i, r in enumerate(index.records)
                for row in _context_rows(i, r.context, numbers)
            ],
            TERMS: [
                *(_term_row(i, term) for i, term in enumerate(index.map.terms)),
                *((i, ids[i], *(None,) * 7) for i in range(len(index.map.terms), len(ids))),
            ],
            EDGES: [_edge_row(i, edge, numbers) for i, edge in enumerate(index.map.edges)],
            POSTINGS: [
                (i, numbers[m.term], m.segment, m.start, m.end, m.header)
                for i, m in enumerate(index.mentions)
            ],
        },
        genre=index.genre.value,
        granularity=index.granularity.value,
        fingerprint=index.fingerprint,
        background=_squeezed(index.background),
        document=_squeezed(index.document),
        frames=_squeezed(index.frames),
        ambiguities=_squeezed(index.ambiguities),
    )


def unpack(packed: Packed) -> DocumentIndex:
    """Turn rows into the index they were made from."""
    with collector_paused():  # looking doubles the time
        return _unpack(packed)


def _unpack(packed: Packed) -> DocumentIndex:
    rows = packed.rows
    ids = [row[1] for row in rows[TERMS]]
    contexts = _contexts(rows[CONTEXTS], ids)
    return DocumentIndex(
        document=_unsqueezed(Document, packed.document),
        genre=Genre(packed.genre),
        granularity=Granularity(packed.granularity),
        records=_segment_records(rows[SEGMENTS], contexts),
        map=AbstractionMap(
            terms=_terms([row for row in rows[TERMS] if row[2] is not None]),
            edges=tuple(_edge(row, ids) for row in rows[EDGES]),
        ),
        mentions=tuple(
            Mention(ids[term], segment, start, stop, header)
            for _, term, segment, start, stop, header in rows[POSTINGS]
        ),
        frames=_unsqueezed(tuple[Frame, ...], packed.frames),
        ambiguities=_unsqueezed(tuple[Ambiguity, ...], packed.ambiguities),
        fingerprint=packed.fingerprint,
        background=unpack_background(packed.background),
    )


def unpack_background(data: bytes) -> Background:
    """Read the Background an index was made with, without the rest of the index."""
    return _unsqueezed(Background, data)


def mention(term: str, row: Row) -> Mention:
    """Read a mention of a term from segment, start, stop and header."""
    segment, start, stop, header = row
    return Mention(term, segment, start, stop, header)


def _number_terms(index: DocumentIndex) -> tuple[list[str], dict[str, int]]:
    """Number the map's terms, then every other id that something refers to."""
    ids = [term.id for term in index.map.terms]
    numbers = {term_id: i for i, term_id in enumerate(ids)}
    for term_id in _named_terms(index):
        if term_id not in numbers:
            numbers[term_id] = len(ids)
            ids.append(term_id)
    return ids, numbers


def _named_terms(index: DocumentIndex) -> Iterator[str]:
    for edge in index.map.edges:
        yield edge.source
        yield edge.target
    for each in index.mentions:
        yield each.term
    for r in index.records:
        for _, value in r.context.values():
            if value.term is not None:
                yield value.term


def _segment_row(position: int, r: SegmentRecord) -> Row:
    s, u = r.segment, r.utility
    return (
        position,
        s.id,
        s.kind.value,
        s.role.value,
        s.text,
        s.span.start,
        s.span.end,
        to_json(s.alignment),
        s.block,
        json.dumps(s.section, ensure_ascii=False),
        s.page,
        to_json(s.headers),
        s.row,
        s.column,
        r.canonical,
        to_json(r.statements),
        u.value,
        u.layout,
        u.novelty,
        u.assertedness,
    )


def _segment_records(
    rows: Sequence[Row], contexts: Mapping[int, Context]
) -> tuple[SegmentRecord, ...]:
    """Read segments; a column of JSON is read at once, for a call costs more than a value."""
    alignments = _all_from_json(list[OffsetMap], [row[7] for row in rows])
    sections = _all_loaded([row[9] for row in rows])
    headers = _all_from_json(list[tuple[Quote, ...]], [row[11] for row in rows])
    statements = _all_from_json(list[tuple[Statement, ...]], [row[15] for row in rows])
    return tuple(
        SegmentRecord(
            segment=Segment(
                id=row[1],
                kind=_SEGMENT_KINDS[row[2]],
                role=_ROLES[row[3]],
                text=row[4],
                span=Span(row[5], row[6]),
                alignment=alignment,
                block=row[8],
                section=tuple(section),
                page=row[10],
                headers=header,
                row=row[12],
                column=row[13],
            ),
            canonical=row[14],
            context=contexts.get(row[0], _NO_CONTEXT),
            statements=said,
            utility=Utility(*row[16:]),
        )
        for row, alignment, section, header, said in zip(
            rows, alignments, sections, headers, statements, strict=True
        )
    )


def _all_from_json(kind: type[list[T]], texts: Sequence[str]) -> list[T]:
    return from_json(kind, f"[{','.join(texts)}]")


def _all_loaded(texts: Sequence[str]) -> list[Any]:
    loaded: list[Any] = json.loads(f"[{','.join(texts)}]")
    return loaded


_NO_CONTEXT = Context()


def _context_rows(segment: int, context: Context, numbers: Mapping[str, int]) -> Iterator[Row]:
    for field in Field:
        for position, v in enumerate(getattr(context, field.value)):
            term = None if v.term is None else numbers[v.term]
            start, stop = _ends(v.span)
            yield segment, field.value, position, v.name, v.value, v.confidence, start, stop, term


def _contexts(rows: Sequence[Row], ids: Sequence[str]) -> dict[int, Context]:
    """Gather the rows of each segment; a segment without rows is not in the result."""
    found: dict[int, dict[str, list[FieldValue]]] = {}
    for segment, field, _, name, value, confidence, start, stop, number in rows:
        term = None if number is None else ids[number]
        found.setdefault(segment, {}).setdefault(field, []).append(
            FieldValue(name, value, confidence, _span(start, stop), term)
        )
    return {
        segment: Context(**{field: tuple(values) for field, values in fields.items()})
        for segment, fields in found.items()
    }


def _term_row(number: int, term: Term) -> Row:
    days = (term.interval.start, term.interval.end) if term.interval else (None, None)
    amount = (term.quantity.value, term.quantity.unit) if term.quantity else (None, None)
    surfaces = json.dumps(term.surfaces, ensure_ascii=False)
    return (number, term.id, term.kind.value, term.label, surfaces, *days, *amount)


# rows come by the thousand, and looking a member up is faster than calling its class
_SEGMENT_KINDS = {member.value: member for member in SegmentKind}
_ROLES = {member.value: member for member in SegmentRole}
_TERM_KINDS = {member.value: member for member in TermKind}
_RELATIONS = {member.value: member for member in Relation}
_FAMILIES = {member.value: member for member in Family}
_LICENCES = {member.value: member for member in LicenceKind}


def _terms(rows: Sequence[Row]) -> tuple[Term, ...]:
    surfaces = _all_loaded([row[4] for row in rows])
    return tuple(
        Term(
            id=term_id,
            kind=_TERM_KINDS[kind],
            label=label,
            surfaces=tuple(said),
            interval=None if first_day is None else Interval(first_day, last_day),
            quantity=None if unit is None else Quantity(amount, unit),
        )
        for (_, term_id, kind, label, _, first_day, last_day, amount, unit), said in zip(
            rows, surfaces, strict=True
        )
    )


def _edge_row(position: int, e: Edge, numbers: Mapping[str, int]) -> Row:
    start, stop = _ends(e.licence.span)
    return (
        position,
        numbers[e.source],
        numbers[e.target],
        e.relation.value,
        e.family.value,
        e.operator,
        e.weight,
        e.distance,
        e.truth_preserving,
        e.confidence,
        e.licence.kind.value,
        e.licence.reference,
        start,
        stop,
    )


def _edge(row: Row, ids: Sequence[str]) -> Edge:
    (_, source, target, relation, family, operator, weight, distance) = row[:8]
    (truth_preserving, confidence, licence, reference, start, stop) = row[8:]
    return Edge(
        ids[source],
        ids[target],
        _RELATIONS[relation],
        _FAMILIES[family],
        operator,
        weight,
        distance,
        bool(truth_preserving),
        confidence,
        Licence(_LICENCES[licence], reference, _span(start, stop)),
    )


def _ends(span: Span | None) -> tuple[int | None, int | None]:
    return (None, None) if span is None else (span.start, span.end)


def _span(start: int | None, stop: int | None) -> Span | None:
    return None if start is None or stop is None else Span(start, stop)


def _squeezed(value: object) -> bytes:
    return squeeze(to_json(value).encode())


def _unsqueezed(kind: type[T], data: bytes) -> T:
    return from_json(kind, unsqueeze(data))
