"""LiftCtx: attach to every segment the least context it needs to be understood on its own."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Final, NamedTuple, TypeVar

from abstrag.config import CUELESS_CONFIDENCE
from abstrag.documents.assemble import target_words
from abstrag.documents.clauses import ContractClause, clauses_of
from abstrag.files import read_data_file
from abstrag.indexing.abstraction.nominals import NounKeys, TermCollector, read_nominals
from abstrag.indexing.abstraction.passage import ParsedPassage
from abstrag.indexing.layers import Contexts, CoreferenceLink, TimeMention
from abstrag.indexing.minimize import Sufficient, minimize
from abstrag.indexing.operator import IndexDraft, Layer
from abstrag.indexing.segment import sentences
from abstrag.indexing.times import dated_parts, time_key
from abstrag.language.calendar import days_of, iso
from abstrag.language.parser import parse
from abstrag.language.spelling import lowered
from abstrag.language.words import Words, key, term_id
from abstrag.model.document import BlockKind, Document, PageLink, Quote, Span
from abstrag.model.index import Context, Field, FieldValue, Profile, Statement, StatementKind
from abstrag.model.segment import Segment, SegmentKind
from abstrag.model.term import Mention, Term, TermKind

if TYPE_CHECKING:
    from spacy.tokens import Span as Tokens


# Cross-references of contracts: "Section 4.2" in a sentence, and the clause it points to.

_SHOWN: Final = 80  # characters of a clause without a heading
_NUMBER: Final = r"\d{1,2}(?:\.\d{1,2})*(?:\s?\([a-z]{1,4}\))*"
_REFERENCE_FORM: Final = re.compile(
    rf"(?<!\bthis\s)\b(?:sections?|clauses?|articles?|paragraphs?)\s*(?P<numbers>{_NUMBER}"
    rf"(?:(?:,\s*|\s+(?:and|or|to|through)\s+){_NUMBER})*)(?![\w.]*\w)"
    r"|\b(?P<part>schedule|exhibit|annex|appendix)\s+(?P<name>\d{1,2}|[A-Z])\b",
    re.IGNORECASE,
)
_ONE: Final = re.compile(_NUMBER)
_ELSEWHERE: Final = re.compile(  # "Section 409A of the Code", "Article 6 of Regulation (EU)"
    r"\s*(?:of|under|in)\s+(?:the\s+)?(?:[\w.]+\s+){0,5}?"
    r"(?:act|code|law|regulation|directive|rules?|statute|constitution|u\.?s\.?c)\b",
    re.IGNORECASE,
)


class Reference(NamedTuple):
    """A clause that a segment points to: what it is called, its heading, where it stands."""

    name: str
    heading: str
    span: Span


@dataclass(frozen=True, slots=True)
class CrossReferences:
    """Finds the clauses that segments of a document point to."""

    document: Document
    _clauses: Mapping[tuple[str, str], ContractClause] = field(default_factory=dict)

    @classmethod
    def of(cls, document: Document) -> CrossReferences:
        """Read the clauses of a document; of two with one number the first is meant."""
        clauses: dict[tuple[str, str], ContractClause] = {}
        for clause in clauses_of(document):
            clauses.setdefault((clause.part, clause.number), clause)
        return cls(document, clauses)

    @property
    def headings(self) -> tuple[str, ...]:
        """The headings of all clauses."""
        return tuple(dict.fromkeys(c.heading for c in self._clauses.values() if c.heading))

    def of_segment(self, segment: Segment) -> Iterator[Reference]:
        """Yield the clauses that a segment points to, each once, the one it stands in left out."""
        if not self._clauses:
            return
        seen = {segment.block}
        for clause in self._named(segment.text):
            if clause.block not in seen:
                seen.add(clause.block)
                yield self._reference(clause)

    def _named(self, text: str) -> Iterator[ContractClause]:
        for match in _REFERENCE_FORM.finditer(text):
            if _ELSEWHERE.match(text, match.end()):
                continue
            if match["part"]:
                part = f"{match['part'].casefold()} {match['name'].upper()}"
                found = [self._clauses.get((part, ""))]
            else:
                found = [self._numbered(one) for one in _ONE.findall(match["numbers"])]
            yield from (clause for clause in found if clause is not None)

    def _numbered(self, printed: str) -> ContractClause | None:
        """Return the clause of a number; that of 2.2(b) is 2.2 where letters begin no blocks."""
        digits, *letters = printed.replace(" ", "").replace(")", "").split("(")
        number = ".".join(str(int(each)) for each in digits.split("."))
        if letters and (found := self._clauses.get(("", f"{number}({letters[0]})"))):
            return found
        return self._clauses.get(("", number))

    def _reference(self, clause: ContractClause) -> Reference:
        block = self.document.blocks[clause.block]
        if clause.heading:
            return Reference(clause.name, clause.heading, block.span)
        said = block.text.removeprefix(clause.printed).lstrip(". )")
        begin = said[:_SHOWN] + ("…" if len(said) > _SHOWN else "")
        return Reference(f"{clause.printed} {begin}".strip(), "", block.span)


# S(s): what a segment states, and how firmly, from lexical and citation cues (appendices A, B).

_CITATION: Final = (
    r"\[\d+(?:\s*[-–,]\s*\d+)*\]|\bet al\b"
    r"|\([A-Z][\w'-]+(?: (?:and|&) [A-Z][\w'-]+)?,? (?:19|20)\d\d"
)


def _profiles() -> Iterator[tuple[Profile, re.Pattern[str]]]:
    for name, cues in read_data_file("abstrag.indexing", "statements.toml").items():
        profile, pattern = Profile(name), rf"\b(?:{'|'.join(cues)})\b"
        if profile is Profile.CITED_EXTERNAL:
            yield profile, re.compile(f"{_CITATION}|{pattern}")
        else:
            yield profile, re.compile(pattern, re.I)


# Tried in this order: the weakest reading that a cue supports wins.
_PROFILES: Final = tuple(_profiles())
_CUED: Final = 0.9  # confidence when a cue was seen

_CITED: Final = re.compile(_CITATION)
_FINITE: Final = frozenset({"VBD", "VBP", "VBZ", "MD"})
_PROPERTY: Final = re.compile(
    r"\d|\b(?:higher|lower|greater|less|more|fewer|larger|smaller|equal to|at (?:least|most)|"
    r"than)\b",
    re.I,
)
_CONCEPT: Final = re.compile(
    r"\b(?:is|are) defined as\b|\brefers? to\b|\bmeans\b|\b(?:is|are) (?:a|an) (?:kind|type|form|"
    r"class) of\b|\b(?:is|are) (?:called|known as|termed)\b|\bdenotes?\b|\bwe (?:call|define)\b",
    re.I,
)
_EVIDENCE: Final = re.compile(
    _CITATION
    + r"|\b[Aa]ccording to\b|\b(?:Table|Figure|Fig\.|Appendix) \d|\b(?:study|studies|trial|"
    r"survey|experiment|cohort|dataset|sample) (?:of|with|shows?|found)\b"
)


def extract_statements(tokens: Tokens, bounds: list[tuple[int, int]]) -> tuple[Statement, ...]:
    """Return the statements of a segment; `bounds` are its sentences as character offsets.

    A sentence with a finite verb that neither asks nor orders is a claim. It is a property as well
    when it measures or compares, a concept when it defines, and an evidence item when it cites.
    Text with no verb, such as a table row, is a property.
    """
    return tuple(s for start, end in bounds for s in _of_sentence(tokens, start, end))


def _of_sentence(tokens: Tokens, start: int, end: int) -> Iterator[Statement]:
    text = tokens.text[start:end]
    profile, confidence, cue = profile_of(text)

    def made(kind: StatementKind) -> Statement:
        return Statement(kind, profile, confidence, start, end, cue)

    part = tokens.doc.char_span(tokens.start_char + start, tokens.start_char + end)
    finite = part is not None and any(t.tag_ in _FINITE for t in part)
    measured = bool(_PROPERTY.search(_CITED.sub("", text)))
    if finite and not text.rstrip().endswith("?"):
        yield made(StatementKind.CLAIM)
    if measured or not finite:
        yield made(StatementKind.PROPERTY)
    if _CONCEPT.search(text):
        yield made(StatementKind.CONCEPT)
    if _EVIDENCE.search(text):
        yield made(StatementKind.EVIDENCE)


def profile_of(text: str) -> tuple[Profile, float, str]:
    """Return a sentence's epistemic profile, how sure that is, and the words that gave it away."""
    for profile, pattern in _PROFILES:
        if match := pattern.search(text):
            return profile, _CUED, match.group(0)
    return Profile.STRONG_CLAIM, CUELESS_CONFIDENCE, ""


