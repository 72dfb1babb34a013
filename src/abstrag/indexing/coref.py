"""Coref: what pronouns and definite descriptions stand for, by rule and only where it is plain.

Every rewrite this makes is taken for true by all that follows, so a link is made only when one
antecedent stands out. What is referred to but not plain becomes an ambiguity with its candidates.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Final

from spacy.tokens import Span as Tokens
from spacy.tokens import Token

from abstrag.config import MAX_SENTENCE_TOKENS
from abstrag.documents.header import cover_of
from abstrag.indexing.layers import Coreference, CoreferenceLink, Rewrite
from abstrag.indexing.naming.document_names import build_names
from abstrag.indexing.naming.mentions import PlacedName, named_mentions
from abstrag.indexing.naming.stated_aliases import definitions
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.indexing.reference.phrases import (
    DocumentEntities,
    Fits,
    Phrase,
    SentenceSpan,
    mention,
    phrases,
    quotations,
    stretches,
)
from abstrag.indexing.reference.pronouns import (
    WINDOW,
    Antecedent,
    Pronoun,
    candidates,
    choose,
    looks_ahead,
    pronouns,
)
from abstrag.indexing.reference.stated import Definite, Stated, definites
from abstrag.language.spelling import possessive
from abstrag.model.document import BlockKind
from abstrag.model.index import Ambiguity
from abstrag.model.segment import SegmentKind

PRONOUN: Final = "pronoun"
DESCRIPTION: Final = "description"
_SURE: Final = 0.9  # of a description that fits one thing only
_SHOWN: Final = 4  # candidates an ambiguity names
_REACH: Final = 150  # tokens of its own sentence before a pronoun in which it has antecedents
_FORMULA = re.compile(r"[$\\=∼∝∑∈≤≥→]")  # "it" in a formula is a variable
_Place = tuple[int, int, int]  # segment, start, end
_INDEFINITE = re.compile(r"^(?:an?|some)\s+", re.IGNORECASE)
_DETERMINED = re.compile(r"^(?:the|this|that|these|those|such|both|many|most|several|all)\b", re.I)
_ANAPHOR: Final = re.compile(
    r"(?<![\w“”\"'‘’-])(?:(?P<owns>[Oo]ur)|(?P<says>[Ww]e|us|ours)|[Tt]he (?:Company|Registrant))"
    r"(?![\w”\"-])"
)
_QUOTE_ENDS: Final = re.compile(r"^\s*(?:,\s*)?[”\"]")
_LEGAL: Final = frozenset(
    "inc incorporated corp corporation co company plc ltd limited llc lp sa ag nv se the".split()
)
_NOT_PROSE: Final = frozenset({SegmentKind.TABLE_CELL, SegmentKind.TABLE_ROW})


@dataclass(frozen=True, slots=True)
class ResolveCoreference:
    """Link anaphors to what they stand for; where two things are about as likely, say so."""

    name: ClassVar[str] = "resolve_coreference"
    requires: ClassVar[Layer | None] = Layer.SEGMENTS
    provides: ClassVar[Layer] = Layer.COREFERENCE
    conservative: ClassVar[bool] = True
    version: ClassVar[int] = 3

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Read the draft, stretch by stretch."""
        reader = _Reader(draft)
        for stretch in stretches(draft):
            reader.read(stretch)
        reader.resolve_filer()
        return draft.with_(coreference=reader.layer())


