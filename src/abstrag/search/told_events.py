"""Events that a passage tells of the very thing a query asks about, by another verb.

How near two verbs are depends on what they are said of: a court that "dismissed the claim"
rejected it, while a teacher who dismissed the class rejected nothing. Where what is asked about
takes part in an event of the passage, by the same word or one very near, WordNet's word for the
two verbs is enough: that they share a sense, that the asked one is the next broader of the told
one, or that the told one entails or causes it. A learned price that is low enough will do as
well. All else that is asked for must stand in the passage.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import numpy as np

from abstrag.lexicon.acts import one_act, verbs_at
from abstrag.lexicon.events import inventory
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.query import LiteralKind, Query
from abstrag.model.term import Family, Frame, Mention, TermKind
from abstrag.search.costed_index import BoolArray, FloatArray, IntArray
from abstrag.search.document_words import NOWHERE, DocumentWords
from abstrag.search.families import direction, opposite, step_family

PRICE: Final = 0.5  # of a step between two such verbs
NEAR: Final = 0.7  # up to this learned price an event counts that no lexicon links
_UP: Final = frozenset(
    "increase rise raise grow climb improve gain expand surge jump widen add strengthen".split()
)
_DOWN: Final = frozenset(
    "decrease lower reduce decline fall drop shrink cut lessen diminish worsen narrow lose".split()
)
_SENSES: Final = 8  # of a verb that are looked at
_FIRST: Final = 4  # of them that a verb has without much ado; they share no rarer one
_DEFINING: Final = frozenset("mean include contain comprise denote represent refer base".split())
_FAR: Final = 60  # letters between a verb and what is said with it
ENDED: Final = re.compile(  # "et al. show" goes on, and so do "Dr. Okafor" and "J. Okafor"
    r"(?<!\b[A-Z])(?<!\b(?:Dr|Mr|Ms|St))(?<!\bMrs)(?<!\bProf)[.!?;]\s+(?=\W*[A-Z])"
)
_EVENT: Final = f"{TermKind.EVENT.value}:"


def verbs_of(event: str) -> tuple[str, ...]:
    """Return the verbs that name an event: those of the inventory's type, or its own key."""
    name = event.removeprefix(_EVENT)
    known = inventory().types.get(name)
    return known.verbs if known is not None and known.verbs else (name,)


@lru_cache(maxsize=1 << 14)
def one_event(asked: str, told: str) -> bool:
    """Tell whether WordNet takes two verbs for the same act, or the told one for a kind of it.

    A broader verb may tell of much else: what is removed need not be discarded.
    """
    if told in _DEFINING or contrary(asked, told):
        return False
    net = wordnet()
    a, b = (net.synsets(verb, Pos.VERB) for verb in (asked, told))
    if set(a) & set(b) & {*a[:_FIRST], *b[:_FIRST]}:
        return True
    wide = set(a[:_SENSES])
    return any(
        wide & {*net.hypernyms(sense), *net.entailments(sense), *net.causes(sense)}
        for sense in b[:_SENSES]
    )


@lru_cache(maxsize=1 << 14)
def contrary(asked: str, told: str) -> bool:
    """Tell whether two verbs, or what they are kinds of, are opposites: lower and increase."""
    if {asked in _UP, told in _UP} == {asked in _DOWN, told in _DOWN} == {True, False}:
        return True
    a, b = _kinds(asked), _kinds(told)
    return any(opposite(one, other) for one in a for other in b)


def _kinds(verb: str) -> tuple[str, ...]:
    """Return a verb and the verbs of its first senses, and of what is next broader."""
    net = wordnet()
    senses = net.synsets(verb, Pos.VERB)[:2]
    wider = [up for sense in senses for up in net.hypernyms(sense)]
    names = (name for sense in (*senses, *wider) for name in net.lemmas(sense))
    return tuple(dict.fromkeys((verb, *(name for name in names if " " not in name))))