# What headings and captions name: the terms that whatever stands under them may lean on.

_LONGEST_NAME: Final = 6  # words


class Headings:
    """The entities and concepts that each of some headings names."""

    def __init__(self, texts: Iterable[str], entities: Iterable[Term]) -> None:
        """Read the headings; `entities` are those that the document knows."""
        known = {
            key(surface): term.id
            for term in entities
            if term.kind is TermKind.ENTITY
            for surface in term.surfaces
        }
        distinct = tuple(dict.fromkeys(texts))
        self._entities = {text: _names(key(text).split(), known) for text in distinct}
        self._concepts = {
            text: _concepts(text, Words(doc))
            for text, doc in zip(distinct, parse(map(lowered, distinct)), strict=True)
        }

    def entities(self, text: str) -> tuple[str, ...]:
        """Return the entities that a heading names."""
        return self._entities[text]

    def terms(self, text: str) -> tuple[str, ...]:
        """Return the entities and concepts that a heading names."""
        return self._entities[text] + self._concepts[text]


def _names(words: Sequence[str], known: dict[str, str]) -> tuple[str, ...]:
    """Find known names in the words of a heading, the longest first; no two overlap."""
    found: dict[str, None] = {}
    first = 0
    while first < len(words):
        for last in range(min(len(words), first + _LONGEST_NAME), first, -1):
            if term := known.get(" ".join(words[first:last])):
                found[term] = None
                first = last
                break
        else:
            first += 1
    return tuple(found)


