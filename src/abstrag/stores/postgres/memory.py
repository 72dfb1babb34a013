"""What models said about texts of a document, kept so that nobody has to ask twice.

As in the embedded store, rows are numbered upwards and whatever is more than a limit behind the
newest goes. Numbers may have gaps here, so that now and then a few less than the limit stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from abstrag.stores import memory
from abstrag.stores.postgres.session import TransactionCursor, from_vector, to_vector
from abstrag.stores.tables import Row

_VALUES = {"embeddings": "vector, value", "judgements": "NULL, value"}


def recalling(
    kind: str, content_hash: str, model: str, keys: Sequence[bytes]
) -> tuple[str, tuple[str, str, list[bytes]]]:
    """Return the statement that reads the values of those keys that are remembered."""
    where = "WHERE o.content_hash = ? AND o.model = ? AND key = ANY(?)"
    return _selected(kind, where), (content_hash, model, list(keys))


def remembered(
    run: TransactionCursor, kind: str, content_hash: str
) -> dict[str, dict[bytes, bytes]]:
    """Return everything of a kind that belongs to a content, by model, the oldest first."""
    statement = _selected(kind, "WHERE o.content_hash = ? ORDER BY t.number")
    return by_model(run.execute(statement, (content_hash,)))


def _selected(kind: str, where: str) -> str:
    table = memory.table_of(kind)
    values = f"SELECT model, key, {_VALUES[table]} FROM {table} t"
    return f"{values} JOIN owners o ON o.number = t.owner {where}"


def by_model(rows: Iterable[Row]) -> dict[str, dict[bytes, bytes]]:
    """Return what rows hold, by model and key."""
    found: dict[str, dict[bytes, bytes]] = {}
    for model, key, vector, value in rows:
        found.setdefault(model, {})[key] = value if vector is None else from_vector(vector)
    return found


def remember(
    run: TransactionCursor, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
) -> None:
    """Keep values by their keys; a key that is there already keeps what it has."""
    table = memory.table_of(kind)
    if not values:
        return
    # an update that changes nothing: it holds the row, and tells its number, new or not
    (owner,) = run.execute(
        "INSERT INTO owners (content_hash, model) VALUES (?, ?) ON CONFLICT "
        "(content_hash, model) DO UPDATE SET model = excluded.model RETURNING number",
        (content_hash, model),
    ).fetchone() or (None,)
    # the look before the leap: a conflict would use up a number
    where = f"WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE owner = %(owner)s AND key = %(key)s)"
    if table == "embeddings":
        columns, given = "owner, key, vector, value", "%(vector)s::vector, %(value)s::bytea"
    else:
        columns, given = "owner, key, value", "%(value)s::bytea"
    run.executemany(
        f"INSERT INTO {table} ({columns}) SELECT %(owner)s, %(key)s::bytea, {given} {where} "
        "ON CONFLICT DO NOTHING",
        [{"owner": owner, **_row(table, key, value)} for key, value in sorted(values.items())],
    )
    run.execute(
        f"DELETE FROM {table} WHERE number <= (SELECT max(number) FROM {table}) - ?",
        (memory.LIMITS[kind],),
    )


def _row(table: str, key: bytes, value: bytes) -> dict[str, bytes | None]:
    """Return the columns of an entry: a vector where the bytes are one, else the bytes."""
    vector = to_vector(value) if table == "embeddings" else None
    return {"key": key, "vector": vector, "value": None if vector else value}