class ToldEvents:
    """The events of a document, and what its mentions name, by segment."""

    def __init__(
        self, frames: Iterable[Frame], texts: Sequence[str], mentions: Sequence[Mention] = ()
    ) -> None:
        """Take the events of a document, the texts of its segments, and its sorted mentions."""
        self._texts = texts
        self._mentions = mentions
        self._every: dict[int, list[Frame]] = {}
        self._by_segment: dict[int, list[Frame]] = {}
        for frame in frames:
            self._every.setdefault(frame.segment, []).append(frame)
            if frame.slots and not frame.artifact:
                self._by_segment.setdefault(frame.segment, []).append(frame)

    def events_of(self, segment: int) -> Sequence[Frame]:
        """Return all events of a segment."""
        return self._every.get(segment, ())

    def mentions_of(self, segment: int) -> Sequence[Mention]:
        """Return what is mentioned in a segment and its headers."""
        first = bisect_left(self._mentions, segment, key=lambda m: m.segment)
        last = bisect_left(self._mentions, segment + 1, lo=first, key=lambda m: m.segment)
        return self._mentions[first:last]

    def _one_sentence(self, segment: int, one: int, other: int) -> bool:
        """Tell whether two places of a segment lie in one sentence; not in it is in a header."""
        text = self._texts[segment]
        return other < 0 or not ENDED.search(text, min(one, other), max(one, other))

    def _own_verb(self, segment: int, frame: Frame) -> tuple[str, ...]:
        """Return the verb of several words that tells an event, for an idiom has other senses too.

        Who "caved in" yielded, and what caved in collapsed.
        """
        first, *rest = self._texts[segment][frame.start : frame.end].casefold().split() or [""]
        bases = wordnet().base_forms(first, Pos.VERB) if rest else ()
        phrases = (" ".join((base, *rest)) for base in bases)
        return tuple(phrase for phrase in phrases if wordnet().synsets(phrase, Pos.VERB))

    def _is_kind_of_step(self, asked: str, segment: int, frame: Frame) -> bool:
        """Tell whether more than a learned price speaks for a word that tells of an event."""
        told = self._texts[segment][frame.start : frame.end].split()[0]
        related = step_family(asked, told) == Family.RELATED.value
        return not related and direction(asked, told) != "broader"

    def met_by(
        self,
        query: Query,
        literal: int,
        segment: int,
        there: Sequence[tuple[int, int]],
        near: int | None,
    ) -> Frame | None:
        """Return an event of a segment that meets an event of a query.

        `there` are the places of words in the segment that meet other parts of the query as they
        are, `near` is that of the word nearest to the asked one, where it is near enough.
        """
        asked = query.literals[literal]
        if asked.kind is not LiteralKind.EVENT:
            return None
        verbs = [v for t in asked.terms if _names_verb(t) for v in verbs_of(t)]
        for frame in self._by_segment.get(segment, ()):
            if not all(self._one_sentence(segment, frame.start, start) for start, _ in there):
                continue
            within = [
                slot.name
                for slot in frame.slots
                for start, end in there
                if slot.start <= start and end <= slot.end
            ]
            if frame.negated == asked.negated:
                told = (*verbs_of(frame.event), *self._own_verb(segment, frame))
                with_it = not there or within or any(abs(frame.start - a) <= _FAR for a, _ in there)
                if with_it and any(one_event(a, b) for a in verbs for b in told if a != b):
                    return frame
                if within:
                    every = (*told, *verbs_at(self._texts[segment], frame.start))
                    if any(one_act(a, b) and not opposite(a, b) for a in verbs for b in every):
                        return frame
                if (
                    within
                    and near == frame.start
                    and self._is_kind_of_step(asked.label, segment, frame)
                    and not any(contrary(a, b) for a in verbs for b in told)
                ):
                    return frame
        return None


def _names_verb(term: str) -> bool:
    return term.startswith(_EVENT) and "." not in term


def told_places(
    query: Query,
    told: ToldEvents,
    literal_of: Sequence[int],
    prices: FloatArray,
    direct: BoolArray,
    wanted: Container[int],
    places: Callable[[int, int], tuple[int, int]],
) -> Iterator[tuple[int, int, int]]:
    """Go through query words and segments where an event meets the word, and where it begins.

    `wanted` are the words that say what is asked for; `places` tells for a query word and a segment
    where in its text the word stands that meets it.
    """
    heads: dict[int, int] = {}
    for i, j in enumerate(literal_of):
        if j != NOWHERE and query.literals[j].kind is LiteralKind.EVENT:
            heads.setdefault(j, i)
    for j, i in heads.items():
        if direct[i].any():
            continue  # the document has the asked word, and means another thing by another
        named = [k for k, own in enumerate(literal_of) if own not in (j, NOWHERE)]
        # all else that is named must be there, but not what only says what is wanted ("which
        # language"); where nothing is named, the words must be near
        others = [k for k in named if k not in wanted] or named
        here = (prices[others] <= PRICE).all(axis=0) if others else prices[i] <= NEAR
        for segment in np.flatnonzero(here).tolist():
            there = [places(k, segment) for k in others]
            close = prices[i, segment] <= NEAR
            near = places(i, segment)[0] if close else None
            frame = told.met_by(query, j, segment, there, near)
            if frame is not None:
                yield i, segment, frame.start


@dataclass(frozen=True)
class NearbyWords:
    """The words of a query laid over those of a document, wherever the very words stand."""

    words: DocumentWords
    asked: Sequence[str]
    _same: dict[int, BoolArray] = field(default_factory=dict)

    def nearest(self, rows: Sequence[int], segment: int) -> IntArray | None:
        """Return the words of a segment that are these, two or more, nearest to one another."""
        found = self._occurrences(rows, segment)
        if not all(map(len, found)):
            return None
        near = [[int(own[np.abs(own - at).argmin()]) for own in found] for at in found[0].tolist()]
        best = min(near, key=lambda some: max(some) - min(some))
        return np.array(best, np.int64) + int(self.words.starts[segment])

    def apart(self, rows: Sequence[int], segment: int) -> bool:
        """Tell whether some words of a query stand in a segment, and never in one sentence.

        "These data were new. Nothing was set aside." has no data set. What a header or the section
        says is said of every sentence.
        """
        first, last = self.words.starts[segment : segment + 2].tolist()
        text, own = self.words.texts[segment], self.words.segments[segment].text
        ends = [m.start() for m in ENDED.finditer(text, len(text) - len(own))]
        if not ends:
            return False
        sentences = []
        for said in self._occurrences(rows, segment):
            if not len(said) or self.words.aside[first:last][said].any():
                return False
            starts = self.words.table.spans[first:last][said, 0].tolist()
            sentences.append({bisect_left(ends, start) for start in starts})
        return not set.intersection(*sentences)

    def _occurrences(self, rows: Sequence[int], segment: int) -> list[IntArray]:
        """Return where words of the query stand among the words of a segment."""
        first, last = self.words.starts[segment : segment + 2].tolist()
        for i in rows:
            if i not in self._same:
                self._same[i] = self.words.same(self.asked[i])
        return [np.flatnonzero(self._same[i][first:last]) for i in rows]