def _concepts(text: str, words: Words) -> tuple[str, ...]:
    ledger = TermCollector()
    quote = Quote(text, Span(0, len(text)))
    read_nominals(ParsedPassage(0, None, quote, words, 0, words.size, {}, {}), ledger, NounKeys())
    return tuple(term.id for term in ledger.terms)


# How sure each kind of value is; pruning tries the least sure first.
_OUTER_HEADING: Final = 0.5
_INNER_HEADING: Final = 0.9
_TITLE_ENTITY: Final = 0.4
_CAPTION: Final = 0.95
_HEADER: Final = 1.0
_REFERENCE: Final = 0.9
_STATED_DATE: Final = 0.95
_KNOWN_DATE: Final = 0.8  # from the file's metadata, not from its text

_Bound = frozenset[tuple[Field, FieldValue]]


@dataclass(frozen=True, slots=True)
class LiftContext:
    """Collect all the context on offer, then prune it to what the segment needs.

    Needed are: what its pronouns and descriptions stand for; the document's date when it speaks of
    a relative time, or in a tense without naming a time; the headers and caption of a table cell
    or row; the heading it stands under, and those further out that name an entity; the entity the
    document is about when it names none; the clauses it refers to; and its evidence profile when a
    cue gives one. What nothing on offer can bind stays an ambiguity of the operator that met it.
    """

    name: ClassVar[str] = "lift_context"
    requires: ClassVar[Layer | None] = Layer.TIMES
    provides: ClassVar[Layer] = Layer.CONTEXTS
    conservative: ClassVar[bool] = False
    version: ClassVar[int] = 5

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        """Lift every segment of the draft."""
        offer = _Offer(draft)
        contexts: list[Context] = []
        statements: list[tuple[Statement, ...]] = []
        for i in range(len(draft.segments)):
            said = extract_statements(draft.tokens(i), _sentence_bounds(draft, i))
            full = offer.context(i, said)
            needs = offer.needs(i, said, full)
            contexts.append(minimize(full, _holding(needs, full)))
            statements.append(said)
        return draft.with_(contexts=Contexts(tuple(contexts), tuple(statements)))


