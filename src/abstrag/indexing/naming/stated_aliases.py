"""The names a text gives to what it already named.

They are acronyms, defined terms and "also known as": stated, not guessed, so they may merge terms.
What lies between two names is told by the expressions below; whole sentences that name something
("the Heron is the nickname of Arthur Crane") are in a file of shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

from abstrag.indexing.naming.mentions import PlacedName
from abstrag.indexing.operator import IndexDraft
from abstrag.language.acronyms import Acronym, acronyms, introduces, singular
from abstrag.language.names import house_form, legal_form, nameable, trim
from abstrag.language.spelling import fold, plural
from abstrag.language.words import key, phrase_key, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.term import TermKind

if TYPE_CHECKING:
    from spacy.tokens import Span

_HOW = (
    r"(?:(?:also|formerly|previously|once|originally|better|commonly|popularly|locally|often|usually"
    r"|sometimes|widely|generally|affectionately|officially|internally|now|later|simply|hereafter"
    r"|hereinafter|henceforth|herein|below|since)\s+)*"
)
_KNOWN = (
    r"(?:known|referred\s+to)(?:\s+\w+ly)?"
    r"(?:\s+(?:to|by|among|in|throughout|along|across|around|at|on|within)\s+(?:[\w-]+\s+){1,4}?|\s+)as"
)
_SOMEBODY_CALLS = (  # "which everybody here calls", "whom we simply call"
    r"(?:which|whom|that)\s+(?:[\w'’-]+\s+){1,6}?(?:calls?|called|know\s+as|knows\s+as|refers?\s+to\s+as"
    r"|nicknames?|nicknamed|dub|dubbed)(?:\s+(?:it|him|her|them))?"
)
_PEOPLE_SAY = (  # "(we say the Ringers)", "or the Saucer, as shepherds call it"
    r"(?:\(|,\s+or)\s*(?:(?:we|they|people|locals|everybody|everyone)\s+(?:\w+ly\s+|just\s+|all\s+)?(?:say|says"
    r"|call|calls|called)|(?:the|its|our|their)\s+[\w'’-]+\s+(?:call|calls|called))(?:\s+(?:it|them|him|her))?"
)
# What makes of the name that follows another name of the one before: after a comma, a bracket or
# "is" also a mere participle, for "Acme named Ann Roe" gives nobody a name.
_ALSO = re.compile(
    r"(?:(?:,?\s*(?:[(,—–]|\bor\b)|\s*,?\s*(?:who|which)?\s*\b(?:is|was|are|has\s+been|will\s+be|shall\s+be"
    r"|used\s+to\s+be))"
    rf"\s*(?:who\s+is\s+|which\s+is\s+|is\s+)?{_HOW}"
    r"(?:called|named|renamed|rebranded(?:\s+as)?|code-?named|nicknamed|dubbed|christened|termed|styled|alias|short\s+for|hereafter|hereinafter"
    r"|henceforth|(?:local|short|former|old|popular|nick)[ -]?name:?|in\s+short)"
    rf"|,?\s*(?:\(|,|\b(?:is|was|are)\b|\bor\b|—)?\s*{_HOW}"
    rf"(?:{_KNOWN}|a\.?k\.?a\.?|doing\s+business\s+as|trading\s+as|d/b/a|formerly|née"
    r"|goes?\s+(?:\w+\s+)?(?:by|under)(?:\s+the\s+name(?:\s+of)?)?|by\s+the\s+name\s+of"
    rf"|{_SOMEBODY_CALLS}|whose\s+(?:nickname|short\s+name|other\s+name|pet\s+name)\s+is"
    r"|(?:in\s+the\s+following|in\s+what\s+follows|from\s+(?:here|now)\s+on|below"
    r"|in\s+this\s+(?:agreement|article|bulletin|contract|document|guide|letter|newsletter|notice"
    r"|paper|report|text)):?)"
    rf"|,?\s*{_PEOPLE_SAY}|,?\s+or\s+(?:simply|just)"
    r"|[’']s\s+(?:nickname|short\s+name|pet\s+name|stage\s+name|former\s+name|old\s+name)\s+(?:is|was)"
    r"|\s*[,(]\s*(?:officially|popularly|colloquially|informally|affectionately|unofficially|internally"
    r"|previously):?(?=\s+(?:the\s+)?[\"“]?[A-Z][^,.;()]{1,40}[,)]))"
    r"\s+(?:simply\s+|just\s+|the\s+name\s+)*(?:the\s+)?[\"“‘']?(?:the\s+)?",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"(?P<name>[A-Z][\w'’&-]*(?:\s+(?:(?:of|the|and|&|de|la)\s+)?[A-Z][\w'’&-]*){0,4})"
)
# And of the name before: "the Purse as it is usually called", "(Conveyor for short)".
_CALLED_SO = re.compile(
    r"\s*(?:[(,—–]|\s-\s)\s*(?:or\s+)?(?:simply\s+|just\s+)?(?:the\s+)?[\"“‘']?"
    rf"{_CALLED.pattern}[\"”’']?,?\s+(?:for\s+short\b|in\s+short\b"
    r"|to\s+(?:everyone|everybody|locals|insiders|regulars|us|most|all)\b"
    r"|to\s+(?:its|his|her|their|our)\s+(?:friends|fans|members|readers|staff|neighbours|neighbors|users"
    r"|customers|pupils|guests|supporters|crew)\b"
    r"|as\s+(?:[\w'’-]+\s+){1,6}?(?:call|calls|called|known|nicknamed|named|say|says)\b)"
)
_WRITTEN_LARGE = re.compile(  # "the Parents' Fund for Outings and Instruments"
    r"(?<![\w'’-])[A-Z][\w'’&-]*(?:\s+(?:(?:of|for|and|&|de|in|on|to|at|du|von)\s+(?:(?:the|la)\s+)?)?"
    r"[A-Z][\w'’&-]*)+"
)
_CALLED_BEFORE = re.compile(r"\b(?:call|calls|called|nickname|nicknamed|dub|dubbed)\s+(?:the\s+)?$")
_CALLED_AFTER = re.compile(
    rf"\s+(?:the\s+[\"“‘']?|[\"“‘'](?:the\s+)?){_CALLED.pattern}(?=[\"”’']?\s*(?:[.,;:)]|$))"
)
_AS_IS_KNOWN = re.compile(  # "the Hops, as Northgate Brewing is known"
    rf"(?:\bThe\s+)?{_CALLED.pattern.replace('name', 'alias')},\s+as\s+(?:the\s+)?{_CALLED.pattern}"
    r"\s+(?:is|was|are)\s+(?:\w+\s+){0,2}(?:known|called|nicknamed|dubbed)\b"
)
_SPOKEN = re.compile(  # Robert "Bobby" Keane
    r"(?P<first>[A-Z][\w'’-]+)\s+[\"“‘'](?P<spoken>[A-Z][\w' -]{1,20})[\"”’']\s+"
    r"(?P<last>[A-Z][\w'’-]+)"
)
_PART_BRACKET = re.compile(
    r"\(\s*(?:hereafter\s+|hereinafter\s+)?(?:the\s+)?(?P<part>[A-Z][\w'’-]*)\s*\)"
)
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,40})[\"”]")
_TERM_BRACKET = re.compile(r"\(([^()\"“]{0,60}[\"“][^()]{1,120})\)")
_DESCRIBED = re.compile(
    r",?\s*(?:[A-Z][A-Za-z.]{1,6}\s*)?(?:,?\s*an?\s[^;:()]{3,90}?)?,?\s*"
    r"(?:(?:together\s+)?(?:and|with)\s+its\s+[^.;:()]{0,40}(?:subsidiaries|affiliates)\s*,?\s*)?"
)
_INDEFINITE = re.compile(r"\ban?\s$")
_SEVERAL = re.compile(r"\b(?:each|individually|both)\b|collectively(?!.*\b(?:we|us|our)\b)", re.I)
_SUBSIDIARIES = re.compile(r"\b(?:subsidiaries|affiliates)\b")
_MARK_OF_LONG_FORM = re.compile(r"(?<=[a-z]{4})\d{1,3}$")
_COMMON = re.compile(
    r"(?:,\s*(?:or\s+)?|\s*\(\s*|\s+(?:is|are)\s+)"
    r"(?:(?:also|commonly|often|better|popularly|otherwise|sometimes|usually|colloquially|variously)\s+)+"
    r"(?:known\s+as|called|termed|named|referred\s+to\s+as)\s+(?:an?\s+|the\s+)?[\"“]?",
)
_OPENING: Final = frozenset(
    "the a an our my your his her its their this that in at on of for and but by from to with when"
    " while as if dear after before since until about under over near both every each no".split()
)
_BETWEEN: Final = 60  # letters between two names of one thing
_PRONOUNS: Final = frozenset({"we", "us", "our", "ours", "you", "your", "i", "it", "they", "my"})
_SMALL: Final = frozenset("a an and as at by for from in of on or the to with & de du la".split())


@dataclass(frozen=True, slots=True)
class Definition:
    """The words `segment.text[start:end]` say that `alias` and `name` are one thing."""

    alias: str  # term id
    name: str  # term id
    alias_surfaces: tuple[str, ...]
    name_surfaces: tuple[str, ...]
    segment: int
    start: int
    end: int


def definitions(draft: IndexDraft, mentions: Sequence[PlacedName]) -> list[Definition]:
    """Return what the text defines, in reading order."""
    named = {i: list(group) for i, group in groupby(mentions, key=lambda m: m.segment)}
    bracketed = [
        (i, found)
        for i, segment in enumerate(draft.segments)
        if introduces(segment.text)
        for found in acronyms(segment.text)
    ]
    # one short form is one kind of thing, however its long form is capitalized here and there
    text = "\n".join(segment.text for segment in draft.segments) if bracketed else ""
    common = {fold(a.short) for _, a in bracketed if not _proper(a.long, text)}
    found = [
        _acronym(draft, i, acronym, proper=fold(acronym.short) not in common)
        for i, acronym in bracketed
    ]
    for i, here in named.items():
        found.extend(_defined_terms(draft.segments[i].text, i, here))
        found.extend(_also_known(draft.segments[i].text, i, here))
    for i, segment in enumerate(draft.segments):
        if _COMMON.search(segment.text):
            found.extend(_common_names(draft, i, named.get(i, [])))
        if _CALLED_SO.search(segment.text):
            found.extend(_names_of_things(draft, i, named.get(i, [])))
    found.sort(key=lambda d: (d.segment, d.start, d.end, d.alias))
    return [d for d in found if d.alias != d.name]


def _acronym(draft: IndexDraft, segment: int, found: Acronym, *, proper: bool) -> Definition:
    start, end = trim(found.long)
    long = _MARK_OF_LONG_FORM.sub("", found.long[start:end])
    stem = singular(found.short)
    short_surfaces = tuple(sorted({found.short, stem, stem + "s"}))
    at = found.long_start + start
    kind = TermKind.ENTITY if proper else TermKind.CONCEPT
    phrase: str = key(long)
    surfaces: tuple[str, ...] = (long,)
    if not proper:
        phrase, surfaces = _concept(draft, segment, at, at + len(long))
    alias, name = term_id(kind, key(stem)), term_id(kind, phrase)
    return Definition(alias, name, short_surfaces, surfaces, segment, found.start, found.end)


def _proper(long: str, text: str) -> bool:
    """True when a long form is a name: all its words are capitalized, and nowhere small."""
    words = [w for w in re.split(r"[\s/]+", long) if w and w.casefold() not in _SMALL]
    if not all(w[0].isupper() or not w[0].isalpha() for w in words):
        return False
    return long.casefold() not in text


def _concept(draft: IndexDraft, segment: int, start: int, end: int) -> tuple[str, tuple[str, ...]]:
    """Return the key of a common-noun phrase and its surfaces, singular and plural."""
    tokens = draft.tokens(segment)
    base = tokens.start_char
    span = tokens.doc.char_span(base + start, base + end)
    long = tokens.text[start:end]
    if span is None:
        return key(long), (long,)
    last = span[-1]
    if last.tag_ in ("NNS", "NNPS"):
        other = long[: len(long) - len(last.text)] + last.lemma_
    else:
        other = plural(long)
    surfaces = {long, other}
    if start == 0 and span[0].pos_ != "PROPN" and long[1:2].islower():
        surfaces |= {s[0].lower() + s[1:] for s in surfaces}  # the capital is the sentence's
    return phrase_key(span), tuple(sorted(surfaces))


def _defined_terms(text: str, segment: int, named: list[PlacedName]) -> Iterator[Definition]:
    """Read `Acme Inc., a Delaware corporation (the "Company")`.

    The words before the bracket must be a whole name for this to hold, so it is asked for a legal
    form ("Acme Inc.") or for the term's own words ("the Tax Cuts and Jobs Act (the "Tax Act")").
    """
    definite = [m for m in named if not _INDEFINITE.search(text, max(0, m.start - 4), m.start)]
    for bracket in _TERM_BRACKET.finditer(text):
        name = next((m for m in reversed(definite) if m.end <= bracket.start()), None)
        if name is None:
            continue
        gap = text[name.end : bracket.start()]
        joint = _SEVERAL.search(bracket[1]) and not _SUBSIDIARIES.search(gap)
        if joint or not _DESCRIBED.fullmatch(gap):
            continue
        registered = house_form(name.text)[1] or legal_form(f"{name.text}{gap}".strip())[1]
        words = set(key(name.text).split())
        for quoted in _QUOTED.finditer(bracket[1]):
            start, end = trim(quoted[1])
            term = quoted[1][start:end]
            if not nameable(term) or term.casefold() in _PRONOUNS or term in text[: name.start]:
                continue  # "the Operating Agreement of Acme Inc. (the "Operating Agreement")"
            if registered or set(key(term).split()) < words:
                yield _entity_definition(term, name.text, segment, name.start, bracket.end())


def _also_known(text: str, segment: int, named: list[PlacedName]) -> Iterator[Definition]:
    """Read "Lake Orr, known to anglers as the Mirror", and names that stand in another's brackets.

    The other name need not be one that is recognised as such: it is written large.
    """
    joined: set[int] = set()
    starts = _starts(text, named)
    for one, other in pairwise(named):
        if other.start - one.end < _BETWEEN and _ALSO.fullmatch(text, one.end, other.start):
            joined.add(one.end)
            name = text[starts[one.end] : one.end]
            yield _entity_definition(other.text, name, segment, starts[one.end], other.end)
    for end, start in sorted(starts.items()):
        if end not in joined and (other_ := _called_otherwise(text, start, end)) is not None:
            name = text[start:end]
            if nameable(other_["name"]) and other_["name"] != name:
                yield _entity_definition(other_["name"], name, segment, start, other_.end())
    for one in named:
        part = _PART_BRACKET.match(text, one.end + 1)
        own = one.text.split()
        if part is not None and len(own) > 1 and part["part"] in (own[0], own[-1]):
            yield _entity_definition(part["part"], one.text, segment, one.start, part.end())
    for known in _AS_IS_KNOWN.finditer(text):
        yield _entity_definition(known["alias"], known["name"], segment, *known.span())
    for spoken in _SPOKEN.finditer(text):
        whole = f"{spoken['first']} {spoken['last']}"
        place = segment, *spoken.span()
        yield _entity_definition(spoken["spoken"], whole, *place)
        yield _entity_definition(spoken.group(), whole, *place)


def _starts(text: str, named: list[PlacedName]) -> dict[int, int]:
    """Return where names begin, by their ends: of all words that are written large, if of more."""
    starts = {one.end: one.start for one in named}
    for large in _WRITTEN_LARGE.finditer(text):
        start = large.start() + _opening(large.group())
        known = starts.get(large.end(), large.end())
        if " " in text[start:known].strip():  # one word more may only open the sentence
            starts[large.end()] = start
    return starts


def _called_otherwise(text: str, start: int, end: int) -> re.Match[str] | None:
    """Return the other name that the words around a name give it."""
    if _CALLED_BEFORE.search(text, 0, start):  # "fans call Northgate Brewing the Hops"
        return _CALLED_AFTER.match(text, end)
    cue = _ALSO.match(text, end)
    return _CALLED_SO.match(text, end) if cue is None else _CALLED.match(text, cue.end())


def _opening(name: str) -> int:
    """Return how much of what is written large only opens a sentence: "Dear", "The"."""
    first, _, rest = name.partition(" ")
    net, word = wordnet(), first.casefold()
    only_opens = word in _OPENING or (
        bool(net.synsets(word, Pos.ADVERB)) and not net.synsets(word, Pos.NOUN)
    )
    return len(first) + 1 + _opening(rest) if only_opens and " " in rest else 0


def _common_names(draft: IndexDraft, segment: int, named: list[PlacedName]) -> Iterator[Definition]:
    """Read "varicella, also called chickenpox,": two names of one kind of thing."""
    tokens = draft.tokens(segment)
    base, text = tokens.start_char, tokens.text
    phrases = [_bare(chunk) for chunk in tokens.noun_chunks]
    for cue in _COMMON.finditer(text):
        one = next((p for p in phrases if p and p.end_char - base == cue.start()), None)
        other = next((p for p in phrases if p and p.start_char - base == cue.end()), None)
        if one is None or other is None or one.text.casefold() == other.text.casefold():
            continue
        places = [(p.start_char - base, p.end_char - base) for p in (one, other)]
        if any(m.start < b and a < m.end for m in named for a, b in places):
            continue
        (name, surfaces), (alias, others) = (_concept(draft, segment, a, b) for a, b in places)
        yield Definition(
            term_id(TermKind.CONCEPT, alias),
            term_id(TermKind.CONCEPT, name),
            *(others, surfaces, segment, places[0][0], places[1][1]),
        )


def _names_of_things(
    draft: IndexDraft, segment: int, named: list[PlacedName]
) -> Iterator[Definition]:
    """Read "our deployment pipeline (Conveyor for short)": a name for a thing that has none."""
    tokens = draft.tokens(segment)
    base, text = tokens.start_char, tokens.text
    for chunk in tokens.noun_chunks:
        thing = _bare(chunk)
        if not thing or thing.root.pos_ != "NOUN":
            continue
        start, end = thing.start_char - base, thing.end_char - base
        other = _CALLED_SO.match(text, end)
        if other is None or any(m.start < end and start < m.end for m in named):
            continue
        phrase, surfaces = _concept(draft, segment, start, end)
        alias, name = (term_id(TermKind.CONCEPT, one) for one in (key(other["name"]), phrase))
        yield Definition(alias, name, (other["name"],), surfaces, segment, start, other.end())


def _bare(chunk: Span) -> Span:
    """Return a noun phrase without what determines it."""
    first = next((t.i for t in chunk if t.pos_ not in ("DET", "PRON", "PUNCT")), chunk.end)
    return chunk.doc[first : chunk.end]


def _entity_definition(alias: str, name: str, segment: int, start: int, end: int) -> Definition:
    return Definition(
        term_id(TermKind.ENTITY, key(alias)),
        term_id(TermKind.ENTITY, key(name)),
        (alias,),
        (name,),
        segment,
        start,
        end,
    )
