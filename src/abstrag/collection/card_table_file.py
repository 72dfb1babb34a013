"""The card table of a store in one file beside it, so that opening a collection reads no card.

The file is written when a collection is prepared, and mapped into memory by whoever searches it. It
is named by the documents and the encoder it was made of: one that does not fit is not found.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Final

from abstrag.collection.card_table import CardTable, CollectionCards
from abstrag.collection.cards import MakeLayers, OnMade, all_cards, vectors_made_by
from abstrag.collection.server_cards import ServerCards
from abstrag.errors import StoreReadOnly
from abstrag.files import file_parts, mapped_arrays
from abstrag.neural.encoder import TextEncoder
from abstrag.stores.cards import card_key
from abstrag.stores.protocol import DocumentFiles, DocumentInfo, ShortlistingStore, Store

_MAGIC: Final = b"ABSTRAG SHELF 1\n"
_PLACE: Final = "collection"  # among the mapped files, in place of a document's content
_KEPT: Final = 2  # files: with vectors and without


IN_DATABASE: Final = 2000  # documents from which on a server that can chooses among them itself

log: Final = logging.getLogger("abstrag.stores")


def open_cards(
    store: Store,
    *,
    encoder: TextEncoder | None = None,
    on_made: OnMade = lambda _done, _all: None,
) -> CollectionCards:
    """Return the cards of a store where they are: on a server that chooses, or else in a table.

    The arguments are those of `open_card_table`.
    """
    if isinstance(store, ShortlistingStore) and store.count() >= IN_DATABASE:
        if store.chooses:
            try:
                return ServerCards(store, encoder, on_made=on_made)
            except StoreReadOnly as error:
                _say(str(error))
        else:
            _say("the server's pgvector is older than 0.8")
    return open_card_table(store, encoder=encoder, on_made=on_made)


@cache
def _say(why: str) -> None:
    """Say once that the server does not choose, which costs every process memory and time."""
    log.warning("the cards of all documents are put together in memory: %s", why)


def open_card_table(
    store: Store,
    *,
    encoder: TextEncoder | None = None,
    on_made: OnMade = lambda _done, _all: None,
) -> CardTable:
    """Return the card table of a store, read from its file or else made from the cards.

    Args:
        store: Cards that its documents lack are made and kept.
        encoder: None leaves vectors out.
        on_made: Told how many missing cards are made, of how many.
    """
    found = None if _files(store) is None else _kept(store, store.documents(), encoder)
    return found or CardTable.of(
        all_cards(store, encoder=encoder, on_made=on_made), folder=_folder(store)
    )


def save_card_table(
    store: Store,
    *,
    encoder: TextEncoder | None = None,
    on_made: OnMade = lambda _done, _all: None,
    make: MakeLayers | None = None,
) -> tuple[int, int]:
    """Make the file of a store if missing; return the numbers of cards made and of documents.

    A store that has no place for files has its cards then. `make` is as in `all_cards`.
    """
    if isinstance(store, ShortlistingStore) and store.chooses:
        ready = ServerCards(store, encoder, on_made=on_made, make=make)
        return ready.made, ready.size
    documents = store.documents()
    if _kept(store, documents, encoder) is not None:
        return 0, len(documents)
    cards = all_cards(store, encoder=encoder, on_made=on_made, make=make)
    files = _files(store)
    if files is not None:
        name = _name(cards.documents, encoder)
        card_table = CardTable.of(cards, folder=_folder(store))
        files.put(_PLACE, name, file_parts(_MAGIC, card_table.arrays), versions=_KEPT)
    return cards.made, len(cards.documents)


def _folder(store: Store) -> Path | None:
    """Return a folder for large temporary files: beside the store, where it may have some."""
    files = _files(store)
    beside = None if files is None else files.folder
    return beside if beside is not None and os.access(beside, os.W_OK) else None


def _files(store: Store) -> DocumentFiles | None:
    """Return the files of a store if they can be mapped into memory."""
    return None if store.mapped is None or store.mapped.folder is None else store.mapped


def _kept(
    store: Store, documents: tuple[DocumentInfo, ...], encoder: TextEncoder | None
) -> CardTable | None:
    files = _files(store)
    data = None if files is None else files.get(_PLACE, _name(documents, encoder))
    if data is not None:
        with suppress(ValueError):  # cut off: it is made of the cards
            return CardTable.from_arrays(documents, mapped_arrays(_MAGIC, data))
    return None


def _name(documents: Iterable[DocumentInfo], encoder: TextEncoder | None) -> str:
    """Name what a card table is made of: every document in its order, and the model."""
    digest = blake2b(digest_size=16)
    digest.update(b"" if encoder is None else vectors_made_by(encoder).encode())
    for info in documents:
        digest.update("\n".join(("", info.id, *card_key(info))).encode())
    return f"{digest.hexdigest()}.shelf"