def _holding(needs: _Bound, full: Context) -> Sufficient:
    """Return what tells whether a part of a context still holds all that is needed.

    Values are compared once, here: a segment may ask two dozen times.
    """
    numbers: dict[tuple[Field, FieldValue], int] = {}
    number_of = {id(pair[1]): numbers.setdefault(pair, len(numbers)) for pair in full.values()}
    needed = {numbers[pair] for pair in needs}
    return lambda part: needed <= {number_of[id(value)] for _, value in part.values()}


def _sentence_bounds(draft: IndexDraft, segment: int) -> list[tuple[int, int]]:
    tokens = draft.tokens(segment)
    if draft.segments[segment].kind is not SegmentKind.PARAGRAPH:
        return [(0, len(tokens.text))]
    doc, base = tokens.doc, tokens.start_char
    cuts = [doc[first:last] for first, last in sentences(doc)]
    return [(cut.start_char - base, cut.end_char - base) for cut in cuts]


class _Offer:
    """Everything in a draft that could be context, grouped by the segment it could serve."""

    def __init__(self, draft: IndexDraft) -> None:
        assert draft.coreference is not None
        assert draft.entities is not None
        assert draft.times is not None
        self.document = draft.document
        self.dated = dated_parts(draft.document)
        self.segments = draft.segments
        self.links = _by_segment(draft.coreference.links)
        self.mentions = _by_segment(draft.entities.mentions)
        self.times = _by_segment(draft.times.expressions)
        self.labels = {t.id: t.label for t in draft.entities.terms}
        self.topics = tuple(_title_entities(draft.document, draft.entities.terms))
        self.heading_spans = _heading_spans(draft.document)
        tables = (block.table for block in draft.document.blocks)
        captions = (t.caption.text for t in tables if t is not None and t.caption is not None)
        paths = (heading for segment in draft.segments for heading in segment.section)
        self.references = CrossReferences.of(draft.document)
        self.pages: defaultdict[Span, list[PageLink]] = defaultdict(list)
        for page in draft.document.links:
            self.pages[page.span].append(page)
        linked = (target_words(page.target) for page in draft.document.links)
        named = (*paths, *captions, *self.references.headings, *linked)
        self.headings = Headings(named, draft.entities.terms)

    def context(self, index: int, said: Sequence[Statement]) -> Context:
        """Return every value that could be attached to a segment."""
        segment = self.segments[index]
        return Context(
            entities=(*self._bindings(index), *self.topics),
            time=tuple(self._anchor(segment)),
            scope=tuple(self._scope(segment)),
            evidence=tuple(_evidence(segment, said)),
        )

    def needs(self, index: int, said: Sequence[Statement], full: Context) -> _Bound:
        """Return the part of the full context that must stay."""
        segment, own = self.segments[index], self.times[index]
        in_table = segment.kind in (SegmentKind.TABLE_CELL, SegmentKind.TABLE_ROW)
        tensed = any(s.kind is StatementKind.CLAIM for s in said)
        wanted = {
            "topic": not self.mentions[index],
            "anchor": any(t.relative for t in own) or (tensed and not any(t.interval for t in own)),
            "header": in_table,
            "caption": in_table,
            "default": False,
        }
        return frozenset(
            (field, value)
            for field, value in full.values()
            if wanted.get(value.name, True) and (value.term or value.name != "outer section")
        )

    def _bindings(self, index: int) -> Iterator[FieldValue]:
        text = self.segments[index].text
        for link in self.links[index]:
            antecedent = self.segments[link.antecedent_segment]
            a, b = link.antecedent_start, link.antecedent_end
            term = self._term_at(link.antecedent_segment, a, b)
            value = self.labels.get(term or "", antecedent.text[a:b])
            yield FieldValue(
                name=text[link.start : link.end],
                value=value,
                confidence=link.confidence,
                span=antecedent.alignment.locate(a, b),
                term=term,
            )

    def _term_at(self, segment: int, start: int, end: int) -> str | None:
        for mention in self.mentions[segment]:
            if mention.header is None and mention.start < end and start < mention.end:
                return mention.term
        return None

    def _anchor(self, segment: Segment) -> Iterator[FieldValue]:
        if (part := self.dated.get(segment.block)) is not None:
            when = iso(days_of(part.interval))
            yield FieldValue("anchor", when, _STATED_DATE, part.span, time_key(part.interval))
            return
        date = self.document.metadata.date
        if date is not None:
            span = self.document.metadata.date_span
            sure = _STATED_DATE if span else _KNOWN_DATE
            yield FieldValue("anchor", date, sure, span, term_id(TermKind.TIME, date))

    def _scope(self, segment: Segment) -> Iterator[FieldValue]:
        for header in segment.headers:
            yield FieldValue("header", header.text, _HEADER, header.span)
        table = self.document.blocks[segment.block].table
        if table is not None and table.caption is not None:
            caption = table.caption
            yield from _named("caption", caption.text, _CAPTION, caption.span, self.headings.terms)
        path = segment.section
        for depth in range(len(path), 0, -1):
            inner = depth == len(path)
            yield from _named(
                "section" if inner else "outer section",
                path[depth - 1],
                _INNER_HEADING if inner else _OUTER_HEADING,
                self.heading_spans.get((segment.block, depth)),
                self.headings.terms if inner else self.headings.entities,
            )
        for reference in self.references.of_segment(segment):
            terms = self.headings.terms(reference.heading) if reference.heading else ()
            for term in terms or (None,):
                yield FieldValue("reference", reference.name, _REFERENCE, reference.span, term)
        for page in self.pages[self.document.blocks[segment.block].span]:
            if page.text in segment.text:
                for term in self.headings.terms(target_words(page.target)) or (None,):
                    yield FieldValue("link", page.target, _REFERENCE, page.span, term)


