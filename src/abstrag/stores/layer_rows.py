"""Layers in an SQLite file: intermediate results of a content, by name and fingerprint."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

from abstrag.stores.protocol import LAYER_VERSIONS, LAYERS_AT_A_TIME, LayerKey
from abstrag.stores.tables import Row


def find(connection: sqlite3.Connection, keys: Sequence[LayerKey]) -> Iterator[Row]:
    """Read the layers under some keys, as (content hash, layer, fingerprint, data)."""
    for at in range(0, len(keys), LAYERS_AT_A_TIME):
        some = keys[at : at + LAYERS_AT_A_TIME]
        marks = ", ".join("(?, ?, ?)" for _ in some)
        yield from connection.execute(  # each by the index: IN would read all layers there are
            f"WITH wanted (content, name, print) AS (VALUES {marks}) "
            "SELECT content_hash, layer, fingerprint, data FROM wanted CROSS JOIN layers "
            "ON content_hash = content AND layer = name AND fingerprint = print",
            [part for key in some for part in key],
        )


def put(connection: sqlite3.Connection, key: LayerKey, data: bytes) -> None:
    """Keep a layer, and only the latest few of its content and name."""
    connection.execute(
        "INSERT OR REPLACE INTO layers (content_hash, layer, fingerprint, data) "
        "VALUES (?, ?, ?, ?)",
        (*key, data),
    )
    connection.execute(
        "DELETE FROM layers WHERE rowid IN (SELECT rowid FROM layers WHERE "
        "content_hash = ? AND layer = ? ORDER BY rowid DESC LIMIT -1 OFFSET ?)",
        (*key[:2], LAYER_VERSIONS),
    )


def of_content(connection: sqlite3.Connection, content_hash: str) -> list[Row]:
    """Read every layer of a content, as (layer, fingerprint, data), the oldest first."""
    return connection.execute(
        "SELECT layer, fingerprint, data FROM layers WHERE content_hash = ? ORDER BY rowid",
        (content_hash,),
    ).fetchall()
