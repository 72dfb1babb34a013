"""Other paths at which the bytes of a document lie; the statements serve either database."""

from __future__ import annotations

from typing import Final

ADD: Final = (
    "INSERT INTO places (path, document) VALUES (?, ?) "
    "ON CONFLICT (path) DO UPDATE SET document = excluded.document"
)
OF_DOCUMENT: Final = "SELECT path FROM places WHERE document = ? ORDER BY path"
FORGET: Final = "DELETE FROM places WHERE path = ?"
NUMBER_AT: Final = "number = (SELECT document FROM places WHERE path = ?)"
