"""Where a draft names something: spaCy's entities, cleaned, and proper nouns that come back."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from spacy.attrs import ENT_TYPE, POS
from spacy.symbols import PROPN
from spacy.tokens import Doc
from spacy.tokens import Span as Tokens

from abstrag.indexing.operator import IndexDraft
from abstrag.language.names import legal_form, legal_form_end, nameable, title_before, trim
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet

LABELS: Final = frozenset(
    "PERSON ORG GPE LOC NORP PRODUCT EVENT FAC WORK_OF_ART LAW LANGUAGE".split()
)
UNLABELLED: Final = ""  # a proper noun that no entity label is known for
_ADJECTIVAL: Final = frozenset({"NORP", "LANGUAGE"})
_NOMINAL: Final = frozenset("nsubj nsubjpass dobj dative pobj poss appos".split())
_PARTS_OF_NAMES: Final = frozenset(
    "north south east west northern southern eastern western central new old great saint st".split()
)
_MAX_WORDS: Final = 10
_RECURS: Final = 2  # how often a proper noun must come up to be taken for a name
_LOWER_WORD = re.compile(r"\b[a-z]+\b")
_FOOTNOTE_MARK = re.compile(r"(?<=[a-z]{3})\d{1,2}$")
_CITATION = re.compile(
    r"(?:\s+(?:and|&)\s+[A-Z][\w-]+)?(?:\s+et al\b|,?\s*[(\[]?(?:19|20)\d\d[a-z]?\b(?!\s*[–-]))"
)


@dataclass(frozen=True, slots=True)
class PlacedName:
    """A name in a segment, at `segment.text[start:end]`, and the tokens it covers."""

    segment: int
    start: int
    end: int
    text: str
    label: str
    parse: int
    first: int
    last: int
    cited: bool = False  # it is the author of a citation: "Smith et al. (2019)"
    common: bool = False  # the document also has its word in small letters


def named_mentions(draft: IndexDraft) -> list[PlacedName]:
    """Return every name, in reading order; two never overlap."""
    found: list[PlacedName] = []
    runs: list[PlacedName] = []
    for parse, owners in _segments_by_parse(draft).items():
        doc = draft.parses[parse]
        for segment, entity in _owned(doc.ents, owners):
            if made := _entity(draft, parse, segment, entity):
                found.append(made)
        for segment, run in _owned(_proper_runs(doc), owners):
            if made := _name(draft, parse, segment, run, UNLABELLED):
                runs.append(made)
    common = {word for s in draft.segments for word in _LOWER_WORD.findall(s.text)}
    written = {m.text for m in found}
    found.extend(_believable(draft, runs, written, common))
    found = [
        replace(m, common=True) if m.text.casefold() in common else m
        for m in _without_opening_nouns(_without_footnote_marks(found))
    ]
    kept: list[PlacedName] = []
    for m in sorted(found, key=lambda m: (m.segment, m.start, -m.end, m.label)):
        if not kept or kept[-1].segment != m.segment or kept[-1].end <= m.start:
            kept.append(m)
    return kept


def _believable(
    draft: IndexDraft, runs: list[PlacedName], written: set[str], common: set[str]
) -> list[PlacedName]:
    """Keep the proper nouns that are names elsewhere, come back, or stand where names stand.

    A word the document also has in small letters is none, whatever spaCy says.
    """
    often = Counter(m.text for m in runs if m.start)
    names = {
        m.text
        for m in runs
        if m.text.casefold() not in common
        and (often[m.text] >= _RECURS or _stands_as_name(draft.parses[m.parse], m))
    }
    return [m for m in runs if m.text in names or m.text in written]


def _stands_as_name(doc: Doc, name: PlacedName) -> bool:
    """True for capitalized words that act or are acted on: "the CTO of Anthropic"."""
    root = doc[name.first : name.last + 1].root
    words = legal_form(name.text)[0].split()
    return (
        root.dep_ in _NOMINAL
        and (root.tag_ == "NNP" or (root.tag_ == "NNPS" and len(words) > 1))
        and all(len(w) > 2 and w[0].isupper() and w[1:].islower() for w in words)
    )


def _segments_by_parse(draft: IndexDraft) -> dict[int, list[tuple[int, int, int]]]:
    assert draft.segmented is not None
    owners: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for segment, (parse, first, last) in enumerate(draft.segmented.tokens):
        owners[parse].append((first, last, segment))
    return owners


def _owned(
    spans: Iterable[Tokens], owners: list[tuple[int, int, int]]
) -> Iterator[tuple[int, Tokens]]:
    """Pair spans, which come in order, with the segment they lie in; none may cross its end."""
    place = 0
    for span in spans:
        while place < len(owners) and owners[place][1] <= span.start:
            place += 1
        if place == len(owners):
            return
        first, last, segment = owners[place]
        if first <= span.start and span.end <= last:
            yield segment, span


def _proper_runs(doc: Doc) -> Iterator[Tokens]:
    """Go through the runs of proper nouns outside every entity."""
    table = doc.to_array([POS, ENT_TYPE])
    places = deque(np.flatnonzero((table[:, 0] == PROPN) & (table[:, 1] == 0)).tolist())
    while places:
        first = last = places.popleft()
        while places and not doc[places[0]].is_sent_start and _goes_on(doc, last, places[0]):
            last = places.popleft()
        yield doc[first : last + 1]


def _goes_on(doc: Doc, last: int, token: int) -> bool:
    """True when a proper noun continues a name: next to it, or as in "Harbour Workers' Union"."""
    if token == last + 1:
        return True
    owned = token == last + 2 and doc[last + 1].tag_ == "POS"
    owner = doc[last].lower_
    return owned and any(base != owner for base in wordnet().base_forms(owner, Pos.NOUN))


def _entity(draft: IndexDraft, parse: int, segment: int, entity: Tokens) -> PlacedName | None:
    label = entity.label_
    if label not in LABELS or len(entity) > _MAX_WORDS:
        return None
    if len(entity) == 1 and not _proper_word(entity):
        return None
    return _name(draft, parse, segment, entity, label)


def _proper_word(entity: Tokens) -> bool:
    """True when a one-word entity looks like a name, not like a word spaCy stumbled over."""
    token = entity[0]
    if token.pos == PROPN or entity.label_ in _ADJECTIVAL:
        return True
    return any(c.isupper() or c.isdigit() for c in token.text[1:])


def _name(
    draft: IndexDraft, parse: int, segment: int, span: Tokens, label: str
) -> PlacedName | None:
    base = draft.tokens(segment).start_char
    text = draft.segments[segment].text
    begin = span.start_char - base
    start, end = trim(text[begin : span.end_char - base])
    start, end = begin + start, begin + end
    if not nameable(text[start:end]):
        return None
    if label in ("PERSON", UNLABELLED):
        start = title_before(text, start)
    end = legal_form_end(text, end)
    last = _last_token(span, base + end)
    cited = _CITATION.match(text, end) is not None
    return PlacedName(segment, start, end, text[start:end], label, parse, span.start, last, cited)


def _last_token(span: Tokens, end: int) -> int:
    """Return the last token that begins before a place, which may lie before or after the span."""
    doc, last = span.doc, span.end - 1
    while last > span.start and doc[last].idx >= end:
        last -= 1
    while last + 1 < len(doc) and doc[last + 1].idx < end:
        last += 1
    return last


def _without_opening_nouns(mentions: list[PlacedName]) -> list[PlacedName]:
    """Cut off a word that only opens a sentence: `TSMC` of "Chipmaker TSMC said".

    It must be the only place with that word, and what is left a name that comes up elsewhere.
    """
    often = Counter(m.text for m in mentions)
    openings = Counter(m.text.partition(" ")[0] for m in mentions)
    cleaned: list[PlacedName] = []
    for m in mentions:
        opening, _, rest = m.text.partition(" ")
        single = openings[opening] == 1 and opening.casefold() not in _PARTS_OF_NAMES
        if m.start == 0 and m.first < m.last and single and often[rest] >= _RECURS:
            m = replace(m, text=rest, start=m.end - len(rest), first=m.first + 1)
        cleaned.append(m)
    return cleaned


def _without_footnote_marks(mentions: list[PlacedName]) -> list[PlacedName]:
    """Cut digits off names that the document also writes without: `Anthropic2` is a footnote."""
    written = {m.text for m in mentions}
    cleaned: list[PlacedName] = []
    for m in mentions:
        bare = _FOOTNOTE_MARK.sub("", m.text)
        if bare != m.text and bare in written:
            m = replace(m, text=bare, end=m.start + len(bare))
        cleaned.append(m)
    return cleaned
