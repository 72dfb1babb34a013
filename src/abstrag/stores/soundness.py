"""Checks on the rows of a document: references exist, spans fit, costs are possible.

The digest of a document tells what a disk has changed; a program may write a wrong row, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isfinite

from abstrag.model.index import DocumentIndex
from abstrag.stores.tables import (
    CONTEXTS,
    EDGES,
    POSTINGS,
    REAL,
    SEGMENTS,
    TERMS,
    Row,
    StoreTable,
)


def unsound(rows: Mapping[StoreTable, Sequence[Row]]) -> str | None:
    """Say which row refers to nothing or has an impossible price; None where all is well."""
    terms, segments = range(len(rows[TERMS])), range(len(rows[SEGMENTS]))
    for table, column, known in (
        (TERMS, "number", terms),
        (SEGMENTS, "position", segments),
        (CONTEXTS, "segment", segments),
        (CONTEXTS, "term", terms),
        (EDGES, "source", terms),
        (EDGES, "target", terms),
        (POSTINGS, "term", terms),
        (POSTINGS, "segment", segments),
    ):
        if (wrong := _first_outside(table, column, rows[table], known)) is not None:
            return f"a row of {table.name} has {column} {wrong!r}, and there is none"
    for table, columns in REAL.items():
        for column in columns:
            at = table.columns.index(column)
            for row in rows[table]:
                if row[at] is not None and not _possible(column, row[at]):
                    return f"a row of {table.name} has {column} {row[at]!r}"
    return None


def outside(text_length: int, rows: Mapping[StoreTable, Sequence[Row]]) -> str | None:
    """Say which row spans what the text does not have; None where all is well."""
    for table in (SEGMENTS, CONTEXTS, EDGES):
        start, stop = table.columns.index("start"), table.columns.index("stop")
        for row in rows[table]:
            ends = row[start], row[stop]
            if ends != (None, None) and (
                None in ends or not 0 <= row[start] <= row[stop] <= text_length
            ):
                return f"a row of {table.name} spans {row[start]}:{row[stop]} of {text_length}"
    return None


def astray(index: DocumentIndex) -> str | None:
    """Say what points beyond the text it stands in, or at a block or segment that is not there."""
    texts = [record.segment for record in index.records]
    for segment in texts:
        if not 0 <= segment.block < len(index.document.blocks):
            return f"segment {segment.id!r} is of block {segment.block}, and there is none"
        if any(header.span.end > len(index.document.text) for header in segment.headers):
            return f"a header of segment {segment.id!r} ends behind the text"
    for kind, found in (
        ("mention", index.mentions),
        ("event", index.frames),
        ("ambiguity", index.ambiguities),
    ):
        for one in found:
            if not 0 <= one.segment < len(texts):
                return f"a {kind} is in segment {one.segment}, and there is none"
            segment, header = texts[one.segment], getattr(one, "header", None)
            if header is not None and not 0 <= header < len(segment.headers):
                return f"a {kind} is in header {header} of segment {segment.id!r}"
            text = segment.text if header is None else segment.headers[header].text
            if not 0 <= one.start <= one.end <= len(text):
                return f"a {kind} spans {one.start}:{one.end} of segment {segment.id!r}"
    return _statements_astray(index)


def _statements_astray(index: DocumentIndex) -> str | None:
    for record in index.records:
        length = len(record.segment.text)
        for said in record.statements:
            if not 0 <= said.start <= said.end <= length:
                return f"a statement spans {said.start}:{said.end} of {record.segment.id!r}"
    return None


def _first_outside(
    table: StoreTable, column: str, rows: Sequence[Row], known: Collection[int]
) -> object | None:
    at = table.columns.index(column)
    return next((row[at] for row in rows if row[at] is not None and row[at] not in known), None)


def _possible(column: str, value: float) -> bool:
    if column == "quantity":  # any number that a text may state
        return True
    return isfinite(value) and value >= 0 and (column != "confidence" or value <= 1)
