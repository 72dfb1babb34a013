"""A second look at the best documents of a shortlist, by their sentences, before any is opened."""

from __future__ import annotations

from typing import Final

import numpy as np

from abstrag.collection.card import hashed
from abstrag.collection.sentences import SentenceShelf
from abstrag.collection.shelf import Source
from abstrag.collection.shortlist import Places, Shortlist
from abstrag.collection.vectors import VectorTable
from abstrag.collection.vocabulary import Scores
from abstrag.search.lexical import words

LOOKED_AT: Final = 24  # documents, or as many as are opened; docs/collections.md says why


def second_look(shortlist: Shortlist, sentences: SentenceShelf) -> Shortlist:
    """Order the first documents of a shortlist by what their sentences say, too."""
    rows = shortlist.order[: max(LOOKED_AT, shortlist.size)]
    if not len(rows):
        return shortlist
    found = {}
    if shortlist.asked is not None:
        found[Source.SENTENCES] = _closest(shortlist, rows, sentences)
    found[Source.COVER] = _covered(shortlist, rows, sentences)
    return shortlist.looked_into(rows, found)


def _closest(shortlist: Shortlist, rows: Places, sentences: SentenceShelf) -> Scores:
    """Return the cosine of the query with the closest sentence of each document."""
    assert shortlist.asked is not None
    documents = shortlist.shelf.documents
    table = VectorTable([sentences.vectors(documents[row]) for row in rows.tolist()])
    return table(shortlist.asked)


def _covered(shortlist: Shortlist, rows: Places, sentences: SentenceShelf) -> Scores:
    """Return the share of the query's words, by their idf, that one sentence and the title hold."""
    shelf = shortlist.shelf
    stems = np.unique(np.array([hashed(stem) for stem in words(shortlist.text)], np.uint64))
    worth = np.array([shelf.idf(len(shelf.stems.column(stem)[0])) for stem in stems.tolist()])
    if not len(stems):
        return np.zeros(len(rows), np.float32)
    held = [sentences.stems(shelf.documents[row]).covered(stems, worth) for row in rows.tolist()]
    return np.array(held, np.float32) / np.float32(worth.sum())
