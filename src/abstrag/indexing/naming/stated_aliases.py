"""The names a text gives to what it already named.

They are acronyms, defined terms and "also known as": stated, not guessed, so they may merge terms.
What lies between two names is told by expressions; whole sentences that name something
("the Heron is the nickname of Arthur Crane") are in a file of shapes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Final

from abstrag.indexing.naming.alias_cues import (
    ALSO,
    AROUND,
    AS_IS_KNOWN,
    BEGINS_CLAUSE,
    BEGINS_SENTENCE,
    CALLED,
    CALLED_AFTER,
    CALLED_BEFORE,
    CALLED_SO,
    CROWDS,
    DATED,
    DENIED,
    IN_TONGUE,
    NAMED,
    OF_ONE,
    OF_SORT,
    PART_BRACKET,
    PART_OF_WORD,
    RELATIVE,
    SENTENCE_END,
    SHAPES,
    SOMEBODY_AT,
    SPOKEN,
    THING_CALLED,
    WRITTEN_LARGE,
)
from abstrag.indexing.naming.mentions import UNLABELLED, PlacedName
from abstrag.indexing.operator import IndexDraft
from abstrag.language.acronyms import Acronym, acronyms, introduces, singular
from abstrag.language.names import house_form, legal_form, nameable, trim
from abstrag.language.spelling import fold, plural
from abstrag.language.words import key, phrase_key, term_id
from abstrag.lexicon.pos import Pos
from abstrag.lexicon.roles import is_institution, roles
from abstrag.lexicon.wordnet import wordnet
from abstrag.model.term import TermKind

if TYPE_CHECKING:
    from spacy.tokens import Span

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
    for i, segment in enumerate(draft.segments):
        here = named.get(i, [])
        found.extend(_defined_terms(segment.text, i, here))
        said = [*_also_known(segment.text, i, here)]
        known = {d.alias for d in said} | {d.name for d in said}
        more = _told_by_shapes(segment.text, i, here)
        found.extend((*said, *(d for d in more if known.isdisjoint((d.alias, d.name)))))
    for i, segment in enumerate(draft.segments):
        if _COMMON.search(segment.text):
            found.extend(_common_names(draft, i, named.get(i, [])))
        if CALLED_SO.search(segment.text) or THING_CALLED.search(segment.text):
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
    labels = {m.text: m.label for m in named}
    for one, other in pairwise(named):
        cue = other.start - one.end < _BETWEEN and ALSO.fullmatch(text, one.end, other.start)
        start = starts.get(one.end, one.start)
        name = text[start : one.end]
        if cue and one.end in starts and _told(cue, text, (start, name), other.text, labels):
            joined.add(one.end)
            yield _entity_definition(other.text, name, segment, start, other.end)
    for end, start in sorted(starts.items()):
        if (
            end not in joined
            and (other_ := _called_otherwise(text, start, end, labels)) is not None
        ):
            name = text[start:end]
            if nameable(other_["name"]) and other_["name"] != name:
                yield _entity_definition(other_["name"], name, segment, start, other_.end())
    for end, start in starts.items():
        part = PART_BRACKET.match(text, end + 1)
        own = text[start:end].split()
        own = own[1:] if own[0].casefold() == "the" else own
        if part is not None and len(own) > 1 and part["part"] in (own[0], own[-1]):
            yield _entity_definition(part["part"], text[start:end], segment, start, part.end())
    for known in AS_IS_KNOWN.finditer(text):
        yield _entity_definition(known["alias"], known["name"], segment, *known.span())
    for spoken in SPOKEN.finditer(text):
        whole = f"{spoken['first']} {spoken['last']}"
        place = segment, *spoken.span()
        yield _entity_definition(spoken["spoken"], whole, *place)
        yield _entity_definition(spoken.group(), whole, *place)


def _starts(text: str, named: list[PlacedName]) -> dict[int, int]:
    """Return where names begin, by their ends: of all words that are written large, if of more."""
    starts = {one.end: one.start for one in named}
    for large in WRITTEN_LARGE.finditer(text):
        start = large.start() + _opening(large.group())
        known = starts.get(large.end(), large.end())
        more = text[start:known].strip()
        if SOMEBODY_AT.fullmatch(more) and _are_people(more.split()[0].casefold()):
            continue  # "Nurses at St Anne's Hospital"
        owner = more.endswith(("'s", "’s")) or text[:start].endswith(("the ", "The "))
        if " " in more or (more and owner):  # one word more may only open the sentence
            starts[large.end()] = start
    return {
        e: start for e, start in starts.items() if not _of_two(text, start, text[start:e], named)
    }


def _called_otherwise(
    text: str, start: int, end: int, labels: Mapping[str, str]
) -> re.Match[str] | None:
    """Return the other name that the words around a name give it."""
    if CALLED_BEFORE.search(text, 0, start):  # "fans call Northgate Brewing the Hops"
        return None if _denied(text, start, end) else CALLED_AFTER.match(text, end)
    cue = ALSO.match(text, end)
    if cue is None:
        return _called_so(text, end)
    other = CALLED.match(text, cue.end())
    name = start, text[start:end]
    return other if other and _told(cue, text, name, other["name"], labels) else None


def _called_so(text: str, end: int) -> re.Match[str] | None:
    """Return what follows a name and says that some people, or some tongue, name it so."""
    found = CALLED_SO.match(text, end)
    if found is not None:
        people, tongue = found["people"], found["tongue"]
        if (people and not _are_people(people)) or (tongue and not _is_tongue(tongue)):
            return None
        return found
    found = IN_TONGUE.match(text, end)
    return found if found is not None and _is_tongue(found["tongue"]) else None


def _are_people(noun: str) -> bool:
    net = wordnet()
    senses = (s for base in net.base_forms(noun, Pos.NOUN) for s in net.synsets(base, Pos.NOUN)[:4])
    person = net.synset("person.n.01")
    return noun in CROWDS or any(
        person in net.ancestors(sense) and not net.is_instance(sense) for sense in senses
    )


def _is_tongue(name: str) -> bool:
    net = wordnet()
    kinds = {net.synset("language.n.01")}
    return any(not kinds.isdisjoint(net.ancestors(s)) for s in net.synsets(name, Pos.NOUN))


def _told(
    cue: re.Match[str], text: str, name: tuple[int, str], other: str, labels: Mapping[str, str]
) -> bool:
    """Tell whether a cue makes a name of what follows it: nothing denies it, and it is no office.

    "Ann Lee, officially Minister of Fish" has an office, "Ann Lee, once Acme," had an employer.
    """
    start, own = name
    if _denied(text, start, cue.end()) or _dated(other, own):
        return False
    named = NAMED.search(cue.group())  # "was named Captain", "was styled Duke of Lanford"
    if named is not None and (_is_rank(other) if not named["to"] else _is_office(other)):
        return False
    if PART_OF_WORD.match(text, cue.end() + len(other)) or not _said_of(cue, text, start):
        return False
    if not (cue["weak"] or cue["earlier"] or cue["past"] or cue["acting"]):
        return True
    shared = not set(key(own).split()).isdisjoint(key(other).split())
    plain = not shared and not cue["acting"] and not cue.group().rstrip('"“ ').endswith("the")
    if _is_office(other) or (labels.get(own) == "PERSON" and plain):
        return False
    label = labels.get(other, UNLABELLED)
    return not cue["earlier"] or shared or (label != UNLABELLED and label == labels.get(own))


def _is_rank(name: str) -> bool:
    """Tell whether what is written large says what somebody is: Champions, Man of the Match."""
    head = key(name).partition(" of ")[0]
    return _is_office(name) or (" " not in head and _are_people(head))


def _of_two(text: str, start: int, name: str, named: list[PlacedName]) -> bool:
    """Tell whether a name is one of two things: "the Moles and the Corks"."""
    first, joint, rest = name.partition(" and ")
    if not joint:
        return False
    end = start + len(first)
    body, part = (key(words).rpartition(" ")[2] for words in (rest, first))
    whole = text[:start].endswith(("the ", "The ")) or (
        is_institution(body) and not is_institution(part)
    )
    if whole and not rest.startswith("the "):
        return False  # "the Valley Brine and Tramway Company"
    second = end + len(" and the " if rest.startswith("the ") else " and ")
    return any(m.end == end for m in named) and any(m.start == second for m in named)


def _said_of(cue: re.Match[str], text: str, start: int) -> bool:
    """Tell whether a cue without a comma, or "which was", speaks of the name right before it.

    "The river at Lanford is called the Muckle" and "in Indonesia, which was once called" do not.
    """
    said = cue.group().lstrip()
    if RELATIVE.match(said):
        return BEGINS_SENTENCE.search(text, 0, start) is not None
    if not said[:1].isalpha() or said.startswith(("or ", "s ", "formerly ")):
        return True
    return BEGINS_CLAUSE.search(text, 0, start) is not None


def _dated(*names: str) -> bool:
    """Tell whether a name is a day or month: who is born in March is not called so."""
    return any(map(DATED.match, names))


def _is_office(name: str) -> bool:
    """Tell whether what is written large is an office: Minister of Fish."""
    first, of, _ = key(name).partition(" of ")
    word = first.split()[-1] if first else ""
    return word in roles().by_name or (bool(of) and roles().is_head(word))


def _denied(text: str, start: int, end: int) -> bool:
    """Tell whether the sentence denies what a place in it says, or only wishes it."""
    before = text[max(0, start - AROUND) : start]
    for mark in SENTENCE_END.finditer(before):
        before = before[mark.end() :] if mark.end() < len(before) else ""
        break
    return DENIED.search(before + text[start:end]) is not None


def _told_by_shapes(text: str, segment: int, named: list[PlacedName]) -> Iterator[Definition]:
    """Read sentences that name something: "Silas Vane is the pen name of Arthur Crane"."""
    for sign, shape in SHAPES:
        if not sign.search(text):
            continue
        for found in shape.finditer(text):
            if _denied(text, *found.span()):
                continue
            (start, name), (_, alias) = (_large(found, part) for part in ("name", "alias"))
            owner = name.endswith(("'s", "’s")) and text[start + len(name) :][:2].strip().islower()
            owner = owner or OF_SORT.match(text, start + len(name)) is not None
            article = text[: found.start("alias")].casefold().endswith(("the ", '"', "“"))
            office = not article and _is_rank(alias)  # but "the General" may be a hospital
            if owner or " and " in alias or office or alias == name:
                continue  # the name of somebody's dog is not somebody's
            first = re.match(r"\W*(?:the\W+)?", found.group(), re.IGNORECASE)
            opens = first is not None and found.start() + first.end() == found.start("name")
            if opens and not BEGINS_CLAUSE.search(text, 0, start):
                continue  # of "the song about Port Selby, “the Harbour”," it is the song's
            if _of_two(text, start, name, named):
                continue
            if nameable(alias) and nameable(name) and not _dated(alias, name):
                yield _entity_definition(alias, name, segment, *found.span())


def _large(found: re.Match[str], part: str) -> tuple[int, str]:
    """Return a name and where it begins, without what only opens the sentence."""
    skipped = _opening(found[part])
    return found.start(part) + skipped, found[part][skipped:]


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
        other = _called_so(text, end) or _thing_called(chunk, thing, text, end)
        if other is None or any(m.start < end and start < m.end for m in named):
            continue
        phrase, surfaces = _concept(draft, segment, start, end)
        alias, name = (term_id(TermKind.CONCEPT, one) for one in (key(other["name"]), phrase))
        yield Definition(alias, name, (other["name"],), surfaces, segment, start, other.end())


def _thing_called(chunk: Span, thing: Span, text: str, end: int) -> re.Match[str] | None:
    """Return the name after "the old bus, nicknamed": of one thing that is described, no person."""
    other = THING_CALLED.match(text, end)
    one = len(thing) > 1 and chunk[0].lower_ in OF_ONE and thing.root.tag_ == "NN"
    if other is None or not one or _are_people(thing.root.lower_):
        return None
    return None if _denied(text, end, other.end()) or _dated(other["name"]) else other


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
