"""Alignment: each content word of a query is met by the word of a segment that costs least.

A price lies in [0, 4]. The same word, or an inflection of it, in the same sense needs no bridge:
its price is 0; in another sense it costs at least what a merely related word does. Numbers and
names are met by themselves alone: 2018 is not 2019. A price depends on the two words in their texts
and on nothing else, so it means the same in every document.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final

import numpy as np

from abstrag.config import COST_UNIT, MAX_GAP, OMEGA
from abstrag.model.patch import Precedent, StepPrice
from abstrag.model.query import LiteralKind, Query
from abstrag.model.term import Family
from abstrag.neural.aligner import PriceList
from abstrag.neural.bundle import Aligning
from abstrag.neural.vectors import AlignedText, has_content
from abstrag.search.costed_index import BoolArray, FloatArray, IntArray, unfilled_units
from abstrag.search.document_words import (
    NOWHERE,
    Considered,
    DocumentWords,
    SegmentReach,
    Sought,
    forms,
    label_words,
    literals_of_words,
)
from abstrag.search.families import (
    ANOTHER_SENSE,
    LIMITS,
    SYNONYMS,
    is_code,
    names_office,
    office_around,
    price_limit,
    step_family,
)
from abstrag.search.precedents import LENGTH, lead, moved, pull, speaking, word_weights
from abstrag.search.said_of import SaidOf
from abstrag.search.told_events import PRICE as TOLD_PRICE
from abstrag.search.told_events import NearbyWords, ToldEvents, told_places

_IN_NAME: Final = 0.3  # the limit for a word that the text writes large within a sentence
_OPENING: Final = " \t\n\"'“‘(["  # may stand between the end of a sentence and the next one
_SENTENCE_ENDS: Final = frozenset(("", *".!?:;|•·–—-)"))  # before a word that opens something
_IN_HEADER: Final = 0.25  # the limit for a word of a header or of the name of a section
_NAMED: Final = 0.15  # the limit for a word that a query writes large and the text does not
_PART: Final = 3  # letters of a word that may be written together with the next one
_ALONE: Final = 0.33  # the limit where nothing that a word is asked with stands in the sentence
_NEAR: Final = LIMITS[Family.EXPRESSION.value]  # up to it a word may stand for an asked one
_SIMILAR: Final = 1.0  # up to it a word may be another name of the same thing
_TIE: Final = 1e-7  # of a learned price: it decides only between words of one price
QUESTION_WORDS: Final = frozenset("who whom whose what which when where why how".split())
_WHICH: Final = re.compile(r"\b(?:which|what)\s+$", re.IGNORECASE)
_HOW_MUCH: Final = re.compile(r"\bhow\s+(much|many)\b", re.IGNORECASE)
_JOINED_NUMBER: Final = re.compile(r"-(\d+)\b")
_EXACT: Final = frozenset({LiteralKind.ENTITY, LiteralKind.TIME, LiteralKind.QUANTITY})


def conditions(query: Query, read: AlignedText) -> AlignedText:
    """Return a query's words less those that only ask; all of them where there are no others."""
    asking = {match.span(1) for match in _HOW_MUCH.finditer(query.wording)}
    kept = np.array(
        [
            query.wording[start:end].lower() not in QUESTION_WORDS and (start, end) not in asking
            for start, end in read.spans.tolist()
        ],
        dtype=np.bool_,
    )
    return read.keeping(kept) if kept.any() else read


