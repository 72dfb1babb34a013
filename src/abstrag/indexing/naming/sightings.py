"""Every place where a document names something, found by spaCy or known from elsewhere in it."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from abstrag.indexing.layers import CoreferenceLink
from abstrag.indexing.naming.alias_rules import Aliases, AliasReason, NameGroup
from abstrag.indexing.naming.definitions import Definition
from abstrag.indexing.naming.mentions import PlacedName
from abstrag.indexing.naming.roster import Roster
from abstrag.indexing.operator import IndexDraft
from abstrag.language.keys import key, term_id
from abstrag.model.term import TermKind

if TYPE_CHECKING:
    from spacy.tokens import Span as Tokens


# Known names wherever they are written: what spaCy saw in one sentence and missed in another.

_WORD = re.compile(r"[^\W_]+")
_INSIDE = re.compile(r"[\w&]|-[A-Z\d]|\.[\w]")  # what follows a surface that goes on
_CAPITAL_BEFORE = re.compile(r"(?<![.!?:]\s)(?<!^)\b(?!The\b)[A-Z][\w&.-]*\s$")
_LONGEST_WORD: Final = 40
_CAPITAL_AFTER = re.compile(r"\s[A-Z][a-z]")
_PLACES: Final = frozenset({"GPE", "LOC"})


@dataclass(frozen=True, slots=True)
class FoundName:
    """A name at `text[start:end]`."""

    start: int
    end: int
    name: str  # id


@dataclass(frozen=True, slots=True)
class _Surface:
    text: str
    name: str
    lead: int  # where its first word begins
    any_case: bool
    in_capitals: bool  # also where a whole text is in capitals: "GREATER CHINA" heads a column
    plain: bool  # one capitalized word, which may be a common one at a sentence's beginning


class Surfaces:
    """Finds every surface of the given names in a text, the longest first."""

    def __init__(
        self, names: Mapping[str, NameGroup], taught: frozenset[str] = frozenset()
    ) -> None:
        """Take the names; those `taught` by a definition need no proof that they are names."""
        by_word: dict[str, list[_Surface]] = defaultdict(list)
        for one in sorted(names):
            name = names[one]
            concept = name.kind is TermKind.CONCEPT
            for text in sorted(name.surfaces):
                word = _WORD.search(text)
                if word is None:
                    continue
                any_case = " " in text and (concept or text.islower())
                plain = text.istitle() and text.isalpha() and one not in taught
                in_capitals = not concept and (" " in text or name.label in _PLACES)
                surface = _Surface(text, one, word.start(), any_case, in_capitals, plain)
                by_word[word.group().casefold()].append(surface)
        self._by_word = {
            word: sorted(found, key=lambda s: (-len(s.text), s.text, s.name))
            for word, found in by_word.items()
        }

    def find(self, text: str, tokens: Tokens | None = None) -> Iterator[FoundName]:
        """Go through the surfaces in a text; with its tokens, a plain word must be a name there."""
        end = 0
        capitals = text.isupper()
        for word in _WORD.finditer(text):
            if word.start() < end:
                continue
            for surface in self._by_word.get(word.group().casefold(), ()):
                any_case = surface.any_case or (capitals and surface.in_capitals)
                if found := _match(text, word.start(), surface, tokens, any_case=any_case):
                    end = found.end
                    yield found
                    break


def _match(
    text: str, start: int, surface: _Surface, tokens: Tokens | None, *, any_case: bool
) -> FoundName | None:
    start -= surface.lead
    end = start + len(surface.text)
    written = text[max(0, start) : end]
    if written != surface.text and not (any_case and written.casefold() == surface.text.casefold()):
        return None
    if _INSIDE.match(text, end) or (
        start and (text[start - 1].isalnum() or text[start - 1] == "-")
    ):
        return None
    if surface.plain and tokens is not None and not _is_name(text, start, end, tokens):
        return None
    return FoundName(start, end, surface.name)


def _is_name(text: str, start: int, end: int, tokens: Tokens) -> bool:
    near = max(0, start - _LONGEST_WORD)
    if _CAPITAL_BEFORE.search(text, near, start) or _CAPITAL_AFTER.match(text, end):
        return False  # part of a longer name
    base = tokens.start_char
    span = tokens.doc.char_span(base + start, base + end)
    return span is not None and all(t.pos_ == "PROPN" for t in span)


@dataclass(frozen=True, slots=True)
class Sighting:
    """A name at `segment.text[start:end]`, or in the segment's header number `header`."""

    segment: int
    start: int
    end: int
    name: str  # id
    header: int | None = None


def sightings(
    draft: IndexDraft, roster: Roster, mentions: Sequence[PlacedName], defined: Sequence[Definition]
) -> list[Sighting]:
    """Return all of them in reading order; in one text no two overlap, and longer names win."""
    seen: dict[int, list[FoundName]] = defaultdict(list)
    for m in mentions:
        seen[m.segment].append(FoundName(m.start, m.end, roster.id_of(m)))
    taught = {one for d in defined for one in (d.alias, d.name)}
    taught |= {one for one, e in roster.evidence.items() if e.why is AliasReason.BACKGROUND}
    surfaces = Surfaces(roster.names, frozenset(taught))
    made: list[Sighting] = []
    for i, segment in enumerate(draft.segments):
        for n, header in enumerate(segment.headers):
            made.extend(Sighting(i, f.start, f.end, f.name, n) for f in surfaces.find(header.text))
        found = _without_overlap([*seen[i], *surfaces.find(segment.text, draft.tokens(i))])
        made.extend(Sighting(i, f.start, f.end, f.name) for f in found)
    return made


def _without_overlap(found: list[FoundName]) -> list[FoundName]:
    kept: list[FoundName] = []  # in reading order, so that only the neighbours can be in the way
    for one in sorted(found, key=lambda f: (f.start - f.end, f.start, f.name)):
        at = bisect_left(kept, one.start, key=_start)
        free_before = not at or kept[at - 1].end <= one.start
        if free_before and (at == len(kept) or one.end <= kept[at].start):
            kept.insert(at, one)
    return kept


def _start(found: FoundName) -> int:
    return found.start


def anaphors(
    links: Iterable[CoreferenceLink], names: Iterable[Sighting]
) -> Iterator[tuple[CoreferenceLink, Sighting]]:
    """Pair each link with the name it goes back to; links to what has no name are left out."""
    places: dict[int, list[Sighting]] = defaultdict(list)
    for name in names:
        if name.header is None:
            places[name.segment].append(name)
    for link in links:
        for name in places[link.antecedent_segment]:
            if name.start < link.antecedent_end and link.antecedent_start < name.end:
                yield link, name
                break


def written_aliases(draft: IndexDraft, aliases: Aliases) -> frozenset[str]:
    """Return the Background's names that the document writes, whether or not spaCy saw them."""
    names: dict[str, NameGroup] = {}
    for name, others in aliases:
        for surface in (name, *others):
            one = term_id(TermKind.ENTITY, key(surface))
            names.setdefault(one, NameGroup(one)).surfaces[surface] += 1
    surfaces = Surfaces(names, frozenset(names))
    texts = (t for s in draft.segments for t in (s.text, *(h.text for h in s.headers)))
    return frozenset(text[f.start : f.end] for text in texts for f in surfaces.find(text))
