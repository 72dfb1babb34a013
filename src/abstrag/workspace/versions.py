"""What a workspace needs to tell versions of documents apart, and to name what it is asked for."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.stores.protocol import DocumentInfo

if TYPE_CHECKING:
    from abstrag.engine.library import Knowledge


def loaded(background: Knowledge | str | Path | None) -> Knowledge | None:
    """Return a Background that was given by its path or as it is."""
    if background is None or not isinstance(background, str | Path):
        return background
    from abstrag.backgrounds.compiled import load

    return load(background)


def version(info: DocumentInfo) -> tuple[str, str, str, str]:
    """Name a document as it is now; indexing it again makes another version."""
    return info.id, info.content_hash, info.fingerprint, info.indexed_at


def called(index: DocumentIndex, name: str) -> DocumentIndex:
    """Return an index whose document is called as in the store, so that hits name it right."""
    if index.document.id == name:
        return index
    return replace(index, document=replace(index.document, id=name))


def named(target: object) -> str:
    """Name what was to be opened."""
    if isinstance(target, Document):
        return target.id
    return target.document.id if isinstance(target, DocumentIndex) else str(target)