class _Reader:
    """Reads a draft in order and remembers what was mentioned."""

    def __init__(self, draft: IndexDraft) -> None:
        self.draft = draft
        names = named_mentions(draft)
        self.mentions = names
        roster = build_names(names, definitions(draft, names))
        groups = {m.text: roster.group_of(m) for m in names}
        self.names: dict[int, list[PlacedName]] = defaultdict(list)
        self.first: dict[str, PlacedName] = {}
        for m in names:
            self.names[m.segment].append(m)
            self.first.setdefault(groups[m.text], m)
        self.cast = DocumentEntities(names, groups)
        self.stated = Stated(draft, names, self.cast)
        self.chunks: dict[int, list[Tokens]] = {}
        self.quoted: dict[int, list[tuple[int, int]]] = {}
        self.links: list[CoreferenceLink] = []
        self.ambiguities: list[Ambiguity] = []
        self.rewrites: list[Rewrite] = []

    def layer(self) -> Coreference:
        """Return what was found, in reading order."""
        return Coreference(
            tuple(sorted(self.links, key=lambda x: (x.segment, x.start))),
            tuple(sorted(self.ambiguities, key=lambda x: (x.segment, x.start))),
            tuple(sorted(self.rewrites, key=lambda x: (x.segment, x.start))),
        )

    def read(self, stretch: list[SentenceSpan]) -> None:
        """Read one stretch; nothing in it refers to another."""
        self.history: list[Phrase] = []
        self.earliest: dict[str, Phrase] = {}
        self.known: dict[str, Fits] = {}  # he or she, once somebody was called so
        for sentence in stretch:
            self._sentence(sentence)

    def _sentence(self, sentence: SentenceSpan) -> None:
        doc = self.draft.parses[sentence.parse]
        if sentence.last - sentence.first > MAX_SENTENCE_TOKENS:
            self._too_long(sentence)
            return
        names = [
            m
            for m in self.names[sentence.segment]
            if sentence.first <= m.first and m.last < sentence.last
        ]
        recent = (p for p in self.history if sentence.number - p.sentence.number <= WINDOW)
        new = list(phrases(doc, sentence, self._chunks(sentence), names, self.cast))
        self.history = [*recent, *new]
        for phrase in new:
            self.earliest.setdefault(phrase.referent, phrase)
        anaphors: list[tuple[int, Pronoun | Token | Definite]] = [
            (p.i if isinstance(p, Token) else p.token.i, p) for p in pronouns(doc, sentence)
        ]
        anaphors += [(d.head.i, d) for d in definites(doc, sentence, self.stated.heads)]
        for _, anaphor in sorted(anaphors, key=lambda pair: pair[0]):
            if isinstance(anaphor, Token):
                self._open(sentence, anaphor, "bare demonstrative")
            elif isinstance(anaphor, Pronoun):
                self._pronoun(sentence, anaphor)
            else:
                self._definite(sentence, anaphor)

    def resolve_filer(self) -> None:
        """Link what stands for the filer of a filing to its name, where nothing else was plain."""
        filer = _filer_mention(self.draft, self.mentions)
        if filer is None:
            return
        antecedent = (filer.segment, filer.start, filer.end)
        taken: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for link in self.links:
            taken[link.segment].append((link.start, link.end))
        settled: set[_Place] = set()
        for found in _filer_anaphors(self.draft):
            place = (found.segment, found.start, found.end)
            if any(found.start < b and a < found.end for a, b in taken[found.segment]):
                continue
            text = rewritten_as(self._text(*place), self._text(*antecedent), owns=found.owns)
            kind = DESCRIPTION if found.described else PRONOUN
            self.links.append(CoreferenceLink(*place, *antecedent, _SURE, kind))
            self.rewrites.append(Rewrite(*place, text))
            settled.add(place)
        self.ambiguities = [
            one for one in self.ambiguities if (one.segment, one.start, one.end) not in settled
        ]

    def _too_long(self, sentence: SentenceSpan) -> None:
        """Leave the pronouns of a sentence open in which each would be held against thousands."""
        doc = self.draft.parses[sentence.parse]
        self.history = []
        for pronoun in pronouns(doc, sentence):
            token = pronoun if isinstance(pronoun, Token) else pronoun.token
            self._open(sentence, token, "long sentence")

    def _chunks(self, sentence: SentenceSpan) -> list[Tokens]:
        """Return the sentence's noun chunks; spaCy only gives those of a whole text at once."""
        if sentence.parse not in self.chunks:
            doc = self.draft.parses[sentence.parse]
            self.chunks = {sentence.parse: list(doc.noun_chunks)}
        chunks = self.chunks[sentence.parse]
        low = bisect_left(chunks, sentence.first, key=lambda c: c.start)
        high = bisect_left(chunks, sentence.last, key=lambda c: c.start)
        return chunks[low:high]

    def _quoted(self, sentence: SentenceSpan, offset: int) -> bool:
        """True when somebody else is speaking at a place of the parsed text."""
        if sentence.parse not in self.quoted:
            self.quoted = {sentence.parse: quotations(self.draft.parses[sentence.parse].text)}
        spans = self.quoted[sentence.parse]
        last = bisect_right(spans, offset, key=lambda span: span[0]) - 1
        return last >= 0 and offset < spans[last][1]

    def _pronoun(self, sentence: SentenceSpan, pronoun: Pronoun) -> None:
        token = pronoun.token
        if self._quoted(sentence, token.idx):
            self._open(sentence, token, "quoted")
            return
        first = token.i - _REACH
        near = [p for p in self.history if p.sentence is not sentence or p.head >= first]
        history = [p for p in near if self._may_be(p, pronoun.fits)]
        found = candidates(pronoun, sentence, history)
        plain = not looks_ahead(pronoun) and not _FORMULA.search(sentence.text)
        chosen = choose(pronoun, sentence, found) if plain else None
        if chosen is None:
            self._open(sentence, token, "several antecedents" if found else "no antecedent", found)
            unknown = f"{sentence.parse}:{token.i}"
            self.history.append(mention(sentence, token, unknown, Fits.NONE, rivals=pronoun.fits))
            return
        phrase, confidence = chosen
        if pronoun.fits & Fits.PERSON:
            self.known[phrase.referent] = pronoun.fits
        again = mention(sentence, token, phrase.referent, phrase.fits & pronoun.fits)
        self.history.append(replace(again, name=phrase.name))
        place = (sentence.segment, again.start, again.end)
        self._link(place, phrase.referent, confidence, PRONOUN, owns=pronoun.owns)

    def _may_be(self, phrase: Phrase, fits: Fits) -> bool:
        """False for somebody known to be the other of he and she."""
        known = self.known.get(phrase.referent)
        return known is None or bool(known & fits)

    def _definite(self, sentence: SentenceSpan, definite: Definite) -> None:
        found = self.stated.candidates(sentence, definite, self.history)
        if not found:
            return
        doc = self.draft.parses[sentence.parse]
        start = doc[definite.first].idx - sentence.base
        end = definite.head.idx + len(definite.head) - sentence.base
        if len(found) > 1:
            named = tuple(self.first[g].text for g in found if g in self.first)[:_SHOWN]
            reason = "several antecedents"
            self.ambiguities.append(Ambiguity(sentence.segment, start, end, reason, named))
            return
        (meant,) = found
        fits = self.cast.people.get(meant, Fits.IT)
        for i, phrase in enumerate(self.history):
            if phrase.sentence == sentence and phrase.head == definite.head.i:
                name = self.first[meant]
                self.history[i] = replace(
                    phrase, referent=meant, name=name, fits=fits, rivals=Fits.NONE
                )
        self._link((sentence.segment, start, end), meant, _SURE, DESCRIPTION)

    def _link(
        self, anaphor: _Place, referent: str, sure: float, kind: str, *, owns: bool = False
    ) -> None:
        """Link to the first mention of a name, or of a phrase that is none."""
        name = self.first.get(referent)
        if name is not None:
            antecedent = (name.segment, name.start, name.end)
        else:
            phrase = self.earliest[referent]
            antecedent = (phrase.sentence.segment, phrase.start, phrase.end)
        text = rewritten_as(self._text(*anaphor), self._text(*antecedent), owns=owns)
        self.links.append(CoreferenceLink(*anaphor, *antecedent, sure, kind))
        self.rewrites.append(Rewrite(*anaphor, text))

    def _open(
        self, sentence: SentenceSpan, token: Token, reason: str, found: Sequence[Antecedent] = ()
    ) -> None:
        start = token.idx - sentence.base
        phrases = (c.phrase for c in found)
        texts = dict.fromkeys(self._text(p.sentence.segment, p.start, p.end) for p in phrases)
        self.ambiguities.append(
            Ambiguity(sentence.segment, start, start + len(token), reason, tuple(texts)[:_SHOWN])
        )

    def _text(self, segment: int, start: int, end: int) -> str:
        return self.draft.segments[segment].text[start:end]


