"""The map of a store: every document's entries, made once and kept beside its index."""

from __future__ import annotations

from typing import Final

from abstrag.collection.entries import VERSION, Entries, entries_of
from abstrag.collection.map import CollectionMap
from abstrag.model.record import from_json, to_json
from abstrag.stores.protocol import DocumentInfo, Store
from abstrag.stores.spare import keep_layer

LAYER: Final = "entries"


def collection_map(store: Store) -> CollectionMap:
    """Return the map of all documents of a store; what is missing is made and kept."""
    infos = store.documents()
    wanted = {(info.content_hash, _fingerprint(info)) for info in infos}
    kept: dict[tuple[str, str], Entries] = {}
    for content, fingerprint, data in store.layers_named(LAYER):
        if (content, fingerprint) in wanted:
            kept[content, fingerprint] = from_json(Entries, data)
    made = CollectionMap()
    for info in infos:
        place = info.content_hash, _fingerprint(info)
        if place not in kept:
            kept[place] = keep_entries(store, info)
        made.add(info.id, kept[place])
    return made


def keep_entries(store: Store, info: DocumentInfo) -> Entries:
    """Read a document's entries off its index and keep them."""
    entries = entries_of(store.get(info.id))
    keep_layer(store, info.content_hash, LAYER, _fingerprint(info), to_json(entries).encode())
    return entries


def _fingerprint(info: DocumentInfo) -> str:
    """Entries change with the index they are read off, and with how they are read."""
    return f"{info.fingerprint}:{VERSION}"
