"""A passage: the tokens of one segment or of one of its headers, with the names and times in it."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from abstrag.indexing.layers import TimeMention
from abstrag.indexing.operator import IndexDraft
from abstrag.language.parser import parse
from abstrag.language.spelling import lowered
from abstrag.language.words import Words, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.document import Quote, Span
from abstrag.model.segment import Segment
from abstrag.model.term import Mention, TermKind

if TYPE_CHECKING:
    from spacy.tokens import Doc


class NameMention(NamedTuple):
    """A name: the term it stands for, its first token and the one after its last."""

    term: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class ParsedPassage:
    """A stretch of parsed text; offsets into it are those of the segment's (or header's) text."""

    segment: int
    header: int | None
    source: Segment | Quote
    words: Words
    first: int
    last: int  # the token after the last
    names: dict[int, Mention]  # token → the entity mention it belongs to
    times: dict[int, TimeMention]  # token → the time expression it belongs to

    def offset(self, token: int) -> int:
        """Return where a token begins."""
        return self.words.start[token] - self.words.start[self.first]

    def offsets(self, first: int, last: int) -> tuple[int, int]:
        """Return where the tokens from first to before last begin and end."""
        base = self.words.start[self.first]
        return self.words.start[first] - base, self.words.end[last - 1] - base

    def mention(self, term: str, first: int, last: int) -> Mention:
        """Make a mention of a term at some tokens."""
        start, end = self.offsets(first, last)
        return Mention(term, self.segment, start, end, self.header)

    def quote(self, first: int, last: int) -> str:
        """Return the text of some tokens."""
        start, end = self.offsets(first, last)
        return self.source.text[start:end]

    def span(self, first: int, last: int) -> Span:
        """Return where some tokens stand in the document."""
        return self.place(*self.offsets(first, last))

    def place(self, start: int, end: int) -> Span:
        """Return where some characters stand in the document."""
        if isinstance(self.source, Segment):
            return self.source.alignment.locate(start, end)
        return self.source.span

    def name(self, token: int) -> NameMention | None:
        """Return the name that a token belongs to.

        That is an entity mention, or else proper nouns that are not just common words written
        large: what nobody has recognised as an entity goes by its concept.
        """
        mention = self.names.get(token)
        first, last = token, token + 1
        if mention is not None:
            while self.names.get(first - 1) is mention:
                first -= 1
            while self.names.get(last) is mention:
                last += 1
            return NameMention(mention.term, first, last)
        words = self.words
        if words.pos[token] != "PROPN" or token in self.times:
            return None
        for start in words.phrase(token):
            if words.pos[start] != "PROPN":
                break
            first = start
        if not any(_coined(words.key[i]) for i in range(first, last)):
            return None
        return NameMention(term_id(TermKind.CONCEPT, words.phrase_key(first, token)), first, last)


@lru_cache(maxsize=1 << 14)
def _coined(word: str) -> bool:
    """True for a word that is no common noun of English."""
    net = wordnet()
    return len(word) > 1 and all(map(net.is_instance, net.synsets(word, Pos.NOUN)))


def passages(draft: IndexDraft) -> Iterator[ParsedPassage]:
    """Go through the segments of a draft, each followed by its headers."""
    assert draft.segmented is not None
    assert draft.entities is not None
    assert draft.times is not None
    names, times = _by_place(draft.entities.mentions), _by_place(draft.times.expressions)
    headers = _header_views(draft.segments)

    def passage(
        segment: int, header: int | None, source: Segment | Quote, words: Words, cut: range
    ) -> ParsedPassage:
        return ParsedPassage(
            *(segment, header, source, words, cut.start, cut.stop),
            names=_at_tokens(words, cut, names.get((segment, header), ())),
            times=_at_tokens(words, cut, times.get((segment, header), ())),
        )

    latest = -1  # segments come in the order of the parsed texts, so one view at a time will do
    for i, (text, first, last) in enumerate(draft.segmented.tokens):
        if text != latest:
            latest, words = text, _view(draft.parses[text])
        segment = draft.segments[i]
        yield passage(i, None, segment, words, range(first, last))
        for h, header in enumerate(segment.headers):
            if header.text in headers:
                view = headers[header.text]
                yield passage(i, h, header, view, range(view.size))


@lru_cache(maxsize=2)
def _parsed(texts: tuple[str, ...]) -> tuple[Words, ...]:
    """Parse header texts; both operators that read a draft ask for the same ones.

    Capitals are read as small letters: of "REVENUES" a parser makes a name, of "revenues" a noun.
    """
    return tuple(map(_view, parse(lowered(t) if t.isupper() else t for t in texts)))


def _view(doc: Doc) -> Words:
    """Return the words of a parsed text; what cannot be a verb is a noun: "startup"."""
    words = Words(doc)
    for token, pos in enumerate(words.pos):
        if pos == "VERB" and _only_noun(words.lemma[token]):
            words.pos[token] = "NOUN"
    return words


@lru_cache(maxsize=1 << 14)
def _only_noun(lemma: str) -> bool:
    net = wordnet()
    return not net.synsets(lemma, Pos.VERB) and bool(net.synsets(lemma, Pos.NOUN))


def _header_views(segments: Sequence[Segment]) -> dict[str, Words]:
    texts = tuple(dict.fromkeys(h.text for s in segments for h in s.headers if h.text.strip()))
    return dict(zip(texts, _parsed(texts), strict=True))


_Placed = TypeVar("_Placed", Mention, TimeMention)


def _by_place(items: Sequence[_Placed]) -> dict[tuple[int, int | None], list[_Placed]]:
    found: defaultdict[tuple[int, int | None], list[_Placed]] = defaultdict(list)
    for item in items:
        found[item.segment, item.header].append(item)
    return found


def _at_tokens(words: Words, cut: range, items: Sequence[_Placed]) -> dict[int, _Placed]:
    """Return which item each token belongs to; the longer one where two overlap."""
    found: dict[int, _Placed] = {}
    for item in sorted(items, key=lambda x: (x.end - x.start, x.start)):
        start, end = (words.start[cut.start] + offset for offset in (item.start, item.end))
        token = bisect_right(words.end, start, cut.start, cut.stop)
        while token < cut.stop and words.start[token] < end:
            found[token] = item
            token += 1
    return found
