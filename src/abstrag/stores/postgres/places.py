"""Which paths documents were read from or lie at, on a PostgreSQL server."""

from __future__ import annotations

from collections.abc import Sequence

from abstrag.stores import places
from abstrag.stores.columns import INFO
from abstrag.stores.naming import candidates, choose
from abstrag.stores.postgres.session import Run
from abstrag.stores.tables import Row


def add(run: Run, path: str, document: Row) -> None:
    """Note a place of a document, unless another document was read from there."""
    own = run.execute("SELECT 1 FROM documents WHERE source_path = %s", (path,)).fetchone()
    if own is None:
        run.execute(_marked(places.ADD), (path, *document))


def forget(run: Run, path: str | None) -> None:
    """Forget that a path is a place of any document."""
    run.execute(_marked(places.FORGET), (path,))


def find(run: Run, path: str) -> Row | None:
    """Return the row of the document that was read from a path or has that place too."""
    row = run.execute(f"{INFO} WHERE source_path = %s", (path,)).fetchone()
    return row or run.execute(f"{INFO} WHERE {_marked(places.NUMBER_AT)}", (path,)).fetchone()


def with_bytes(run: Run, source_hash: str) -> list[Row]:
    """Return the rows of the documents that were read from such bytes."""
    return run.execute(f"{INFO} WHERE source_hash = %s", (source_hash,)).fetchall()


def of(run: Run, document: Row) -> tuple[str, ...]:
    """Return the other paths of a document, sorted."""
    return tuple(row[0] for row in run.execute(_marked(places.OF_DOCUMENT), document))


def choose_id(run: Run, document_id: str, source_path: str | None) -> str:
    """Return the id that a document from a path has in the store."""
    wanted = candidates(document_id, source_path)
    return choose(wanted, holders(run, wanted), source_path=source_path)


def holders(run: Run, ids: Sequence[str]) -> dict[str, str | None]:
    """Return which source path holds each of some ids; an id that is free is left out."""
    statement = "SELECT id, source_path FROM documents WHERE id = ANY(%s)"
    return dict(run.execute(statement, (list(ids),)).fetchall())


def _marked(statement: str) -> str:
    return statement.replace("?", "%s")
