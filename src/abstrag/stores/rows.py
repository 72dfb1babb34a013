"""How an index becomes rows, and rows become the same index again.

An SQLite file keeps rows as blobs, a server in tables. What queries look for has a column of its
own; a column that holds a whole record holds its JSON; what is only read as a whole is compressed.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from hashlib import blake2b
from typing import Any, Final, TypeVar

from abstrag.errors import InputError, StoreCorrupt
from abstrag.memory import collector_paused
from abstrag.model.background import Background
from abstrag.model.document import Document, Genre, OffsetMap, Quote, Span
from abstrag.model.index import (
    Ambiguity,
    Context,
    DocumentIndex,
    Field,
    FieldValue,
    SegmentRecord,
    Statement,
    Utility,
)
from abstrag.model.record import from_json, to_json
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
    Term,
    TermKind,
)
from abstrag.stores.protocol import DocumentInfo
from abstrag.stores.soundness import astray, outside, unsound
from abstrag.stores.tables import (
    CONTEXTS,
    EDGES,
    POSTINGS,
    REAL,
    SEGMENTS,
    TABLES,
    TERMS,
    TRUTH,
    Row,
    StoreTable,
)

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


class CompressedBytes(bytes):
    """Bytes that are compressed already, as a worker hands them to the process that writes."""


def compress(data: bytes) -> CompressedBytes:
    """Compress bytes, once; fast rather than small, for indexing waits on it."""
    return data if isinstance(data, CompressedBytes) else CompressedBytes(zlib.compress(data, 1))


def decompress(data: bytes) -> bytes:
    """Return what was compressed."""
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
        background=_compressed(index.background),
        document=_compressed(index.document),
        frames=_compressed(index.frames),
        ambiguities=_compressed(index.ambiguities),
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
        document=_decompressed(Document, packed.document),
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
        frames=_decompressed(tuple[Frame, ...], packed.frames),
        ambiguities=_decompressed(tuple[Ambiguity, ...], packed.ambiguities),
        fingerprint=packed.fingerprint,
        background=unpack_background(packed.background),
    )


def unpack_background(data: bytes) -> Background:
    """Read the Background an index was made with, without the rest of the index."""
    return _decompressed(Background, data)


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
    for part in Field:
        for position, v in enumerate(getattr(context, part.value)):
            term = None if v.term is None else numbers[v.term]
            start, stop = _ends(v.span)
            yield segment, part.value, position, v.name, v.value, v.confidence, start, stop, term


def _contexts(rows: Sequence[Row], ids: Sequence[str]) -> dict[int, Context]:
    """Gather the rows of each segment; a segment without rows is not in the result."""
    found: dict[int, dict[str, list[FieldValue]]] = {}
    for segment, part, _, name, value, confidence, start, stop, number in rows:
        term = None if number is None else ids[number]
        found.setdefault(segment, {}).setdefault(part, []).append(
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


def _compressed(value: object) -> bytes:
    return compress(to_json(value).encode())


def _decompressed(kind: type[T], data: bytes) -> T:
    return from_json(kind, decompress(data))


INFO_COLUMNS: Final = tuple(field.name for field in fields(DocumentInfo))
INFO: Final = f"SELECT {', '.join(INFO_COLUMNS)} FROM documents"
PACKED: Final = tuple(field.name for field in fields(Packed) if field.name != "rows")
GIVEN: Final = tuple(
    name for name in dict.fromkeys((*INFO_COLUMNS, *PACKED)) if name != "indexed_at"
)
_UNREADABLE: Final = (InputError, ValueError, TypeError, LookupError, zlib.error)

# documents come by the thousand, and looking a member up is faster than calling its class
_GENRE, _GRANULARITY = INFO_COLUMNS.index("genre"), INFO_COLUMNS.index("granularity")
_GENRES: Final = {member.value: member for member in Genre}
_GRANULARITIES: Final = {member.value: member for member in Granularity}

Corrupt = Callable[[str], StoreCorrupt]


@contextmanager
def decoding(what: str, corrupt: Corrupt) -> Iterator[None]:
    """Raise `StoreCorrupt` for columns that cannot be decoded."""
    try:
        yield
    except _UNREADABLE as error:
        raise corrupt(f"{what}: {error}") from error


def document_info(row: Sequence[Any], corrupt: Corrupt) -> DocumentInfo:
    """Return what a row of `INFO_COLUMNS` says."""
    values = list(row)
    genre, granularity = values[_GENRE], values[_GRANULARITY]
    if genre not in _GENRES or granularity not in _GRANULARITIES:
        raise corrupt(f"document {values[0]!r}: it is {genre!r}, cut by {granularity!r}")
    values[_GENRE], values[_GRANULARITY] = _GENRES[genre], _GRANULARITIES[granularity]
    return DocumentInfo(*values)


def document_infos(rows: Iterable[Sequence[Any]], corrupt: Corrupt) -> tuple[DocumentInfo, ...]:
    """Return what rows of `INFO_COLUMNS` say, sorted by id; there may be very many of them."""
    with collector_paused():
        made = [document_info(row, corrupt) for row in rows]
        return tuple(sorted(made, key=lambda info: info.id))


# A document as a database has it, before anything of it is believed.


@dataclass(frozen=True, slots=True)
class StoredRows:
    """The columns and rows of a document, and the digest that was written with them."""

    number: int
    columns: Mapping[str, Any]
    rows: Mapping[StoreTable, Sequence[Row]]
    digest: str | None  # None: an older release wrote it
    blobs: Mapping[str, bytes] = field(default_factory=dict)  # what the rows are packed in

    @property
    def broken(self) -> bool:
        """True when this is not what was written."""
        return self.digest is not None and self.digest != self._seal()

    def _seal(self) -> str:
        return seal({**self.columns, **self.blobs}, {} if self.blobs else self.rows)

    @property
    def packed(self) -> Packed:
        """What the index is made from."""
        return Packed(self.rows, *(self.columns[name] for name in PACKED))

    @property
    def to_seal(self) -> tuple[int, str]:
        """The row that a document of an older release lacks."""
        return self.number, self._seal()


def require_sound(
    info: DocumentInfo, kept: StoredRows, load: Callable[[str], DocumentIndex], corrupt: Corrupt
) -> None:
    """Check that all rows of a document are there and refer to existing rows.

    Raises:
        StoreCorrupt: They do not.
    """
    if (problem := unsound(kept.rows)) is not None:
        raise corrupt(f"document {info.id!r}: {problem}")
    index = load(info.id)
    found = (len(index.records), len(index.map.terms), len(index.map.edges))
    if found != (info.segments, info.terms, info.edges):
        raise corrupt(f"rows of document {info.id!r} are missing")
    if (problem := astray(index)) is not None:
        raise corrupt(f"document {info.id!r}: {problem}")
    if (problem := outside(len(index.document.text), kept.rows)) is not None:
        raise corrupt(f"document {info.id!r}: {problem}")


# An SQLite file keeps the rows of a document column by column, compressed, as blobs: it is smaller
# than tables and read faster.

Blobs = Mapping[tuple[str, int], bytes]  # by table and part

_AT_A_TIME: Final = 20_000  # rows in a blob
_INSERT: Final = "INSERT INTO packed_rows (document, name, part, data) VALUES (?, ?, ?, ?)"
_SELECT: Final = "SELECT name, part, data FROM packed_rows WHERE document = ? ORDER BY name, part"
_ONE: Final = _SELECT.replace("document = ?", "document = ? AND name = ?")
_LARGEST: Final = 1 << 63


def to_blobs(rows: Mapping[StoreTable, Sequence[Row]]) -> Blobs:
    """Return rows as blobs.

    Raises:
        OverflowError: A number is larger than a database keeps.
    """
    return {
        (table.name, part): _blob(rows[table][start : start + _AT_A_TIME])
        for table in TABLES
        for part, start in enumerate(range(0, max(1, len(rows[table])), _AT_A_TIME))
    }


def from_blobs(blobs: Blobs) -> dict[StoreTable, list[Row]]:
    """Return the rows of blobs.

    Raises:
        ValueError: Bytes are something else.
        zlib.error: Likewise.
    """
    rows: dict[str, list[Row]] = {table.name: [] for table in TABLES}
    for (name, _), data in blobs.items():
        rows[name].extend(_rows(data))
    return {table: rows[table.name] for table in TABLES}


def blob_columns(blobs: Blobs) -> dict[str, bytes]:
    """Return blobs by names under which they are sealed."""
    return {f"{name} {part}": data for (name, part), data in blobs.items()}


def insert_blobs(connection: sqlite3.Connection, document: int, blobs: Blobs) -> None:
    """Keep the blobs of a document."""
    values = ((document, *key, data) for key, data in blobs.items())
    connection.executemany(_INSERT, values)


def select_blobs(connection: sqlite3.Connection, document: int) -> Blobs:
    """Return the blobs of a document; none where an older release wrote it."""
    return {(name, part): data for name, part, data in connection.execute(_SELECT, (document,))}


def select_table(connection: sqlite3.Connection, document: int, table: StoreTable) -> list[Row]:
    """Return the rows of a document in one table, whoever wrote it."""
    found = connection.execute(_ONE, (document, table.name)).fetchall()
    if not found:
        return connection.execute(table.select, (document,)).fetchall()
    return [row for *_, data in found for row in _rows(data)]


def _blob(rows: Sequence[Row]) -> bytes:
    columns = list(zip(*rows, strict=True))
    for column in columns:
        numbers = [value for value in column if type(value) is int]
        if numbers and not -_LARGEST <= min(numbers) <= max(numbers) < _LARGEST:
            raise OverflowError(f"a number is too large: {max(map(abs, numbers))}")
    return compress(json.dumps(columns).encode())


def _rows(data: bytes) -> Iterator[Row]:
    columns: list[list[Any]] = json.loads(decompress(data))
    return zip(*columns, strict=True)


# A digest over everything kept of a document is written with it and compared when it is read,
# so that a bit that flipped on a disk is noticed and never quoted.


def seal(columns: Mapping[str, Any], rows: Mapping[StoreTable, Sequence[Row]]) -> str:
    """Return the digest of a document's own columns and of its rows in the tables that are given.

    It does not depend on how a database tells whole numbers from others, nor on the order in which
    rows were written.
    """
    digest = blake2b(digest_size=16)
    for name in sorted(columns):
        value = columns[name]
        data = value if isinstance(value, bytes) else _written(value)
        digest.update(f"{name} {len(data)} ".encode() + data)
    for table in (table for table in TABLES if table in rows):
        kept = sorted(rows[table], key=lambda row, table=table: row[: table.key])  # type: ignore[misc]
        digest.update(f"{table.name} {len(kept)} ".encode() + _written(_plain(table, kept)))
    return digest.hexdigest()


def _plain(table: StoreTable, rows: Sequence[Row]) -> Sequence[Row]:
    real = {table.columns.index(column) for column in REAL[table]}
    truth = {table.columns.index(TRUTH)} if TRUTH in table.columns else set()
    if not real and not truth:
        return rows
    return [
        tuple(
            value
            if value is None
            else float(value)
            if at in real
            else int(value)
            if at in truth
            else value
            for at, value in enumerate(row)
        )
        for row in rows
    ]


def _written(value: object) -> bytes:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "surrogatepass")
