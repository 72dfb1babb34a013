"""Further looks at the best documents of a shortlist: by their sentences, and by their words.

The second look is taken before any document is opened. The third one is taken at those that are, by
what it costs the aligner to meet the words of the query there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from abstrag.collection.card import hashed
from abstrag.collection.card_table import ShortlistSource, VectorTable
from abstrag.collection.sentences import SentenceReader, SentenceStems
from abstrag.collection.shortlist import LOOKED_AT, Shortlist
from abstrag.collection.vocabulary import Scores
from abstrag.config import MAX_GAP
from abstrag.search.lexical import words
from abstrag.search.scoring import Scoring


def second_look(shortlist: Shortlist, sentences: SentenceReader) -> Shortlist:
    """Reorder the first documents of a shortlist by their sentences, too."""
    rows = shortlist.order[: max(LOOKED_AT, shortlist.size)]
    if not len(rows):
        return shortlist
    documents = shortlist.cards.documents
    read = sentences.read([documents[row] for row in rows.tolist()], shortlist.cards.layers)
    found = {}
    if shortlist.asked is not None:
        vectors = [each.vectors for each in read if each.vectors is not None]
        found[ShortlistSource.SENTENCES] = VectorTable.of(vectors)(shortlist.asked)
    found[ShortlistSource.COVER] = _covered(shortlist, [each.stems for each in read])
    return shortlist.looked_into(rows, found)


def third_look(shortlist: Shortlist, scorings: Mapping[int, Scoring]) -> Shortlist:
    """Reorder the opened documents by how well their words meet those of the query, too.

    Within a document a word counts for more where few of its segments have it. Between documents it
    does where few documents have it: so the prices are those of the document, and the weights of
    the words those of the collection.

    Args:
        shortlist: As the second look left it.
        scorings: Of the query in each row that is opened, but for those that have nothing of it.
    """
    if not any(scoring.alignment is not None for scoring in scorings.values()):
        return shortlist  # of a preset without alignment
    rows = shortlist.order[: shortlist.size]
    met = [_met(shortlist, scorings.get(row)) for row in rows.tolist()]
    return shortlist.looked_into(rows, {ShortlistSource.ALIGNMENT: np.array(met, np.float32)})


def _met(shortlist: Shortlist, scoring: Scoring | None) -> float:
    """Return how much of the query the best segment meets, by the idf of its words; 1 is all."""
    if scoring is None or scoring.alignment is None:
        return 0.0
    words_asked, prices = scoring.alignment.asked_words, scoring.alignment.prices
    worth = np.array([_worth(shortlist, word) for word in words_asked])
    if not prices.size or not worth.sum():
        return 0.0
    return 1 - float((worth / worth.sum() @ prices).min()) / MAX_GAP


def _worth(shortlist: Shortlist, word: str) -> float:
    """Return the idf of a word; of one that is cut into several stems the highest."""
    card_table = shortlist.cards
    found = (card_table.idf(card_table.holders(hashed(stem))) for stem in words(word))
    return max(found, default=0.0)


def _covered(shortlist: Shortlist, held: Sequence[SentenceStems]) -> Scores:
    """Return the share of the query's words, by their idf, that one sentence and the title hold."""
    card_table = shortlist.cards
    stems = np.unique(np.array([hashed(stem) for stem in words(shortlist.query.text)], np.uint64))
    worth = np.array([card_table.idf(card_table.holders(stem)) for stem in stems.tolist()])
    if not len(stems):
        return np.zeros(len(held), np.float32)
    shares = [each.covered(stems, worth) for each in held]
    return np.array(shares, np.float32) / np.float32(worth.sum())
