"""One question over many documents: a shortlist, then the calculus within each document on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from abstrag.collection.card_table import CollectionCards
from abstrag.collection.card_table_file import open_cards
from abstrag.collection.cards import OnMade
from abstrag.collection.filters import Filters
from abstrag.collection.found import CollectionMatch
from abstrag.collection.results import CollectionRanking, Standing
from abstrag.collection.second_look import second_look, third_look
from abstrag.collection.sentences import SentenceReader
from abstrag.collection.shortlist import Shortlist
from abstrag.config import PRIOR_POWER, SHORTLIST, TAU
from abstrag.engine.searcher import DEFAULT_K, Searcher, unread_notice
from abstrag.errors import InputError, NothingAsked
from abstrag.memory import LruCache, collector_paused
from abstrag.model.ranking import Hit, SupportSet
from abstrag.neural.encoder import TextEncoder
from abstrag.neural.runtime import side_by_side
from abstrag.neural.whole_text import default_encoder
from abstrag.search.judging import JointRanking, Judge, Share
from abstrag.search.relevance import DEFAULT_PRESET, Preset
from abstrag.search.scoring import Scoring
from abstrag.search.together import hits_read, smallest_set
from abstrag.stores.memory import BestEffortMemory, remembered_together
from abstrag.stores.protocol import DocumentInfo, Store

_KEPT: Final = 64  # open documents, the last ones used
_JUDGED: Final = 6  # paragraphs the judge reads of all documents; docs/collections.md says why

OpenDocument = Callable[[DocumentInfo], Searcher]


class CollectionSearcher:
    """Answers questions about all documents of a store.

        with open_store("library.db") as store:
            for found in CollectionSearcher(store).search("Who visited TSMC?").hits:
                print(found.hit.document, found.hit.quote)

    The cards are read when the first question comes, and again after `reload`. Threads may share
    the searcher.
    """

    def __init__(
        self,
        store: Store,
        *,
        preset: Preset = DEFAULT_PRESET,
        judge: Judge | None = None,
        encoder: TextEncoder | None = None,
        embeddings: bool = True,
        shortlist: int = SHORTLIST,
        prior_power: float = PRIOR_POWER,
        on_made: OnMade = lambda _done, _all: None,
        open_document: OpenDocument | None = None,
        card_table: CollectionCards | None = None,
        threads: int = 1,
    ) -> None:
        """Take a store, whose documents get a card each where they have none.

        Args:
            store: Must stay open.
            preset: How segments are ranked.
            judge: Asked instead of the shipped one, where the preset wants one.
            encoder: What embeds documents and queries; the shipped one unless given.
            embeddings: False leaves vectors out, and no model is loaded for them.
            shortlist: How many documents are opened for a query.
            prior_power: How much a document's own score counts for its hits; 0 for nothing.
            on_made: Told how many missing cards are made, of how many.
            open_document: Makes the searcher of a document, where another than the usual is wanted.
            card_table: The cards of this store, where it is at hand; until `reload`.
            threads: How many documents read a query at once; more than one only helps where a
                language model reads it.
        """
        if shortlist < 1:
            raise InputError(f"the shortlist is {shortlist}", hint="open at least one document")
        self.store = store
        self.preset = preset
        self.shortlist_size = shortlist
        self._judge = judge
        self._given_encoder = encoder
        self._embeddings = embeddings
        self._prior_power = prior_power
        self._on_made = on_made
        self._open_document = open_document or self._usual
        self._card_table = card_table
        self._threads = threads
        self._searchers: LruCache[Searcher] = LruCache(_KEPT)

    @property
    def cards(self) -> CollectionCards:
        """The cards of all documents, read when first needed, or where the store keeps them."""
        if self._card_table is None:
            self._card_table = open_cards(self.store, encoder=self.encoder, on_made=self._on_made)
        return self._card_table

    @property
    def encoder(self) -> TextEncoder | None:
        """The encoder; None where vectors are left out."""
        if not self._embeddings:
            return None
        return self._given_encoder or default_encoder()

    @property
    def joint_preset(self) -> Preset:
        """How the documents are ranked together: the judge reads less than of one alone."""
        preset = self.preset
        if preset.judged is None:
            return preset
        return replace(preset, judged=min(preset.judged, _JUDGED))

    @property
    def notes(self) -> tuple[str, ...]:
        """Which answers of the models could not be used so far, by document, in words."""
        opened = {one.index.document.id: one for one in self._searchers.values()}
        return tuple(f"{name}: {note}" for name in sorted(opened) for note in opened[name].notes)

    def reload(self) -> None:
        """Read everything again before the next question; documents may have come or gone."""
        self._card_table = None
        self.forget()

    def forget(self) -> None:
        """Close the documents that are open."""
        self._searchers.clear()

    def local(self) -> CollectionSearcher:
        """Return this searcher with documents opened without language models."""
        return CollectionSearcher(
            self.store,
            preset=self.preset,
            encoder=self._given_encoder,
            embeddings=self._embeddings,
            shortlist=self.shortlist_size,
            prior_power=self._prior_power,
            card_table=self._card_table,
        )

    def search(
        self,
        text: str,
        *,
        k: int = DEFAULT_K,
        tau: float = TAU,
        filters: Filters | None = None,
    ) -> CollectionRanking:
        """Rank the segments of all documents as evidence for a question or a claim."""
        if k < 1:
            raise InputError(f"k is {k}", hint="ask for at least one hit")
        # a document is thousands of records, and there are no cycles
        with collector_paused(), remembered_together(self.store):
            return self._search(text, k, tau, filters or Filters())

    def _search(self, text: str, k: int, tau: float, filters: Filters) -> CollectionRanking:
        shortlist = self.shortlist(text, filters=filters)
        found = self.match(text, shortlist, tau=tau)
        notice = unread_notice(text)
        judged = found.joint.judge(k)
        return CollectionRanking(
            query=replace(shortlist.query, notice=notice),
            tau=0.0 if notice else tau,
            preset=found.joint.preset.name,
            filters=filters,
            hits=found.hits(k),
            documents=found.documents(),
            collection=shortlist.cards.size,
            passed=shortlist.passing,
            judgements=judged.made,
            judgements_avoided=judged.avoided,
        )

    def support(
        self,
        text: str,
        *,
        k: int = DEFAULT_K,
        tau: float = TAU,
        filters: Filters | None = None,
    ) -> SupportSet:
        """Return the fewest hits of all documents that together meet a query.

        Raises:
            InputError: The preset is one of the paper's, whose sets are those of one document.
        """
        if self.preset.hard_gap:
            raise InputError(
                f"a set of hits of several documents has no meaning in preset {self.preset.name}",
                hint="ask one document, or leave the preset out",
            )
        with collector_paused(), remembered_together(self.store):
            shortlist = self.shortlist(text, filters=filters)
            found = self.match(text, shortlist, tau=tau)
            found.joint.judge(hits_read(k))
            return smallest_set(shortlist.query, found.ranked(hits_read(k)), k=k)

    def shortlist(
        self, text: str, *, filters: Filters | None = None, also: tuple[str, ...] = ()
    ) -> Shortlist:
        """Rank the documents themselves: by their cards, and the best by their sentences, too.

        Args:
            text: What is asked.
            filters: Which documents.
            also: Ids of documents that have a row in any case.
        """
        encoder = self.encoder
        listed = Shortlist.of(
            self.cards,
            text,
            encoder=encoder,
            filters=filters or Filters(),
            size=self.shortlist_size,
            also=also,
        )
        return second_look(listed, SentenceReader(self.store, encoder))

    def explain(
        self,
        text: str,
        document: str,
        segment: str,
        *,
        tau: float = TAU,
        filters: Filters | None = None,
    ) -> Hit:
        """Return the full trace of one segment of one document, whether it is found or not.

        Where its document is on the shortlist, the segment scores as it does among the hits.
        """
        info = self.store.find(document)
        inner = self.open(info)
        position = inner.position(segment)
        found = self.match(text, self.shortlist(text, filters=filters), tau=tau)
        hit = found.explained(info.id, position) or inner.explain(text, segment, tau=tau)
        return replace(hit, document=info.id)

    def standing(
        self, text: str, document: str, *, filters: Filters | None = None
    ) -> tuple[Standing, ...]:
        """Return the score and rank of a document by each source."""
        wanted = self.store.find(document).id
        shortlist = self.shortlist(text, filters=filters, also=(wanted,))
        return shortlist.standings(shortlist.cards.row(wanted))

    def open(self, info: DocumentInfo) -> Searcher:
        """Return the searcher of one document; the last few stay open."""
        place = (info.id, info.content_hash, info.fingerprint)
        return self._searchers.get(place, lambda: self._open_document(info))

    def _usual(self, info: DocumentInfo) -> Searcher:
        index = self.store.get(info.id)
        return Searcher(
            index, preset=self.preset, judge=self._judge, memory=BestEffortMemory(self.store)
        )

    def match(self, text: str, shortlist: Shortlist, *, tau: float) -> CollectionMatch:
        """Match a query with every document on the shortlist."""
        rows, shares = [], []
        preset = self.joint_preset.plain if unread_notice(text) else self.joint_preset
        best = max((float(shortlist.prior[row]) for row in shortlist.rows), default=1.0)
        scorings = self._scorings(text, shortlist, tau, preset)
        for row, scoring in zip(shortlist.rows, scorings, strict=True):
            if scoring is None:
                continue
            rows.append(row)
            share = float(shortlist.prior[row]) / best
            shares.append(Share(scoring, share**self._prior_power))
        looked = third_look(
            shortlist, {row: s.scoring for row, s in zip(rows, shares, strict=True)}
        )
        joint = JointRanking(shares, preset)
        return CollectionMatch(shortlist, tuple(rows), joint, looked, self._prior_power)

    def _scorings(
        self, text: str, shortlist: Shortlist, tau: float, preset: Preset
    ) -> list[Scoring | None]:
        """Score a query in the documents of a shortlist; None for one that knows no word of it."""
        rows = list(shortlist.rows)

        def scoring(row: int) -> Scoring | None:
            try:
                opened = self.open(shortlist.cards.documents[row])
                return opened.scoring(text, tau=tau, preset=preset)
            except NothingAsked:  # words that other documents know and this one does not
                return None

        # the first goes ahead: what a model makes of the query alone is then known to the others
        first = [scoring(row) for row in rows[:1]]
        return first + side_by_side(scoring, rows[1:], threads=self._threads, size=lambda _: 1)
