"""What models said about texts of a document, kept so that nobody has to ask twice.

As in the embedded store, rows are numbered upwards and whatever is more than a limit behind the
newest goes. Numbers may have gaps here, so that now and then a few less than the limit stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from abstrag.stores import memory
from abstrag.stores.postgres.session import Run, from_vector, to_vector
from abstrag.stores.tables import Row

_VALUES = {"embeddings": "vector, value", "judgements": "NULL, value"}


def recall(run: Run, kind: str, content_hash: str, model: str, keys: Sequence[bytes]) -> list[Row]:
    """Read model, key and value of those keys that are remembered; `by_model` decodes them."""
    table = memory.table_of(kind)
    return run.execute(
        f"SELECT model, key, {_VALUES[table]} FROM {table} t JOIN owners o ON o.number = t.owner "
        "WHERE o.content_hash = %s AND o.model = %s AND key = ANY(%s)",
        (content_hash, model, list(keys)),
    ).fetchall()


def remembered(run: Run, kind: str, content_hash: str) -> list[Row]:
    """Read everything of a kind that belongs to a content, the oldest first, as `recall` does."""
    table = memory.table_of(kind)
    return run.execute(
        f"SELECT model, key, {_VALUES[table]} FROM {table} t JOIN owners o ON o.number = t.owner "
        "WHERE o.content_hash = %s ORDER BY t.number",
        (content_hash,),
    ).fetchall()


def by_model(rows: Iterable[Row]) -> dict[str, dict[bytes, bytes]]:
    """Return values as they were given, by model and key."""
    found: dict[str, dict[bytes, bytes]] = {}
    for model, key, vector, value in rows:
        found.setdefault(model, {})[key] = value if vector is None else from_vector(vector)
    return found


def remember(
    run: Run, kind: str, content_hash: str, model: str, values: Mapping[bytes, bytes]
) -> None:
    """Keep values by their keys; a key that is there already keeps what it has."""
    table = memory.table_of(kind)
    if not values:
        return
    # an update that changes nothing: it holds the row, and tells its number, new or not
    (owner,) = run.execute(
        "INSERT INTO owners (content_hash, model) VALUES (%s, %s) ON CONFLICT "
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
        f"DELETE FROM {table} WHERE number <= (SELECT max(number) FROM {table}) - %s",
        (memory.LIMITS[kind],),
    )


def forget(run: Run, content_hash: str) -> None:
    """Drop everything that belongs to a content."""
    run.execute("DELETE FROM owners WHERE content_hash = %s", (content_hash,))


def models(run: Run, kind: str) -> dict[str, int]:
    """Count the entries of a kind by model; only an index is read for it."""
    rows = run.execute(
        "SELECT model, sum(entries)::bigint FROM (SELECT owner, count(*) AS entries "
        f"FROM {memory.table_of(kind)} GROUP BY owner) counted "
        "JOIN owners ON number = owner GROUP BY model"
    )
    return dict(sorted(rows.fetchall()))


def forget_models(run: Run, kind: str, keep: Sequence[str]) -> int:
    """Drop the entries of a kind that other models made, and return how many there were."""
    dropped = run.execute(
        f"DELETE FROM {memory.table_of(kind)} WHERE owner IN "
        "(SELECT number FROM owners WHERE model <> ALL(%s))",
        (list(keep),),
    ).rowcount
    unused = " AND ".join(
        f"NOT EXISTS (SELECT 1 FROM {each} WHERE owner = owners.number)" for each in memory.LIMITS
    )
    run.execute(f"DELETE FROM owners WHERE model <> ALL(%s) AND {unused}", (list(keep),))
    return dropped


def _row(table: str, key: bytes, value: bytes) -> dict[str, bytes | None]:
    """Return the columns of an entry: a vector where the bytes are one, else the bytes."""
    vector = to_vector(value) if table == "embeddings" else None
    return {"key": key, "vector": vector, "value": None if vector else value}
