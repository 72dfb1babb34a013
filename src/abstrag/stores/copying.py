"""Copying a library from one store to another, of the same kind or not.

What is there already stays, so that a copy which was interrupted goes on where it stopped. Every
document that is written is read back and compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from abstrag.errors import StoreError
from abstrag.model.record import record
from abstrag.stores.memory import FILES
from abstrag.stores.protocol import DocumentInfo, Store

_KINDS: Final = ("embeddings", "judgements")


@record
class Copied:
    """What a copy did; `renamed` maps ids of the source to what they are called in the target."""

    documents: int
    copied: int
    already_there: int
    layers: int
    remembered: int
    renamed: dict[str, str]


def copy_store(
    source: Store, target: Store, on_document: Callable[[str], None] = lambda _document_id: None
) -> Copied:
    """Copy every document of one store into another, with its layers and models' results.

    Args:
        source: It is only read.
        target: Documents that only it has stay in it.
        on_document: Told the id of each document that is done.
    """
    documents = source.documents()
    there = {_identity(info): info for info in target.documents()}
    copied = layers = remembered = 0
    renamed: dict[str, str] = {}
    for info in documents:
        before = there.get(_identity(info))
        if before is not None and _same(info, before):
            name = before.id
        else:
            name = _copy(source, target, info)
            copied += 1
        # always, for a copy may have been cut off between a document and what belongs to it
        for place in source.places(info.id):
            target.add_place(name, place)
        layers += _copy_layers(source, target, info.content_hash)
        remembered += _copy_memory(source, target, info.content_hash)
        _copy_mapped(source, target, info.content_hash)
        if name != info.id:
            renamed[info.id] = name
        on_document(info.id)
    return Copied(len(documents), copied, len(documents) - copied, layers, remembered, renamed)


def _identity(info: DocumentInfo) -> tuple[str, str]:
    """Return what identifies a document: its source, or its id if it has none."""
    return ("id", info.id) if info.source_path is None else ("path", info.source_path)


def _same(one: DocumentInfo, other: DocumentInfo) -> bool:
    """True when two stores say the same of a document, apart from its name and the hour."""
    return replace(one, id=other.id, indexed_at=other.indexed_at) == other


def _copy(source: Store, target: Store, info: DocumentInfo) -> str:
    index = source.get(info.id)
    name = target.put(index, source_path=info.source_path, source_hash=info.source_hash)
    if target.get(name) != index:
        raise StoreError(
            f"document {name!r} does not come back from the target as it was put there",
            hint="run abstrag store check on both stores",
        )
    return name


def _copy_layers(source: Store, target: Store, content_hash: str) -> int:
    """Copy the layers the target lacks, the oldest first, so that the same ones make way."""
    kept = {layer[:2]: layer[2] for layer in target.layers(content_hash)}
    # files are no layers of every store, and are copied as files
    own = [each for each in source.layers(content_hash) if each[0] != FILES]
    new = [each for each in own if kept.get(each[:2]) != each[2]]
    for layer, fingerprint, data in new:
        target.put_layer(content_hash, layer, fingerprint, data)
    return len(new)


def _copy_memory(source: Store, target: Store, content_hash: str) -> int:
    count = 0
    for kind in _KINDS:
        for model, values in source.remembered(kind, content_hash).items():
            known = target.recall(kind, content_hash, model, list(values))
            new = {key: value for key, value in values.items() if key not in known}
            target.remember(kind, content_hash, model, new)
            count += len(new)
    return count


def _copy_mapped(source: Store, target: Store, content_hash: str) -> None:
    if source.mapped is None or target.mapped is None:
        return
    for name in source.mapped.names(content_hash):
        data = source.mapped.get(content_hash, name)
        if data is not None and target.mapped.get(content_hash, name) is None:
            target.mapped.put(content_hash, name, (data,))