def _named(
    name: str,
    text: str,
    confidence: float,
    span: Span | None,
    terms: Callable[[str], tuple[str, ...]],
) -> Iterator[FieldValue]:
    """Offer a heading once for each term that it names; without any, once as it is."""
    for term in terms(text) or (None,):
        yield FieldValue(name, text, confidence, span, term)


def _evidence(segment: Segment, said: Sequence[Statement]) -> Iterator[FieldValue]:
    """Offer the profile of the weakest statement: that is how far the segment can be trusted."""
    if said:
        weakest = min(said, key=lambda s: s.trust)
        default = weakest.profile is Profile.STRONG_CLAIM
        found = segment.text.find(weakest.cue, weakest.start) if weakest.cue else -1
        span = segment.alignment.locate(found, found + len(weakest.cue)) if found >= 0 else None
        name = "default" if default else "profile"
        yield FieldValue(name, weakest.profile.value, weakest.confidence, span)


def _title_entities(document: Document, terms: Sequence[Term]) -> Iterator[FieldValue]:
    title = f" {key(document.title)} "
    for term in terms:
        if term.kind is TermKind.ENTITY and any(f" {key(s)} " in title for s in term.surfaces):
            at = document.text.find(document.title) if document.title else -1
            span = Span(at, at + len(document.title)) if at >= 0 else None
            yield FieldValue("topic", term.label, _TITLE_ENTITY, span, term.id)


def _heading_spans(document: Document) -> dict[tuple[int, int], Span]:
    """Return, for each block and each depth of its section path, where that heading stands."""
    spans: dict[tuple[int, int], Span] = {}
    latest: dict[tuple[str, ...], Span] = {}
    for i, block in enumerate(document.blocks):
        for depth in range(1, len(block.section) + 1):
            if block.section[:depth] in latest:
                spans[i, depth] = latest[block.section[:depth]]
        if block.kind is BlockKind.HEADING:
            latest[(*block.section, block.text)] = block.span
    return spans


_Placed = TypeVar("_Placed", CoreferenceLink, Mention, TimeMention)


def _by_segment(items: Sequence[_Placed]) -> defaultdict[int, list[_Placed]]:
    grouped: defaultdict[int, list[_Placed]] = defaultdict(list)
    for item in items:
        grouped[item.segment].append(item)
    return grouped