def rewritten_as(anaphor: str, antecedent: str, *, owns: bool = False) -> str:
    """Return what to write for an anaphor; `owns` when it is a possessive.

    What was "a model" has become "the model", and a capital goes with the place:

        >>> rewritten_as("Its", "a model", owns=True)
        "The model's"
    """
    text = _INDEFINITE.sub("the ", antecedent)
    if _DETERMINED.match(text):
        text = text[0].lower() + text[1:]
    if anaphor[:1].isupper():
        text = text[0].upper() + text[1:]
    return possessive(text) if owns else text


@dataclass(frozen=True, slots=True)
class _FilerAnaphor:
    """Where a segment speaks of the filer without its name."""

    segment: int
    start: int
    end: int
    owns: bool
    described: bool  # "the Company", which is no pronoun


def _filer_mention(draft: IndexDraft, names: Sequence[PlacedName]) -> PlacedName | None:
    """Return the first mention of the filer by the name it is called most, None without a cover."""
    document = draft.document
    cover = cover_of(document.text, document.blocks)
    if cover is None or not cover.company:
        return None
    own = _name_words(cover.company)
    called = [m for m in names if m.text.strip() and _name_words(m.text) == own]
    if not called:
        return None
    usual, _ = Counter(m.text for m in called).most_common(1)[0]
    return next(m for m in called if m.text == usual)


def _name_words(name: str) -> tuple[str, ...]:
    """Return what tells a company's name from others: its words less those of its legal form."""
    words = re.findall(r"[\w&]+", name.casefold())
    return tuple(word for word in words if word not in _LEGAL) or tuple(words)


def _filer_anaphors(draft: IndexDraft) -> Iterator[_FilerAnaphor]:
    """Go through what stands for the filer; a person who is quoted speaks for somebody else."""
    for i, segment in enumerate(draft.segments):
        if segment.kind in _NOT_PROSE:
            continue
        if draft.document.blocks[segment.block].kind is BlockKind.CODE:
            continue
        quoted = quotations(segment.text)
        for found in _ANAPHOR.finditer(segment.text):
            described = not (found["owns"] or found["says"])
            inside = any(a <= found.start() < b for a, b in quoted)
            if inside and not described:
                continue
            if _QUOTE_ENDS.match(segment.text[found.end() :]):
                continue  # the text says what the words mean
            owns = bool(found["owns"]) or found["says"] == "ours"
            yield _FilerAnaphor(i, found.start(), found.end(), owns, described)
