"""A second look at the best documents of a shortlist, by their sentences, before any is opened."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from abstrag.collection.card import hashed
from abstrag.collection.sentences import SentenceShelf, SentenceStems
from abstrag.collection.shelf import ShortlistSource
from abstrag.collection.shortlist import Shortlist
from abstrag.collection.vectors import VectorTable
from abstrag.collection.vocabulary import Scores
from abstrag.search.lexical import words

LOOKED_AT: Final = 24  # documents, or as many as are opened; docs/collections.md says why


def second_look(shortlist: Shortlist, sentences: SentenceShelf) -> Shortlist:
    """Order the first documents of a shortlist by what their sentences say, too."""
    rows = shortlist.order[: max(LOOKED_AT, shortlist.size)]
    if not len(rows):
        return shortlist
    documents = shortlist.shelf.documents
    read = sentences.read([documents[row] for row in rows.tolist()])
    found = {}
    if shortlist.asked is not None:
        vectors = [each.vectors for each in read if each.vectors is not None]
        found[ShortlistSource.SENTENCES] = VectorTable.of(vectors)(shortlist.asked)
    found[ShortlistSource.COVER] = _covered(shortlist, [each.stems for each in read])
    return shortlist.looked_into(rows, found)


def _covered(shortlist: Shortlist, held: Sequence[SentenceStems]) -> Scores:
    """Return the share of the query's words, by their idf, that one sentence and the title hold."""
    shelf = shortlist.shelf
    stems = np.unique(np.array([hashed(stem) for stem in words(shortlist.query.text)], np.uint64))
    worth = np.array([shelf.idf(len(shelf.stems.column(stem)[0])) for stem in stems.tolist()])
    if not len(stems):
        return np.zeros(len(held), np.float32)
    shares = [each.covered(stems, worth) for each in held]
    return np.array(shares, np.float32) / np.float32(worth.sum())
