"""The same bytes are the same document, wherever they lie: one index, several known paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from abstrag.engine.source_files import is_regular, own_id, source_hash
from abstrag.errors import DocumentError
from abstrag.stores.naming import candidates, choose
from abstrag.stores.protocol import DocumentInfo, Store


def read_alike(store: Store, path: Path, content: str) -> Iterator[DocumentInfo]:
    """Go through the documents that were read from such bytes in the way this file would be.

    The suffix takes part in how a file is read, so files that differ in it stay two documents.
    """
    for info in store.find_bytes(content):
        if info.source_path is None:
            continue
        if Path(info.source_path).suffix.casefold() == path.suffix.casefold():
            yield info


def also_at(store: Store, info: DocumentInfo, place: str) -> DocumentInfo:
    """Know a document by another path too, and as read from there where its own file is gone."""
    own = info.source_path
    if own is None or is_regular(Path(own)):
        store.add_place(info.id, place)
        return info
    kept, places = store.get(info.id), store.places(info.id)
    metadata = replace(kept.document.metadata, source=place)
    store.remove(info.id)  # so that its name is free
    document = replace(kept.document, metadata=metadata)
    name = store.put(
        replace(kept, document=document), source_path=place, source_hash=info.source_hash
    )
    for other in (own, *places):
        store.add_place(name, other)
    return store.find(name)


def leave_to_others(store: Store, document_id: str, max_bytes: int) -> None:
    """Keep what a changed file held before, where the same bytes lie at another path still."""
    info, places = store.find(document_id), store.places(document_id)
    place = next((each for each in places if _holds(Path(each), info.source_hash, max_bytes)), None)
    if place is None:
        return
    kept = store.get(document_id)
    wanted = candidates(own_id(Path(place), max_bytes), place)
    taken = {document_id: info.source_path} | store.holders(wanted)
    name = choose(wanted, taken, source_path=place)
    metadata = replace(kept.document.metadata, source=place)
    document = replace(kept.document, id=name, metadata=metadata)
    made = replace(kept, document=document)
    name = store.put(made, source_path=place, source_hash=info.source_hash)
    for other in places:
        store.add_place(name, other)


def _holds(path: Path, content: str, max_bytes: int) -> bool:
    try:
        return is_regular(path) and source_hash(path, max_bytes) == content
    except DocumentError:
        return False
