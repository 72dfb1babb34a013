"""Layers on a PostgreSQL server: what was made of a content along the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from abstrag.stores.postgres.session import Run
from abstrag.stores.protocol import LAYER_VERSIONS, LAYERS_AT_A_TIME, LayerKey
from abstrag.stores.tables import Row

_FIND: Final = (
    "SELECT content_hash, layer, fingerprint, data FROM layers "
    "JOIN unnest(%s::text[], %s::text[], %s::text[]) AS wanted (content, name, print) "
    "ON content_hash = content AND layer = name AND fingerprint = print"
)
_NAMED: Final = (
    "SELECT content_hash, fingerprint, data FROM layers "
    "WHERE layer = %s AND (content_hash, fingerprint) > (%s, %s) "
    "ORDER BY content_hash, fingerprint LIMIT %s"
)


def find(run: Run, keys: Sequence[LayerKey]) -> list[Row]:
    """Read the layers under some keys in one go, as (content hash, layer, fingerprint, data)."""
    columns = [[key[part] for key in dict.fromkeys(keys)] for part in range(3)]
    return run.execute(_FIND, columns).fetchall()


def put(run: Run, layers: Mapping[LayerKey, bytes]) -> None:
    """Keep layers, and only the latest few of a content and name."""
    for key, data in layers.items():
        run.execute(
            "INSERT INTO layers (content_hash, layer, fingerprint, data) "
            "VALUES (%s, %s, %s, %s) ON CONFLICT (content_hash, layer, fingerprint) "
            "DO UPDATE SET data = excluded.data, number = excluded.number",
            (*key, data),
        )
        run.execute(
            "DELETE FROM layers WHERE number IN (SELECT number FROM layers WHERE "
            "content_hash = %s AND layer = %s ORDER BY number DESC OFFSET %s)",
            (*key[:2], LAYER_VERSIONS),
        )


def of_content(run: Run, content_hash: str) -> list[Row]:
    """Read every layer of a content, as (layer, fingerprint, data), the oldest first."""
    return run.execute(
        "SELECT layer, fingerprint, data FROM layers WHERE content_hash = %s ORDER BY number",
        (content_hash,),
    ).fetchall()


def named(layer: str, last: tuple[str, str]) -> Callable[[Run], list[Row]]:
    """Read the next rows of a layer behind a content and a fingerprint."""
    values = (layer, *last, LAYERS_AT_A_TIME)
    return lambda run: run.execute(_NAMED, values).fetchall()