@dataclass(frozen=True)
class Alignment:
    """One query laid over the words of one document."""

    words: DocumentWords
    query: Query
    asked: AlignedText
    constants: Aligning
    links: bool = True  # else a word is met by itself alone
    steps: tuple[StepPrice, ...] = ()  # prices that somebody has set
    precedents: tuple[Precedent, ...] = ()  # what other documents said to such questions
    reach: SegmentReach | None = None  # of a long document: where bridges lead
    also: tuple[int, ...] = ()  # segments of a long document to look at, whatever they promise
    told: ToldEvents | None = None  # the events of the document

    @cached_property
    def asked_words(self) -> tuple[str, ...]:
        """The query's content words."""
        return tuple(self.query.wording[start:end] for start, end in self.asked.spans.tolist())

    @cached_property
    def literal_of(self) -> tuple[int, ...]:
        """For each query word the literal it belongs to, −1 where none does."""
        labels = [literal.label for literal in self.query.literals]
        return literals_of_words(self.asked_words, labels, forms)

    @cached_property
    def exact(self) -> tuple[bool, ...]:
        """For each query word whether nothing but itself can meet it: numbers and names."""
        kinds = [literal.kind for literal in self.query.literals]
        return tuple(
            any(c.isdigit() for c in word) or (j != NOWHERE and kinds[j] in _EXACT)
            for word, j in zip(self.asked_words, self.literal_of, strict=True)
        )

    @cached_property
    def _told_at(self) -> set[tuple[int, int]]:
        """The query words and segments where an event told of the asked thing meets the word."""
        return set()

    @cached_property
    def considered(self) -> Considered:
        """The words that are looked at: all, or of a long document those that promise most."""
        alone = [exact or not self.links for exact in self.exact]
        also = {
            word: [s.said for s in self.steps if own & set(forms(s.asked)) and not s.refuses]
            for word, own in ((word, set(forms(word))) for word in self.asked_words)
        }
        sought = Sought(
            self.asked,
            self.asked_words,
            alone,
            self.constants,
            self.constants.gist_share,
            also,
            self.literal_of,
            self.reach,
        )
        return self.words.considered(sought, self.also)

    @cached_property
    def _cheapest(self) -> tuple[FloatArray, IntArray, BoolArray]:
        """For each query word and segment: least price, the word it is of, whether the same."""
        words, size = self.considered, (len(self.asked), len(self.words.segments))
        price, at = np.full(size, MAX_GAP), np.full(size, NOWHERE, np.int64)
        same = np.zeros(size, dtype=np.bool_)
        filled = np.flatnonzero(np.diff(words.starts))
        if not (len(filled) and len(self.asked)):
            return price, at, same
        costs = PriceList(self.constants).of_words(words.cosines(self.asked.vectors))
        cuts, counts = words.starts[filled], np.diff(words.starts)[filled]
        elsewhere = MAX_GAP * (words.aside + 2.0 * words.rewritten)
        for i, word in enumerate(self.asked_words):
            equal, learned = words.same(word), costs[i] if self.links else np.zeros(len(costs[i]))
            for together in self._together(i):
                code = _is_code(together)  # “grade 1” is no “grade”
                glued = words.written(together) if code else words.same(together)
                equal, learned = equal | glued, np.where(glued, 0.0, learned)
            if number := self._number_behind(i):
                other = words.before_another_number(equal, number)
                equal, learned = equal & ~other, np.where(other, MAX_GAP, learned)
            learned = np.where(words.rewritten, np.where(equal, 0.0, MAX_GAP), learned)
            row = self._row(i, equal, learned)
            # of words of one price one that is written in the text itself, of those the one that
            # suits best there, and of those the first
            rated = row + _TIE * (learned + elsewhere)
            least = np.minimum.reduceat(rated, cuts)
            hits = np.flatnonzero(rated == np.repeat(least, counts))
            owners = np.searchsorted(words.starts, hits, side="right") - 1
            best = hits[np.unique(owners, return_index=True)[1]]
            price[i, filled], same[i, filled] = row[best], equal[best]
            at[i, filled] = words.numbered(best)
        price = np.minimum(price, MAX_GAP)
        at[price >= MAX_GAP] = NOWHERE
        if self.told is not None and self.links:
            self._meet_by_events(self.told, price, at, same)
        self._put_together(at, same & (price == 0))
        return price, at, same

    def _put_together(self, at: IntArray, direct: BoolArray) -> None:
        """Take for the words of a literal those of a segment that stand nearest to one another."""
        for rows in (rows for rows in self.words_of if len(rows) > 1):
            for segment in np.flatnonzero(direct[rows].all(axis=0)).tolist():
                if (near := self._nearby.nearest(rows, segment)) is not None:
                    at[rows, segment] = near

    @cached_property
    def words_of(self) -> tuple[list[int], ...]:
        """For each literal its words in the query."""
        every = range(len(self.query.literals))
        return tuple([i for i, of in enumerate(self.literal_of) if of == j] for j in every)

    @cached_property
    def _nearby(self) -> NearbyWords:
        return NearbyWords(self.words, self.asked_words)

    def _meet_by_events(
        self, told: ToldEvents, price: FloatArray, at: IntArray, same: BoolArray
    ) -> None:
        """Let events meet words where what they are told of stands in the query."""
        table, words = self.words.table, self.words

        def before(segment: int) -> int:
            return len(words.texts[segment]) - len(words.segments[segment].text)

        def place(i: int, segment: int) -> tuple[int, int]:
            start, end = table.spans[int(at[i, segment])].tolist()
            return start - before(segment), end - before(segment)

        def word_at(segment: int, start: int) -> int | None:
            first, last = words.starts[segment : segment + 2].tolist()
            own = np.flatnonzero(table.spans[first:last, 0] == start + before(segment))
            return first + int(own[0]) if len(own) else None

        direct = same & (price == 0)
        starts = [int(start) for start, _ in self.asked.spans.tolist()]
        text = self.query.wording
        wanted = {i for i, start in enumerate(starts) if _WHICH.search(text[:start])}
        found = list(told_places(self.query, told, self.literal_of, price, direct, wanted, place))
        for i, segment, start in found:
            verb = word_at(segment, start)
            if verb is None or self.exact[i]:
                continue
            if price[i, segment] > TOLD_PRICE:
                price[i, segment], same[i, segment] = TOLD_PRICE, False
                at[i, segment] = verb
            if at[i, segment] == verb:  # also where the learned price is lower still
                self._told_at.add((i, segment))

    def _together(self, i: int) -> list[str]:
        """Return a word with its neighbours, written as one: of "NIH 3T3", "NIH3T3".

        Of words without digits too where both are long enough to be told apart: "web sites".
        """
        found, spans = [], self.asked.spans
        for first in (i - 1, i):
            if 0 <= first < len(spans) - 1:
                start, end = int(spans[first][1]), int(spans[first + 1][0])
                pair = self.asked_words[first] + self.asked_words[first + 1]
                parts = self.asked_words[first : first + 2]
                plain = all(part.isalpha() and len(part) >= _PART for part in parts)
                if self.query.wording[start:end] in (" ", "-") and (plain or _is_code(pair)):
                    found.append(pair)
        return found

    def _number_behind(self, i: int) -> str:
        """Return the number that a hyphen joins to a word: 80 of "IL-80"."""
        found = _JOINED_NUMBER.match(self.query.wording, int(self.asked.spans[i][1]))
        return found.group(1) if found else ""

    def _row(self, i: int, equal: BoolArray, learned: FloatArray) -> FloatArray:
        """Return the price of every word of the document for one word of the query."""
        alone = self.exact[i] or not self.links
        others = np.where(self.considered.has_digits, MAX_GAP, np.maximum(learned, 1e-4))
        another_sense = (learned > self.constants.limit) & (not is_code(self.asked_words[i]))
        direct = np.where(another_sense, np.maximum(learned, OMEGA["related"]), 0.0)
        row = np.where(equal, direct, MAX_GAP if alone else others)
        return self._repriced(row, self.asked_words[i], alone=alone)

    def _repriced(self, row: FloatArray, word: str, *, alone: bool) -> FloatArray:
        """Return the prices of the document's words for a query word, as people have set them."""
        own = set(forms(word))
        for step in self.steps:
            if own.isdisjoint(forms(step.asked)):
                continue
            said = self.considered.same(step.said)
            if step.refuses and _concerns(step, word):
                row = np.where(said, np.maximum(row, step.at_least), row)
            elif not (step.refuses or alone):
                said &= ~self.considered.has_digits
                row = np.where(said, np.minimum(row, step.at_most), row)
        return row

    @property
    def prices(self) -> FloatArray:
        """For each query word and segment what meeting it costs; 4 where nothing does."""
        return self._cheapest[0]

    @property
    def places(self) -> IntArray:
        """For each query word and segment the number of the word that meets it best, or −1."""
        return self._cheapest[1]

    @property
    def direct(self) -> BoolArray:
        """For each query word and segment whether the very word meets it, in the same sense."""
        found: BoolArray = self._cheapest[2] & (self._cheapest[0] == 0)
        return found

    @property
    def same(self) -> BoolArray:
        """For each query word and segment whether the word that meets it is the same form."""
        return self._cheapest[2]

    @cached_property
    def gist(self) -> FloatArray:
        """For each segment what it costs to take it for being about what the query is about."""
        asked = moved(self.asked.gist, self.precedents, self.words.model)
        return PriceList(self.constants).of_gist(self.words.nearness(asked))

    @cached_property
    def unlike(self) -> FloatArray:
        """For each segment what it costs to say it in other words than evidence elsewhere does."""
        size = len(self.words.segments)
        told = word_weights(self.asked.gist, self.precedents, self.words.model)
        if not told:
            return np.zeros(size)
        bases, owners, numbers = self.words.bases
        weights = np.array([told.get(base, 0.0) for base in bases])
        total = np.bincount(owners, weights[numbers], size)
        like = total / np.sqrt(np.bincount(owners, minlength=size) + LENGTH)
        found: FloatArray = like.max() - like
        return found

    @property
    def elsewhere(self) -> int:
        """How many other documents show where the answer to such a question stands."""
        return speaking(self.asked.gist, self.precedents, self.words.model)

    @cached_property
    def pull(self) -> float:
        """How far a segment comes up to a better one beside it, as evidence elsewhere stands."""
        return pull(self.asked.gist, self.precedents, self.words.model)

    @cached_property
    def lead(self) -> float:
        """How far the opening of a list comes up to its best item, as in evidence elsewhere."""
        return lead(self.asked.gist, self.precedents, self.words.model)

    @cached_property
    def rarity(self) -> FloatArray:
        """For each query word how few segments have it."""
        n = len(self.words.segments)
        df = np.array([len(self.words.segments_with(word)) for word in self.asked_words])
        found: FloatArray = np.log(1 + (n - df + 0.5) / (df + 0.5))
        return found

    @cached_property
    def ways(self) -> IntArray:
        """For each literal and segment what meeting it by its words costs, in units; or `FAR`.

        Nothing where all its words are there; else the weighted mean of their prices, but at
        least what the dearest family of step used costs.
        """
        from abstrag.search.lookup import FAR  # it uses this

        found = np.full((len(self.query.literals), len(self.words.segments)), FAR, np.int64)
        for j, literal in enumerate(self.query.literals):
            rows = self.words_of[j]
            if not rows or len(rows) < _content(literal.label):
                continue
            weights = self.asked.weights[rows].astype(np.float64)
            costs, direct = self.prices[rows], self.direct[rows]
            mean = (weights / weights.sum()) @ costs
            least = np.zeros(costs.shape[1])
            for i, steps in zip(rows, ~direct, strict=True):
                np.maximum(least, np.where(steps, self.fees[i], 0.0), out=least)
            met = np.asarray(self.met[rows].all(axis=0))
            if len(rows) > 1:
                for segment in np.flatnonzero(met & (costs == 0).all(axis=0)).tolist():
                    met[segment] = not self._nearby.apart(rows, segment)
            units = np.rint(np.maximum(mean, least) * COST_UNIT).astype(np.int64)
            units += unfilled_units(literal.slots)
            found[j] = np.where(met, units, FAR)
        return found

    @cached_property
    def doubted(self) -> BoolArray:
        """For each literal and segment whether all words there are far from those of the literal.

        What WordNet has of a sense of some word there is then not what is meant. Names, numbers and
        roles are not doubted: their steps do not depend on a sense.
        """
        found = np.zeros((len(self.query.literals), len(self.words.segments)), np.bool_)
        for j, literal in enumerate(self.query.literals):
            rows = self.words_of[j]
            sure = literal.kind in _EXACT or literal.kind is LiteralKind.ROLE
            if self.links and rows and not sure:
                seen = self.considered.segments
                found[j, seen] = (self.prices[rows][:, seen] > ANOTHER_SENSE).all(axis=0)
        return found

    @property
    def fees(self) -> FloatArray:
        """For each query word and segment the weight of the family of the step that meets it."""
        return self._judged[0]

    @property
    def met(self) -> BoolArray:
        """For each query word and segment whether it is met: directly, or by a step that counts.

        How cheap a step must be depends on what speaks for it besides its price.
        """
        return self._judged[1]

    @cached_property
    def _judged(self) -> tuple[FloatArray, BoolArray]:
        """For each query word and segment the weight of the family, and whether the step counts."""
        fees, met = np.full(self.prices.shape, OMEGA["related"]), self.direct.copy()
        for i in range(len(self.asked_words)):
            near = np.flatnonzero((self.prices[i] <= SYNONYMS) & ~self.direct[i])
            known: dict[tuple[str, bool, bool, bool], tuple[float, float]] = {}
            for segment in near.tolist():
                told = (i, segment) in self._told_at
                said = *self.said(i, segment), told, self._in_name(i, segment)
                if said not in known:
                    fee = OMEGA[self.family(i, segment, aside=False)]
                    known[said] = fee, self._limit(i, segment)
                fees[i, segment], limit = known[said]
                cheap = self.prices[i, segment] <= limit
                met[i, segment] = cheap and not self._meets_another(i, segment)
                if met[i, segment] and limit < self.constants.limit:  # not an office
                    met[i, segment] = not self._said_of_another(i, segment)
        return fees, met

    def _said_of_another(self, i: int, segment: int) -> bool:
        """Tell whether the word for a query word is said of something else than is asked."""
        if self._said_of is None:
            return False
        place = self.words.place(segment, int(self.places[i, segment]))
        if place.header is not None or place.in_section:
            return False
        at = segment, place.start, place.end
        other_verb = self._said_of.is_other_verb(i, place.text)
        if other_verb and self._said_of.elsewhere(i, *at):
            return True
        if self._in_idiom(i):
            return False
        if (other_verb or self.prices[i, segment] > _ALONE) and self._said_of.alone(i, *at):
            return True
        if self._said_of.compared_with(i, *at):
            return True
        return self._said_of.another(i, *at)

    def _in_idiom(self, i: int) -> bool:
        """Tell whether a query names an event in several words, of which one is said of another."""
        j = self.literal_of[i]
        event = j != NOWHERE and self.query.literals[j].kind is LiteralKind.EVENT
        return event and self.literal_of.count(j) > 1

    def told_of_another(self, j: int, segment: int, term: str) -> bool:
        """Tell whether what a segment names is said of something else than a literal asks.

        Where the very word for a literal stands in the segment, it is not. What a query writes
        large is a term of its own, and no word that the segment writes small.
        """
        rows = self.words_of[j]
        if self._said_of is None or not rows or segment not in self.considered:
            return False
        if self._in_idiom(rows[0]):
            return self._said_of.told_elsewhere(rows[0], segment, term)
        if self.direct[rows, segment].any():
            return False
        name = self.query.literals[j].kind is LiteralKind.ENTITY
        if name or self._is_term(rows):
            small = self._said_of.written_small(segment, term)
            if small or name:
                return small
        return self._said_of.told_of_another(rows[0], segment, term)

    def _is_term(self, rows: Sequence[int]) -> bool:
        """Tell whether a query writes some words large, and not all words: "this Agreement".

        An abbreviation is large whatever it stands for.
        """
        large = [word[:1].isupper() and not word[1:].isupper() for word in self.asked_words]
        inside = all(large[i] and int(self.asked.spans[i][0]) > 0 for i in rows)
        return inside and not all(large)

    def stands_at(self, j: int, segment: int) -> int | None:
        """Return where in a segment's own text the very word for a literal stands, if it does."""
        for i, of in enumerate(self.literal_of):
            if of == j and self.direct[i, segment]:
                place = self.words.place(segment, int(self.places[i, segment]))
                return None if place.header is not None or place.in_section else place.start
        return None

    @cached_property
    def _said_of(self) -> SaidOf | None:
        if self.told is None or not self.links:
            return None
        near, similar = (partial(self._nearest, limit=limit) for limit in (_NEAR, _SIMILAR))
        return SaidOf(self.query.wording, self.asked, self.words, self.told, near, similar)

    def _nearest(self, i: int, segment: int, *, limit: float) -> int | None:
        """Return the number of the word that may stand for a query word in a segment."""
        return int(self.places[i, segment]) if self.prices[i, segment] <= limit else None

    def _meets_another(self, i: int, segment: int) -> bool:
        """Tell whether the word for a query word is the very word that another one asks for.

        "This Agreement" is the asked Agreement, and does not say that it was agreed.
        """
        others = self.direct[:, segment] & (self.places[:, segment] == self.places[i, segment])
        return bool(others.any())

    def said(self, i: int, segment: int) -> tuple[str, bool]:
        """Return the word that meets a query word best in a segment, and whether it is aside.

        An office is given by its whole name where a kind of office is asked for.
        """
        at = int(self.places[i, segment])
        start, end = self.words.table.spans[at].tolist()
        text = self.words.texts[segment]
        said = self.words.words[at]
        if names_office(self.asked_words[i]):
            said = office_around(text, start, end) or said
        return said, start < len(text) - len(self.words.segments[segment].text)

    def _in_name(self, i: int, segment: int) -> bool:
        """Tell whether a text writes a word large that a query writes small, within a sentence."""
        start, end = self.words.table.spans[int(self.places[i, segment])].tolist()
        text = self.words.texts[segment]
        said, before = text[start:end], text[:start].rstrip(_OPENING)
        large = said[:1].isupper() and not (said.isupper() or self.asked_words[i][:1].isupper())
        return large and before[-1:] not in _SENTENCE_ENDS

    def family(self, i: int, segment: int, *, aside: bool = True) -> str:
        """Name the family of the step that leads to a query word in a segment."""
        said, beside = self.said(i, segment)
        same = bool(self.same[i, segment])
        found = step_family(self.asked_words[i], said, same=same, aside=aside and beside)
        told = found == Family.RELATED.value and (i, segment) in self._told_at
        return Family.EVENT.value if told else found

    def _limit(self, i: int, segment: int) -> float:
        """Return the price up to which a step counts; what somebody has confirmed always does."""
        word, said = self.asked_words[i], self.words.words[int(self.places[i, segment])]
        own, other = set(forms(word)), set(forms(said))
        for step in self.steps:
            concerned = own.intersection(forms(step.asked)) and other.intersection(forms(step.said))
            if concerned and not step.refuses:
                return self.constants.limit
        if (i, segment) in self._told_at:
            return TOLD_PRICE
        own_word = bool(self.direct[i].any())
        limit = price_limit(word, said, self.family(i, segment), own_word=own_word)
        term = word[:1].isupper() and int(self.asked.spans[i][0]) > 0 and said[:1].islower()
        if term:  # "the Receiving Party" is no party that merely receives
            return min(limit, _NAMED)
        if self._in_name(i, segment):  # "Tower Buildings" tells of nothing that was built
            limit = min(limit, _IN_NAME)
        aside = self.said(i, segment)[1] and self.family(i, segment) != Family.EXPRESSION.value
        return min(limit, _IN_HEADER) if aside else limit


def _is_code(word: str) -> bool:
    """Tell whether a word has letters and digits: "BRCA1"."""
    return any(map(str.isdigit, word)) and any(map(str.isalpha, word))


def _concerns(step: StepPrice, word: str) -> bool:
    """Tell whether a floor is about steps of the family that meets a word; without any, all are."""
    return step.family is None or step.family.value == step_family(word, step.said)


def _content(label: str) -> int:
    """Return how many content words a literal has."""
    return sum(has_content(word.lower()) for word in label_words(label))
