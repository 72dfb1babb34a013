"""Layers on a PostgreSQL server: intermediate results of a content."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from abstrag.stores.postgres.session import TransactionCursor
from abstrag.stores.protocol import LAYER_VERSIONS, LayerKey
from abstrag.stores.tables import Row

_FIND: Final = (
    "SELECT content_hash, layer, fingerprint, data FROM layers "
    "JOIN unnest(?::text[], ?::text[], ?::text[]) AS wanted (content, name, print) "
    "ON content_hash = content AND layer = name AND fingerprint = print"
)


def under(keys: Sequence[LayerKey]) -> tuple[str, list[list[str]]]:
    """Return what reads the layers under some keys: (content hash, layer, fingerprint, data)."""
    return _FIND, [[key[part] for key in dict.fromkeys(keys)] for part in range(3)]


def put(run: TransactionCursor, key: LayerKey, data: bytes) -> None:
    """Keep a layer, and only the latest few of its content and name."""
    run.execute(
        "INSERT INTO layers (content_hash, layer, fingerprint, data) "
        "VALUES (?, ?, ?, ?) ON CONFLICT (content_hash, layer, fingerprint) "
        "DO UPDATE SET data = excluded.data, number = excluded.number",
        (*key, data),
    )
    run.execute(
        "DELETE FROM layers WHERE number IN (SELECT number FROM layers WHERE "
        "content_hash = ? AND layer = ? ORDER BY number DESC OFFSET ?)",
        (*key[:2], LAYER_VERSIONS),
    )


def of_content(run: TransactionCursor, content_hash: str) -> list[Row]:
    """Read every layer of a content, as (layer, fingerprint, data), the oldest first."""
    return run.execute(
        "SELECT layer, fingerprint, data FROM layers WHERE content_hash = ? ORDER BY number",
        (content_hash,),
    ).fetchall()
