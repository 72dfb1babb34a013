"""What was found in the documents of a shortlist, as hits and as scores of documents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from typing import Final

import numpy as np

from abstrag.collection.results import CollectionHit, DocumentScore
from abstrag.collection.shortlist import Shortlist
from abstrag.model.ranking import Hit
from abstrag.search.judging import JointRanking
from abstrag.search.relevance import AGGREGATIONS, LEAST_JUDGEMENT
from abstrag.search.together import RankedHit

# How documents are ordered; docs/collections.md says why.
DOCUMENT_POWER: Final = 4.5  # times that of its hits: how much more a document's own score counts
JUDGE_POWER: Final = 3.0  # of what the judge says of the document's best segment


@dataclass(frozen=True)
class CollectionMatch:
    """A query matched with the documents of a shortlist, after the judge was asked."""

    shortlist: Shortlist
    rows: tuple[int, ...]  # of the card table: which documents the shares are, in their order
    joint: JointRanking
    looked: Shortlist  # after a look at the opened documents, which orders them
    prior_power: float

    def hits(self, k: int) -> tuple[CollectionHit, ...]:
        """Return the best k hits of all documents."""
        return tuple(self._hit(row, score) for row, score in islice(self.joint.order(), k))

    def ranked(self, k: int) -> list[RankedHit]:
        """Return the best k hits of all documents, each with the postings of its own."""
        return [
            RankedHit(
                self._hit(row, score).hit,
                score,
                self.joint.shares[int(self.joint.owners[row])].scoring.index,
            )
            for row, score in islice(self.joint.order(), k)
        ]

    def documents(self) -> tuple[DocumentScore, ...]:
        """Return the shortlist with its scores, best first."""
        final, owners = self.joint.final, self.joint.owners
        made = [
            self._score(rank, row, owner, final[owners == owner].tolist() or [0.0])
            for owner, (rank, row) in enumerate(enumerate(self.rows, 1))
        ]
        return tuple(sorted(made, key=lambda each: (-each.score, each.rank)))

    def explained(self, document: str, position: int) -> Hit | None:
        """Return a segment with its place among all, None when it is no candidate."""
        documents = self.shortlist.cards.documents
        owner = next((o for o, row in enumerate(self.rows) if documents[row].id == document), None)
        row = None if owner is None else self.joint.row(owner, position)
        if row is None:
            return None
        if self.joint.preset.judge_weight and row in self.joint.shortlist:
            self.joint.ask(np.array([row]))
        return self.joint.hit(row)

    def stands_for(self, owner: int, document: str) -> bool:
        """Tell whether the document of a share is a given one, or a copy of it."""
        row = self.rows[owner]
        return document in (
            self.shortlist.cards.documents[row].id,
            *self.shortlist.copies(row),
        )

    def _hit(self, row: int, score: float) -> CollectionHit:
        owner = int(self.joint.owners[row])
        place = self.rows[owner]
        info = self.shortlist.cards.documents[place]
        return CollectionHit(
            hit=replace(self.joint.hit(row), document=info.id),
            title=info.title,
            also=self.shortlist.copies(place),
            prior=float(self.shortlist.prior[place]),
            score=score,
        )

    @cached_property
    def _best(self) -> float:
        return max((float(self.looked.prior[row]) for row in self.rows), default=1.0)

    def _score(self, rank: int, row: int, owner: int, scores: list[float]) -> DocumentScore:
        info = self.shortlist.cards.documents[row]
        found = {name: aggregate(scores) for name, aggregate in AGGREGATIONS.items()}
        own = float(self.looked.prior[row]) / self._best
        return DocumentScore(
            document=info.id,
            title=info.title,
            date=info.date,
            source_path=info.source_path,
            also=self.shortlist.copies(row),
            rank=rank,
            prior=float(np.float64(self.looked.prior[row])),
            standings=self.looked.standings(row),
            score=self._judged(owner) * own ** (DOCUMENT_POWER * self.prior_power)
            if found["top_1"]
            else 0.0,  # nothing of it may be a hit
            **found,
        )

    def _judged(self, owner: int) -> float:
        """Return what the judge adds to the score of a document; 1 where there is no judge.

        The rest of a segment's relevance stays within its document: there a word counts by how
        few of its own segments have it.
        """
        if not self.joint.preset.judge_weight:
            return 1.0
        return float(max(self.joint.surest(owner), LEAST_JUDGEMENT) ** JUDGE_POWER)
