"""What a word of a passage is said of: of what the query asks it of, or of something else.

"Incidence increased" says nothing about a mortality that "has risen", whatever the two verbs cost.
The query is parsed; of a passage there are its events with who takes part in them, and its noun
phrases. A step is said of something else where the event of the passage has other parties than the
one of the query, where a negation denies what stands far away, and where the word only
modifies another noun ("cell division" for *cellular clocks*).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Final, NamedTuple

import numpy as np

from abstrag.files import read_data_file
from abstrag.language.words import NOUNS, Words
from abstrag.lexicon.events import names_event
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.term import Family, Frame, Mention, Slot, TermKind
from abstrag.neural.vectors import AlignedText, has_content
from abstrag.search.costed_index import IntArray
from abstrag.search.document_words import DocumentWords, forms
from abstrag.search.families import one_word, step_family
from abstrag.search.query.normalize import parsed_query
from abstrag.search.told_events import ENDED, ToldEvents

Place = tuple[int, int]  # where a word begins and ends
_NAME: Final = f"{TermKind.ENTITY.value}:"
ASIDE: Final[Place] = (-1, -1)  # in a header or the name of the section

_PARTIES: Final = frozenset({"who", "whom"})
_PRONOUN: Final = re.compile(  # may stand for anything
    r"(?:it|they|them|this|that|these|those|he|she|him|her|we|us|you|I|me|which|who|one|all"
    r"|everything|everyone|something|someone|some|others|what|whatever)$",
    re.IGNORECASE,
)
_CLOSE: Final = 1  # tokens between two words of one phrase
_IDIOM: Final = 3  # words of an event; a verb with a particle has two
_COMPARATIVE: Final = re.compile(r"(?:\w\wer|worse|better|less|more)$", re.IGNORECASE)
_THAN: Final = re.compile(r"\bthan\b", re.IGNORECASE)
_WANTED: Final = frozenset(
    {"which", "what", "whose", "many", "much"}
)  # "which lease was annulled?"
_PARTY_OF: Final = {"nsubj": "who", "dobj": "whom", "nsubjpass": "whom"}
_PARTIES_OF_VERB: Final = frozenset({*_PARTY_OF, "agent"})
_MODIFIERS: Final = frozenset({"amod", "compound", "nmod"})
_OF_NOUN: Final = frozenset("of in to for between among".split())  # "reduction of", "decline in"
_OPEN: Final = frozenset("NOUN PROPN VERB ADJ NUM".split())  # what says more than how, or where to
_AROUND: Final = 60  # letters on each side of a word in which a set phrase is looked for
_SUM: Final = re.compile(r"[$€£¥]|\d")  # "increased by $29 million"
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")
_HEAD_ENDS: Final = re.compile(
    r"\s(?:of|in|on|at|under|to|for|from|with|by|between|among|that|which|who|whose|similar)\s"
)
_BESIDE: Final = 8  # tokens between a negation and what it denies


class AskedOf(NamedTuple):
    """What a word of the query is asked of, as numbers of its content words."""

    things: tuple[
        int, ...
    ] = ()  # what an event happens to, or who does it where nothing suffers it
    around: tuple[int, ...] = ()  # the other words of the phrases that name it
    doers: tuple[int, ...] = ()  # who does it, where it happens to something
    suffered: bool = False  # the things are what a verb is done to
    open: tuple[str, ...] = ()  # the parties that are asked for: "who was evicted?"
    modified: tuple[int, ...] = ()  # the noun that the word modifies, and its other modifiers
    denied: tuple[int, ...] = ()  # what a negation denies
    wanted_by: int | None = None  # the verb of which the thing is wanted: "which firm did it buy?"
    wanted_as: str = ""  # and as which of its parties
    beside: tuple[int, ...] = ()  # and what the query says of its other parties
    along: tuple[int, ...] = ()  # the words that hang from it, and the one that it hangs from
    verb: bool = False


@lru_cache(maxsize=64)
def asked_of(text: str, spans: tuple[Place, ...]) -> tuple[AskedOf, ...]:
    """Say of each content word of a query what it is asked of."""
    words = parsed_query(text)[1]
    number: dict[int, int] = {}
    for token in range(words.size):
        at = bisect_left(spans, (words.start[token] + 1, 0)) - 1
        if at >= 0 and words.start[token] < spans[at][1]:
            number[token] = at
    found = [AskedOf()] * len(spans)
    for token, at in number.items():
        if found[at] == AskedOf():
            along, verb = _along(words, token, number), words.pos[token] == "VERB"
            found[at] = _asked(words, token, at, number)._replace(
                along=along, verb=verb, open=_open_parties(words, token)
            )
    return tuple(found)


def _open_parties(words: Words, token: int) -> tuple[str, ...]:
    """Return the parties of a verb for which a query has nothing but a question word."""
    asking = (c for c in words.children[token] if words.tag[c] in ("WP", "WDT"))
    return tuple(sorted({_PARTY_OF[words.dep[c]] for c in asking if words.dep[c] in _PARTY_OF}))


def _along(words: Words, token: int, number: Mapping[int, int]) -> tuple[int, ...]:
    """Return the content words next to one in the tree of a query; small words lie between."""
    telling = {t for t in number if words.pos[t] in _OPEN}
    head = words.head[token]
    while head not in telling and words.head[head] != head:
        head = words.head[head]
    found, open_ = {head} & telling, list(words.children[token])
    for below in open_:
        if below in telling:
            found.add(below)
        else:
            open_ += words.children[below]
    return tuple(sorted({number[t] for t in found} - {number[token]}))


def _asked(words: Words, token: int, at: int, number: dict[int, int]) -> AskedOf:
    def numbers(tokens: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted({number[t] for t in tokens if number.get(t, at) != at}))

    head = words.head[token]
    if words.dep[token] == "neg":
        return AskedOf(denied=numbers([head]))
    things, doers, suffered = _parties(words, token)
    things = [t for t in things if not _WANTED & {words.lower[c] for c in words.children[t]}]
    if own := numbers(things):
        around = numbers(t for thing in things for t in _phrase(words, thing))
        rest = tuple(i for i in around if i not in own)
        return AskedOf(own, rest, numbers(doers), suffered)
    if words.dep[token] in _MODIFIERS and words.pos[head] in NOUNS:
        beside = (c for c in words.children[head] if words.dep[c] in _MODIFIERS)
        return AskedOf(modified=numbers([head, *beside]))
    if words.dep[token] == "acomp":  # "how costly is it?" modifies what it is said of
        things = [c for c in words.children[head] if words.dep[c] == "nsubj"]
        return AskedOf(modified=numbers(t for c in things for t in (c, *_phrase(words, c))))
    party = _PARTY_OF.get(words.dep[token], "")
    if words.dep[token] == "pobj" and words.dep[head] == "agent":
        party, head = "who", words.head[head]  # "by which painter was he taught?"
    if party and head in number and _WANTED & {words.lower[c] for c in words.children[token]}:
        return AskedOf(
            wanted_by=number[head], wanted_as=party, beside=numbers(_others(words, head, token))
        )
    return AskedOf()


def _others(words: Words, verb: int, party: int) -> list[int]:
    """Return the words that name the other parties of a verb."""
    parties = [c for c in words.children[verb] if words.dep[c] in _PARTIES_OF_VERB]
    return [t for c in parties if c != party for t in (c, *_phrase(words, c)) if t != party]


def _parties(words: Words, token: int) -> tuple[list[int], list[int], bool]:
    """Return what an event of the query happens to, who does it, and whether it is a verb's object.

    Of a verb without an object it is the subject, of a noun what follows it.
    """
    children = words.children[token]
    if words.pos[token] == "VERB":
        if words.dep[token] in ("amod", "acl") and words.pos[words.head[token]] in NOUNS:
            done = words.dep[token] == "acl" and words.tag[token] == "VBN"
            return [words.head[token]], [], done
        helping = [c for c in children if words.dep[c] in ("aux", "auxpass")]
        children = [*children, *(c for h in helping for c in words.children[h])]  # "Has it risen?"
        objects = [c for c in children if words.dep[c] in ("dobj", "nsubjpass")]
        subjects = [c for c in children if words.dep[c] == "nsubj"]
        return (objects, subjects, True) if objects else (subjects, [], False)
    if words.pos[token] in NOUNS and names_event(words.key[token]):
        within = [c for c in children if words.dep[c] == "prep" and words.lower[c] in _OF_NOUN]
        return [t for c in within for t in words.children[c] if words.dep[t] == "pobj"], [], False
    return [], [], False


def _phrase(words: Words, head: int) -> list[int]:
    """Return the words of a noun phrase besides its head, and of what hangs from it."""
    found, open_ = [], [head]
    for token in open_:
        below = words.children[token]
        deeper = words.dep[token] == "prep"
        open_ += [c for c in below if words.dep[c] in _MODIFIERS]
        open_ += [c for c in below if words.dep[c] == ("pobj" if deeper else "prep")]
        if token != head:
            found.append(token)
    return found


# Set phrases: "in addition to" adds nothing.


@cache
def _phrases() -> re.Pattern[str]:
    """Return all phrases, the longest first."""
    listed = read_data_file("abstrag.search", "set_phrases.toml")["phrases"].split("\n")
    phrases = sorted(filter(None, listed), key=lambda phrase: (-len(phrase), phrase))
    shapes = (r"\s+".join(f"(?:{word})" for word in phrase.split()) for phrase in phrases)
    return re.compile(rf"(?<!\w)(?:{'|'.join(shapes)})(?!\w)", re.IGNORECASE)


def in_phrase(text: str, start: int, end: int, query: str) -> bool:
    """Tell whether a word of a text is a part of a set phrase that a query does not have."""
    first = max(0, start - _AROUND)
    for found in _phrases().finditer(text, first, min(len(text), end + _AROUND)):
        if found.start() <= start and end <= found.end():
            phrase = " ".join(found.group().split()).casefold()
            return phrase not in query.casefold()
    return False


@dataclass(frozen=True)
class Passage:
    """One segment: its text, its events and noun phrases, and where words of the query stand."""

    text: str
    frames: Sequence[Frame]
    mentions: Sequence[Mention]
    places: Callable[[int], Collection[Place]]  # of a query word, in the text or `ASIDE`
    asked: Sequence[str]  # the words of the query


def said_of_another(asked: AskedOf, said: Place, passage: Passage, *, certain: bool) -> bool:
    """Tell whether a word of a passage is said of something else than the query asks it of.

    `certain` is a step that holds wherever the words stand: another form or a synonym. Where what
    it is asked of is not named at all, it may be called otherwise.
    """

    def of(words: Iterable[int]) -> list[Place]:
        return [p for i in words for p in passage.places(i) if p != said]

    if asked.denied:
        return _apart(said, of(asked.denied), passage.text)
    if asked.modified:
        return _modifies_another(said, of(asked.modified), passage)
    places, doers = of(asked.things), of(asked.doers)
    named = bool(places)
    if not asked.things or (certain and not named):
        return False
    places += of(asked.around)
    if ASIDE in places:
        return False  # a header or the section names it for all that stands there
    parties = [s for f in passage.frames if f.start <= said[0] < f.end for s in f.slots]
    parties = [s for s in parties if s.name in _PARTIES and not _SUM.match(passage.text, s.start)]
    suffering = [s for s in parties if s.name == "whom"]
    told = suffering if suffering and asked.suffered else parties
    if not told:
        return False  # it does not say of what: "the increase was due to …"
    name = {passage.asked[i].casefold() for i in (*asked.things, *asked.around)}
    if any(_is_called(slot, name) for slot in told):
        return False  # "HFC" for the Harbour Ferry Company
    if not (suffering and _is_verb(passage.text[said[0] : said[1]])):
        places += doers
    if not places and any((slot.term or "").startswith(_NAME) for slot in told):
        return False  # a name may be of the kind that is asked for
    return not any(_names(slot, place, passage.text, named) for slot in told for place in places)


def _is_called(slot: Slot, name: Collection[str]) -> bool:
    """Tell whether a party is an entity whose full name has all words of a name."""
    term = slot.term or ""
    return term.startswith(_NAME) and set(name) <= set(term.removeprefix(_NAME).split())


def _names(slot: Slot, place: Place, text: str, as_head: bool) -> bool:
    """Tell whether a word stands in what names a party, before what hangs from its head."""
    whole = slot.coerced or not as_head  # an office stands for what it is of
    cut = None if whole else _HEAD_ENDS.search(text, slot.start, slot.end)
    return slot.start <= place[0] and place[1] <= (slot.end if cut is None else cut.start())


@lru_cache(maxsize=1 << 12)
def _is_verb(word: str) -> bool:
    return bool(wordnet().base_forms(word.split()[0].casefold(), Pos.VERB)) if word else False


def _apart(said: Place, places: Collection[Place], text: str) -> bool:
    """Tell whether something stands in a text and nowhere near a word."""
    inside = [place for place in places if place[0] >= 0]
    return (
        bool(inside)
        and len(inside) == len(places)
        and not any(_between(said, place, text) <= _BESIDE for place in inside)
    )


def _one_sentence(one: Place, other: Place, text: str) -> bool:
    """Tell whether two words stand in one sentence."""
    return not ENDED.search(text, min(one, other)[1] - 1, max(one, other)[0] + 1)


def _between(one: Place, other: Place, text: str) -> int:
    """Return how many tokens stand between two words; many where a sentence ends."""
    first, last = min(one, other)[1], max(one, other)[0]
    if not _one_sentence(one, other, text):
        return len(text)
    return sum(1 for _ in _TOKEN.finditer(text, first, max(first, last)))


def _modifies_another(said: Place, heads: Collection[Place], passage: Passage) -> bool:
    """Tell whether a word stands before the head of a noun phrase that is not what is asked."""
    for mention in passage.mentions:
        inside = mention.start <= said[0] and said[1] < mention.end and mention.header is None
        if inside and mention.term.partition(":")[0] in ("concept", "entity", "role"):
            return not any(mention.start <= a and b <= mention.end for a, b in heads)
    return False


class SaidOf:
    """Which words of a document's segments are said of something else than a query asks."""

    def __init__(
        self,
        query: str,
        asked: AlignedText,
        words: DocumentWords,
        told: ToldEvents,
        nearest: Callable[[int, int], int | None],
        similar: Callable[[int, int], int | None],
    ) -> None:
        """Lay a query over a document's words and events.

        `nearest` is for a word of the query and a segment the number of the word that meets it
        there, None where none is near enough; `similar` that of one that is not so far.
        """
        spans = tuple((int(start), int(end)) for start, end in asked.spans.tolist())
        self._query = query
        self._asked = asked_of(query, spans)
        self._names = [query[start:end] for start, end in spans]
        self._words = words
        self._told = told
        self._nearest = nearest
        self._similar = similar
        self._same: dict[str, IntArray] = {}

    def asks(self, i: int) -> bool:
        """Tell whether the query asks a word of something."""
        asked = self._asked[i]
        return bool(
            asked.things or asked.modified or asked.denied or asked.wanted_as or asked.along
        )

    def another(self, i: int, segment: int, start: int, end: int) -> bool:
        """Tell whether a word at a place of a segment's own text is said of something else.

        A word of a set phrase is said of nothing.
        """
        text = self._words.segments[segment].text
        if in_phrase(text, start, end, self._query):
            return True
        if not self.asks(i):
            return False
        frames, mentions = self._told.events_of(segment), self._told.mentions_of(segment)
        places = partial(self._places, segment=segment)
        passage = Passage(text, frames, mentions, places, self._names)
        said = text[start:end].split()[:1] or [""]
        if self._asked_for_itself(said[0], i):
            return True
        certain = step_family(self._names[i], said[0]) == Family.EXPRESSION.value
        return said_of_another(self._asked[i], (start, end), passage, certain=certain)

    def alone(self, i: int, segment: int, start: int, end: int) -> bool:
        """Tell whether nothing that a word is asked with stands in the sentence of its step.

        "A threshold is decreased" tells of no search space that was diminished. A name among the
        parties may be of the kind that is asked for, and one word may say both: "birth" of a *baby*
        that was *born*.
        """
        text, along = self._words.segments[segment].text, self._asked[i].along
        said = start, end
        places = [p for k in along for p in self._places(k, segment)]
        if not along or any(p == ASIDE or _one_sentence(p, said, text) for p in places):
            return False
        frames = (f for f in self._told.events_of(segment) if f.start <= start < f.end)
        parties = [slot.term or "" for frame in frames for slot in frame.slots]
        return bool(places) or not any(term.startswith(_NAME) for term in parties)

    def elsewhere(self, i: int, segment: int, start: int, end: int) -> bool:
        """Tell whether an event told by another verb has parties, and none that is asked about.

        "You should use a terminal that knows the mouse" tells of a terminal that is employed, and
        of no mouse. A pronoun, a name, a word that a lexicon links and one not so far from what is
        asked about may be it; and one phrase may have both words. An idiom has parties of its own
        words: "bit off more than it could chew against the firemen".
        """
        asked, text = self._asked[i], self._words.segments[segment].text
        with_it = {*asked.along, *asked.things, *asked.around, *asked.doers}
        frames = [f for f in self._told.events_of(segment) if f.start <= start < f.end]
        if any(len(text[f.start : f.end].split()) >= _IDIOM for f in frames):
            return False
        slots = [slot for frame in frames for slot in frame.slots]
        wanted = {self._asked[k].wanted_as for k in with_it if self._asked[k].wanted_by == i}
        parties = self._parties_as(slots, wanted or ({"whom"} if asked.suffered else set()))
        named = [text[slot.start : slot.end] for slot in parties]
        if asked.open and not asked.things:
            return False  # "who was evicted from the wing?"
        if not with_it or not parties or any(map(_PRONOUN.match, named)):
            return False
        if any((slot.term or "").startswith(_NAME) for slot in parties):
            return False
        said = start, end
        places = [p for k in sorted(with_it) for p in self._places(k, segment, self._similar)]
        inside = [p for p in places if p not in (ASIDE, said)]
        if any(_between(said, place, text) <= _CLOSE for place in inside):
            return False
        if any(s.start <= a and b <= s.end for s in slots for a, b in inside):
            return False
        return not any(self._may_be(k, name) for k in sorted(with_it) for name in named)

    @staticmethod
    def _parties_as(slots: Sequence[Slot], names: Collection[str]) -> list[Slot]:
        """Return the parties of an event that are asked for, all where it has none of these."""
        parties = [slot for slot in slots if slot.name in _PARTIES]
        return [slot for slot in parties if slot.name in names] or parties

    def _may_be(self, k: int, name: str) -> bool:
        """Tell whether a party may be another name of what a word of the query says."""
        return any(
            step_family(self._names[k], word) != Family.RELATED.value
            for word in _TOKEN.findall(name)
            if word.isalpha() and has_content(word)
        )

    def compared_with(self, i: int, segment: int, start: int, end: int) -> bool:
        """Tell whether what a word is asked of is only what something else is compared with.

        "Reading is faster than writing" does not say that writing is quick.
        """
        text, asked = self._words.segments[segment].text, self._asked[i]
        than = _THAN.search(text, end)
        if than is None or _THAN.search(self._query) or not _COMPARATIVE.search(text, start, end):
            return False
        of = {*asked.along, *asked.things, *asked.modified}
        places = [p for k in of for p in self._places(k, segment)]
        near = [p for p in places if p != ASIDE and _one_sentence(p, (start, end), text)]
        said = (start, end)
        return bool(near) and _one_sentence(said, than.span(), text) and min(near) > than.span()

    def is_other_verb(self, i: int, said: str) -> bool:
        """Tell whether a word of the query is a verb, and the one that is said no form of it."""
        return self._asked[i].verb and not one_word(self._names[i], said)

    def _asked_for_itself(self, said: str, i: int) -> bool:
        """Tell whether a word is the very word for another one of the query than word `i`."""
        own = set(forms(said))
        others = (name for k, name in enumerate(self._names) if k != i)
        return own.isdisjoint(forms(self._names[i])) and any(own & set(forms(n)) for n in others)

    def written_small(self, segment: int, term: str) -> bool:
        """Tell whether a segment has a term in its own text, and only in small letters."""
        text = self._words.segments[segment].text
        said = [m for m in self._told.mentions_of(segment) if m.term == term]
        told = [frame for frame in self._told.events_of(segment) if frame.event == term]
        inside = all(mention.header is None for mention in said)
        places = [*(m.start for m in said), *(frame.start for frame in told)]
        return inside and bool(places) and all(text[at].islower() for at in places)

    def told_elsewhere(self, i: int, segment: int, term: str) -> bool:
        """Tell whether a segment tells an event, and only of parties that are not asked about."""
        frames = [frame for frame in self._told.events_of(segment) if frame.event == term]
        return bool(frames) and all(self.elsewhere(i, segment, f.start, f.end) for f in frames)

    def told_of_another(self, i: int, segment: int, term: str) -> bool:
        """Tell whether a segment has an event or concept, and only of something else than asked.

        Or a name, and only as another party than the one that is wanted. An idiom and a definition
        tell by themselves what is meant.
        """
        if term.startswith(_NAME):
            return self._another_party(i, segment, term)
        mentions = [m for m in self._told.mentions_of(segment) if m.term == term]
        if any(mention.header is not None for mention in mentions):
            return False
        frames = [frame for frame in self._told.events_of(segment) if frame.event == term]
        text = self._words.segments[segment].text
        told = [text[frame.start : frame.end].split() for frame in frames]
        if told and all(len(words) == 1 and self.is_other_verb(i, words[0]) for words in told):
            frames = [f for f in frames if not self._of_else(i, segment, f.start, f.end)]
            if not frames:
                return True
        places = [(x.start, x.start + len(text[x.start : x.end].split()[0])) for x in frames]
        places = places or [(x.start, x.end) for x in mentions]
        return bool(places) and all(self.another(i, segment, *place) for place in places)

    def _of_else(self, i: int, *at: int) -> bool:
        return self.alone(i, *at) or self.elsewhere(i, *at)

    def _another_party(self, i: int, segment: int, name: str) -> bool:
        """Tell whether a name has part in the event that is asked about, and not the wanted one.

        So it has where the query itself names it: what 3M sold is not 3M.
        """
        asked = self._asked[i]
        if asked.wanted_by is None:
            return False
        beside = {self._names[k].casefold() for k in asked.beside}
        if set(name.removeprefix(_NAME).split()) <= beside:
            return True
        frames = [
            frame
            for frame in self._told.events_of(segment)
            if any(slot.term == name for slot in frame.slots)
        ]
        there = self._places(asked.wanted_by, segment) if frames else []
        parties = {
            slot.name
            for frame in frames
            if any(frame.start <= start < frame.end for start, _ in there)
            for slot in frame.slots
            if slot.term == name
        }
        return bool(parties) and asked.wanted_as not in parties

    def _places(
        self, k: int, segment: int, near: Callable[[int, int], int | None] | None = None
    ) -> list[Place]:
        """Return where a word of the query stands in a segment, and where what meets it does."""
        nearest = (near or self._nearest)(k, segment)
        names = (
            [self._names[k]] if nearest is None else [self._names[k], self._words.words[nearest]]
        )
        found = {word for name in names for word in self._all(name, segment)}
        places = []
        for word in sorted(found):
            place = self._words.place(segment, word)
            aside = place.header is not None or place.in_section
            places.append(ASIDE if aside else (place.start, place.end))
        return places

    def _all(self, name: str, segment: int) -> list[int]:
        """Return the numbers of the words of a segment that are a word or an inflection of it."""
        if name not in self._same:
            self._same[name] = np.flatnonzero(self._words.same(name))
        first, last = self._words.starts[segment : segment + 2].tolist()
        own = self._same[name]
        found: list[int] = own[np.searchsorted(own, first) : np.searchsorted(own, last)].tolist()
        return found
