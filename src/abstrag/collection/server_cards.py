"""The cards of a collection on a server that chooses documents itself; none is in memory.

One statement brings what a question needs: all postings of its words and terms, and the documents
that may be the best. What the vocabulary will be asked for is worked out before there is one, and
what was not foreseen is asked for singly. A document that was not among those that may be the best
has a bound on its score; where that reaches among the first, its vectors are asked for, too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any, Final, overload

import numpy as np
import numpy.typing as npt

from abstrag.collection.card import hashed
from abstrag.collection.card_table import K1, B, CardsForQuestion, Places, ShortlistSource
from abstrag.collection.cards import MakeLayers, OnMade, complete, vectors_made_by
from abstrag.collection.filters import Filters
from abstrag.collection.sentences import layers_read
from abstrag.collection.shortlist import WEIGHTS, fused, without_copies
from abstrag.collection.vocabulary import LONGEST_NAME, CollectionVocabulary, asked_of
from abstrag.errors import NothingAsked, StoreReadOnly
from abstrag.language.calendar import CALENDAR_YEAR, FiscalYear
from abstrag.language.words import term_id
from abstrag.lexicon.events import event_key
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.memory import LruCache
from abstrag.model.query import Query
from abstrag.model.term import Interval, TermKind
from abstrag.neural.encoder import TextEncoder, Vectors
from abstrag.search.lexical import words
from abstrag.search.query.normalize import SENSES, normalize
from abstrag.search.query.operators import same_root
from abstrag.stores.cards import Hashes, Scores
from abstrag.stores.protocol import (
    CardsAsked,
    CardsFound,
    CardsState,
    DocumentInfo,
    ShortlistingStore,
)

Column = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]

log: Final = logging.getLogger("abstrag.stores")

_REMEMBERED: Final = 4  # filters whose documents are known, the last ones used
_COUNT_BITS: Final = 8  # bits of the count in the value of a stem's posting; the length is above
_NONE: Final = np.empty(0, np.int64)
_EMPTY: Final = (_NONE, _NONE)
_LIKELIEST: Final = (  # by words and vectors: half of what terms say, words say too
    WEIGHTS[ShortlistSource.WORDS] + WEIGHTS[ShortlistSource.TERMS] / 2,
    WEIGHTS[ShortlistSource.VECTORS],
)
_SLACK: Final = 1.01  # vectors were rounded, so that a window may be a little closer than it says


class ServerCards:
    """The cards of all documents on a server; each question reads only what it needs."""

    def __init__(
        self,
        store: ShortlistingStore,
        encoder: TextEncoder | None,
        *,
        on_made: OnMade = lambda _done, _all: None,
        make: MakeLayers | None = None,
    ) -> None:
        """Take a store; missing cards are made and stored, now and whenever documents are new.

        Args:
            store: Must stay open.
            encoder: None leaves vectors out.
            on_made: Told how many documents are done, of how many.
            make: As in `all_cards`.

        Raises:
            StoreReadOnly: Documents lack something, and the store does not take it.
        """
        self._store, self._encoder = store, encoder
        self._on_made, self._make = on_made, make
        self._model = "" if encoder is None else vectors_made_by(encoder)
        self._layers = layers_read(encoder)
        self._passing: LruCache[Places] = LruCache(_REMEMBERED)
        self._readying = Lock()
        self.made = 0  # documents that something was made of at first
        self._state = self._ready()

    @property
    def size(self) -> int:
        """The number of documents when the server was last asked."""
        return self._state.documents

    def ask(
        self,
        text: str,
        asked: Vectors | None,
        filters: Filters,
        *,
        first: int,
        also: tuple[str, ...] = (),
    ) -> CardsForQuestion:
        """Return what a question needs.

        Args:
            text: The question.
            asked: Its vector, where there is an encoder.
            filters: Which documents may be chosen.
            first: How many of them have to be the right ones.
            also: Ids of documents that have a row in any case.
        """
        stems = _hashes(words(text))
        given = asked if asked is not None and asked.any() else None
        for last in (False, True):
            state = self._state
            terms = _hashes(_foreseen(text, state.times))
            passing = self._numbers(filters) if filters.any else None
            found = self._store.ask_cards(
                replace(
                    self._asked(stems, terms, state),
                    also=also,
                    model=self._model,
                    vector=given if self._model else None,
                    passing=passing,
                    layers=self._layers,
                    weights=_LIKELIEST,
                )
            )
            if found.version == state.version or last:  # or others write faster than we read
                break
            self._renew()
        columns = _Columns(self._column, found.postings, {*stems.tolist(), *terms.tolist()})
        query = normalize(text, CollectionVocabulary(state.documents, columns, state.times))
        described = self._store.described
        gathered = _gathered(columns, found, state, query, stems, passing, described)
        if asked is None or not self._model:
            return gathered.cards
        if given is None:  # it has no direction, and every cosine is 0
            near = np.zeros(len(gathered.numbers), np.float32)
        else:
            near = gathered.cosines(found)
            undecided = gathered.undecided(near, found.farthest, first)
            if len(undecided):
                numbers = gathered.numbers[undecided]
                more = self._store.cosines(numbers, self._model, given)
                known = [more.get(number, 0.0) for number in numbers.tolist()]
                near[undecided] = np.clip(known, 0.0, 1.0)
        return replace(gathered.cards, vectors=lambda _asked: near)

    def ask_words(self, text: str) -> CardsForQuestion:
        """Return what BM25 needs of a text."""
        stems, state = _hashes(words(text)), self._state
        found = self._store.ask_cards(self._asked(stems, stems[:0], state))
        columns = _Columns(self._column, found.postings, set(stems.tolist()))
        described = self._store.described
        return _gathered(columns, found, state, None, stems, None, described).cards

    def any_passes(self, filters: Filters) -> bool:
        """Tell whether filters leave any document."""
        return len(self._numbers(filters)) > 0

    def _ready(self) -> CardsState:
        """Make sure that all documents have what a question needs."""
        model = self._model or None
        state = self._store.cards_state(model)
        if state.missing_layers:
            self.made = complete(
                self._store,
                self._encoder,
                state.missing_layers,
                on_made=self._on_made,
                make=self._make,
            )
            state = self._store.cards_state(model)
        return state

    def _renew(self) -> None:
        """Make the cards of new documents."""
        with self._readying:
            try:
                self._state = self._ready()
            except StoreReadOnly as error:
                self._state = state = self._store.cards_state(self._model or None)
                log.warning("%d documents are not found yet: %s", len(state.missing_layers), error)

    def _asked(self, stems: Hashes, terms: Hashes, state: CardsState) -> CardsAsked:
        """Return what brings the postings of some hashes."""
        room, slope = K1 * (1 - B), K1 * B / _usual(state)
        return CardsAsked(stems, terms, state.documents, room, slope)

    def _column(self, one: int) -> Column:
        """Ask for the postings of one more hash."""
        hashes = np.array([one], np.uint64)
        found = self._store.ask_cards(self._asked(hashes[:0], hashes, self._state))
        return found.postings.get(one, _EMPTY)

    def _numbers(self, filters: Filters) -> Places:
        """Return the numbers of all documents that filters leave, which takes reading them all."""

        def read() -> Places:
            every = self._store.described()
            passing = [n for n, info in every.items() if filters.refuses(info) is None]
            return np.array(sorted(passing), np.int64)

        return self._passing.get((self._state.version, filters), read)


def _usual(state: CardsState) -> float:
    return max(state.length / state.documents, 1.0) if state.documents else 1.0


def _hashes(names: Iterable[str]) -> Hashes:
    return np.array(sorted({hashed(name) for name in names}), np.uint64)


# What the reading of a question may ask of a vocabulary.

_KINDS: Final = (TermKind.CONCEPT, TermKind.ENTITY, TermKind.ROLE, TermKind.EVENT)
_READ_AS: Final = (
    (TermKind.CONCEPT, Pos.NOUN),
    (TermKind.CONCEPT, Pos.ADJECTIVE),
    (TermKind.EVENT, Pos.VERB),
)


@dataclass(frozen=True, slots=True)
class _Recorder:
    """A vocabulary that knows everything or nothing, and records what it is asked for."""

    knows: bool
    inside: CollectionVocabulary
    asked: set[str] = field(default_factory=set)
    segments: int = 1
    longest_name: int = LONGEST_NAME
    self_names: frozenset[str] = frozenset()
    fiscal: FiscalYear = CALENDAR_YEAR

    @property
    def terms(self) -> _Recorder:
        return self

    @property
    def names(self) -> _Recorder:
        return self

    def __contains__(self, term: object) -> bool:
        self.asked.add(str(term))
        return self.knows

    def get(self, key: str, /) -> str | None:
        term = term_id(TermKind.ENTITY, key)
        return term if term in self else None

    def frequency(self, terms: Iterable[str]) -> int:
        self.asked.update(terms)
        return int(self.knows)

    def times_inside(self, interval: Interval) -> tuple[str, ...]:
        return self.inside.times_inside(interval)

    def has_section(self, name: str) -> bool:
        return self.inside.has_section(name)


def _foreseen(text: str, times: tuple[str, ...]) -> set[str]:
    """Return the terms that a question may ask a vocabulary for, whatever that knows."""
    asked: set[str] = set()
    nothing = _Columns(lambda _one: _EMPTY, {}, set())
    for knows in (False, True):
        vocabulary = _Recorder(knows, CollectionVocabulary(0, nothing, times), asked)
        try:
            query = normalize(text, vocabulary)
        except NothingAsked:
            continue
        asked.update(name for each in query.literals for name, _ in asked_of(each.terms))
    named = {kind.value for kind in _KINDS}
    called = (term.partition(":") for term in sorted(asked))
    for word in {name for kind, _, name in called if kind in named and "." not in name}:
        asked.update(term_id(kind, word) for kind in _KINDS)
        for kind, pos in _READ_AS:
            senses = wordnet().synsets(word, pos)[:SENSES]
            asked.update(term_id(kind, wordnet().name(sense)) for sense in senses)
        if " " not in word:
            asked.update(term_id(TermKind.EVENT, event_key(word, pos)) for pos in ("VERB", "NOUN"))
            for kind in (TermKind.CONCEPT, TermKind.EVENT):
                asked.update(same_root(kind, word))
    return asked


# What a question sees.


@dataclass(frozen=True, slots=True)
class _Columns:
    """Postings by hash, as the server numbers documents; what is missing is asked for."""

    ask: Callable[[int], Column]
    found: dict[int, Column]
    asked: set[int]

    def __contains__(self, one: int) -> bool:
        return len(self.column(one)[0]) > 0

    def column(self, one: int) -> Column:
        if one not in self.asked:
            self.found[one] = self.ask(one)
            self.asked.add(one)
        return self.found.get(one, _EMPTY)


@dataclass(frozen=True, slots=True)
class _ByRow:
    """Postings of a question by row; of any other hash only how many hold it."""

    columns: _Columns
    rows: dict[int, tuple[Places, npt.NDArray[Any]]]

    def __contains__(self, one: int) -> bool:
        return one in self.columns

    def column(self, one: int) -> tuple[Places, npt.NDArray[Any]]:
        return self.rows[one] if one in self.rows else self.columns.column(one)


@dataclass(frozen=True, slots=True)
class _Documents(Sequence[DocumentInfo]):
    """The documents of a question; those that cannot be the best are read when asked for."""

    known: Sequence[DocumentInfo]  # of the first rows
    numbers: Places
    described: Callable[[Places], dict[int, DocumentInfo]]

    @overload
    def __getitem__(self, row: int) -> DocumentInfo: ...

    @overload
    def __getitem__(self, row: slice) -> Sequence[DocumentInfo]: ...

    def __getitem__(self, row: int | slice) -> DocumentInfo | Sequence[DocumentInfo]:
        if isinstance(row, slice):
            return [self[i] for i in range(*row.indices(len(self)))]
        if row < len(self.known):
            return self.known[row]
        return self.described(self.numbers[row : row + 1])[int(self.numbers[row])]

    def __len__(self) -> int:
        return len(self.numbers)


@dataclass(frozen=True, slots=True)
class _Gathered:
    """What the server gave, by row: those that may be the best by their ids, then the others."""

    cards: CardsForQuestion
    numbers: Places  # of the documents

    def cosines(self, found: CardsFound) -> Scores:
        """Return the cosine of each row; nan where the server did not compare it."""
        near = np.full(len(self.numbers), np.nan, np.float32)
        first = self.numbers[: len(found.documents)].tolist()
        near[: len(first)] = [found.documents[number].near or 0.0 for number in first]
        return np.clip(near, 0.0, 1.0)

    def undecided(self, near: Scores, far: float | None, first: int) -> Places:
        """Return the rows whose vectors decide whether they are among the first ones.

        Args:
            near: The cosine of each row, as far as it is known.
            far: The distance that windows have at least whose documents were not compared.
            first: How many have to be the right ones.
        """
        assert self.cards.read is not None
        known = replace(self.cards, vectors=lambda _asked: near)
        scores = known.scores(self.cards.read, near)
        prior = fused(scores)
        passed, _ = known.passing(Filters())
        order = without_copies(prior, passed, known.texts)
        least = float(prior[order[first - 1]]) if len(order) >= first else 0.0
        share = WEIGHTS[ShortlistSource.VECTORS] / sum(WEIGHTS[source] for source in scores)
        most = share * (1.0 if far is None else min(1.0, max(0.0, 1.0 - far) * _SLACK))
        unknown = passed[np.isnan(near[passed])]
        found: Places = unknown[prior[unknown] + most >= least]
        return found


def _gathered(
    columns: _Columns,
    found: CardsFound,
    state: CardsState,
    query: Query | None,
    stems: Hashes,
    passing: Places | None,
    described: Callable[[Places], dict[int, DocumentInfo]],
) -> _Gathered:
    """Give every document that holds anything of a question a row."""
    literals = () if query is None else query.literals
    terms = _hashes(name for each in literals for name, _ in asked_of(each.terms)).tolist()
    held = {one: columns.column(one) for one in (*stems.tolist(), *terms)}
    best = sorted(found.documents, key=lambda number: found.documents[number].info.id)
    every = np.unique(np.concatenate([_NONE, *(numbers for numbers, _ in held.values())]))
    numbers = np.concatenate((np.array(best, np.int64), np.setdiff1d(every, best)))
    by_number = np.argsort(numbers)
    rows = {
        one: by_number[np.searchsorted(numbers, own, sorter=by_number)]
        for one, (own, _) in held.items()
    }
    lengths = np.zeros(len(numbers), np.uint32)
    counts: dict[int, tuple[Places, npt.NDArray[Any]]] = {}
    for one in stems.tolist():
        values = held[one][1]
        lengths[rows[one]] = values >> _COUNT_BITS
        counts[one] = rows[one], values & ((1 << _COUNT_BITS) - 1)
    costs = {one: (rows[one], held[one][1].astype(np.uint8)) for one in terms}
    texts = numbers.astype(np.uint64)  # of those that cannot be the best: each its own
    texts[: len(best)] = [found.documents[number].text for number in best]
    left: Places = np.arange(len(numbers))
    if passing is not None:
        left = left[np.isin(numbers, passing)]
    infos = [found.documents[number].info for number in best]
    terms_by_row = _ByRow(columns, costs)
    card_table = CardsForQuestion(
        documents=_Documents(infos, numbers, described),
        texts=texts,
        lengths=lengths,
        stems=_ByRow(columns, counts),
        vocabulary=CollectionVocabulary(
            state.documents, terms_by_row, state.times, rows=len(numbers)
        ),
        vectors=None,
        size=state.documents,
        usual=_usual(state),
        read=query,
        passed=(left, state.documents if passing is None else len(passing)),
        layers=found.layers,
    )
    return _Gathered(card_table, numbers)
