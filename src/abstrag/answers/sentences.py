"""Answering without a model: the sentences of the best passages that hold most of the question.

A sentence counts by how much of the query it meets itself, by how relevant its passage is, and by
whether it names the kind of thing that was asked for. A passage that meets too little of the query,
or nothing of what it names, is not quoted, and where all are like that nothing is answered: a wrong
sentence quoted exactly is still a wrong answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spacy.tokens import Doc
from spacy.tokens import Span as Tokens

from abstrag.answers.citations import CitedPassage
from abstrag.answers.contradictions.statement import COMPARED
from abstrag.answers.question_form import LISTS, Form, stems, wanted, years
from abstrag.answers.quotable import citable, lists_contents
from abstrag.language.parser import parse
from abstrag.language.words import key
from abstrag.lexicon.roles import roles
from abstrag.model.document import Document
from abstrag.model.index import DocumentIndex
from abstrag.model.query import LiteralKind, Query
from abstrag.model.ranking import Hit, LiteralTrace
from abstrag.model.segment import Segment, SegmentKind
from abstrag.model.term import TermKind

COVERAGE_FLOOR: Final = 0.3  # of the query's weight that a passage has to meet
JUDGEMENT_FLOOR: Final = 0.2  # what the judge, where there is one, has to give a passage
HALF_FLOOR: Final = 0.1  # what it has to give a sentence that looks like the answer by itself
WELL_MET: Final = 0.7  # of the query's weight that such a sentence meets
NEAR: Final = 0.8  # of the best sentence's score that others need to be quoted with it
MOST: Final = 3  # sentences of an answer
SURE: Final = 0.6  # how sure a judge that reads sentences has to be of a second one
CLEAR: Final = 0.85  # so sure of a sentence it may lack what looks like the kind asked for
NEXT: Final = 0.9  # of the best sentence's score that a second needs
_NO_FIT: Final = 0.5  # what a sentence without the kind of thing asked for is worth

_NAMED_KINDS: Final = (LiteralKind.ENTITY, LiteralKind.TIME)
_LONGEST_OFFICE: Final = 4  # words
_HOLDER: Final = re.compile(
    r"^\W*who\s+(?:is|(?P<was>was))\s+(?:the\s+|[\w .&-]+['’]s?\s+)?(?P<office>[^?]+)", re.I
)
_BESIDE: Final = r"(?<!vice[ -])(?<!deputy )(?<!former )"
_ONCE: Final = r"(?![^,;.—]{0,60}\b(?:in|from|until|to)\s+(?:[a-z]+\s+)?(?:19|20)\d\d)"
_COMPARED_WITH: Final = re.compile(rf"(?:{COMPARED.pattern}|\b(?:from|than)\b)", re.I)

_LIST: Final = re.compile(
    r"^\W*(?:what|which)\s+(?:are|were|\w+s)\b|\bcomponents\b|\btypes\b", re.I
)
_NAMED: Final = re.compile(r"(?<!^)(?<![.?!]\s)\b[A-Z][\w'’-]+")
_PERCENT: Final = re.compile(r"%|\bper\s?cent", re.I)
_DIGIT: Final = re.compile(r"\d")

_NAMES: Final = {
    "person or organization": frozenset({"PERSON", "ORG", "NORP"}),
    "place": frozenset({"GPE", "LOC", "FAC"}),
}
_TERMS: Final = {
    "person or organization": (TermKind.ROLE,),  # "the CTO of Anthropic" is somebody
    "quantity": (TermKind.QUANTITY,),
    "time": (TermKind.TIME,),
}
_TABULAR: Final = (SegmentKind.TABLE_ROW, SegmentKind.TABLE_CELL)
_CUES: Final = {
    "reason": re.compile(
        r"\b(?:because|since|due to|owing to|thus|therefore|so that|in order to|as a result|"
        r"caused? by|reasons?)\b",
        re.I,
    )
}


_KINDS: Final = _NAMES | _TERMS | _CUES  # of answers that a sentence can be seen to give


@dataclass(frozen=True, slots=True)
class _Sentence:
    """A stretch of a passage's text, with its tokens."""

    passage: CitedPassage
    start: int
    end: int
    tokens: Tokens | None

    @property
    def text(self) -> str:
        return self.passage.segment.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A stretch of a passage's text that answers, and how well."""

    passage: CitedPassage
    start: int
    end: int
    score: float

    @property
    def text(self) -> str:
        """The words chosen."""
        return self.passage.segment.text[self.start : self.end]


def holds(hit: Hit, title: str = "") -> bool:
    """Tell whether a passage is good enough to be quoted as an answer.

    A judge's word on it settles it. Without one the passage has to meet enough of the query and,
    where the query names something, at least one of the names; what the document's title names is
    understood throughout, and need not be said again.
    """
    if hit.judgement is not None:
        return hit.judgement >= JUDGEMENT_FLOOR
    topic = key(title)
    names = [
        found.met
        for found in hit.trace.literals
        if found.literal.kind is LiteralKind.ENTITY and key(found.literal.label) not in topic
    ]
    return hit.trace.share >= COVERAGE_FLOOR and (not names or any(names))


def unmet(hits: Sequence[Hit], query: Query, title: str = "") -> tuple[str, ...]:
    """Return what of the query neither passages nor titles meet, in the query's order."""
    topic = key(title)
    met = {one.literal.label for hit in hits for one in hit.trace.literals if one.met}
    return tuple(
        literal.label
        for literal in query.literals
        if key(literal.label) not in topic and literal.label not in met
    )


def strangers(hits: Sequence[Hit], document: Document) -> tuple[str, ...]:
    """Return the names in a query that no passage meets and the document never mentions."""
    names = [found.literal for found in hits[0].trace.literals] if hits else []
    return tuple(
        literal.label
        for j, literal in enumerate(names)
        if literal.kind is LiteralKind.ENTITY
        and not any(hit.trace.literals[j].met for hit in hits)
        and not _mentioned(literal.label, document)
    )


def _mentioned(name: str, document: Document) -> bool:
    text = f"{document.title} {document.text}".casefold()
    return all(word in text for word in name.casefold().split())


Reads = Callable[[str, Sequence[str]], Sequence[float]]  # how probably texts are evidence
# What no quoted sentence answers: it is reckoned, or it is yes or no.
_RECKONED: Final = frozenset(
    {Form.SHARE, Form.RATIO, Form.AVERAGE, Form.SUM, Form.DIFFERENCE, Form.COUNT, Form.YES_NO}
)


def choose(
    index: DocumentIndex,
    query: Query,
    passages: Sequence[CitedPassage],
    *,
    strict: bool = True,
) -> list[Chosen]:
    """Return the sentences that answer, best first.

    There are none when no passage is good enough, or the query names what the document does not
    know; without `strict` every passage will do. What is no text of the document itself (a
    bibliography, a masthead, a list of contents) is no answer.
    """
    title = index.document.title
    if strict and strangers([passage.hit for passage in passages], index.document):
        return []
    good = [p for p in passages if not strict or holds(p.hit, title) or _half_held(p.hit)]
    found = [
        Chosen(one.passage, one.start, one.end, _score(index, query, one))
        for one in _sentences(good)
        if not strict or holds(one.passage.hit, title) or _looks_right(index, query, one)
    ]
    found.sort(key=lambda one: -one.score)
    return [one for one in found[:MOST] if one.score >= NEAR * found[0].score]


@dataclass(frozen=True, slots=True)
class ReadSentences:
    """The sentences that a judge takes for the answer, best first, and what speaks for them."""

    chosen: tuple[Chosen, ...]
    features: Mapping[str, float]


def read_sentences(
    reads: Reads,
    index: DocumentIndex,
    query: Query,
    passages: Sequence[CitedPassage],
    *,
    claim: bool = False,
) -> ReadSentences | None:
    """Let a judge read every sentence, of a claim rows and cells too; None if none may answer.

    What has to be reckoned, and yes or no, no quoted sentence answers; no sentence without a
    percentage a question for one; none that does not name an office the question who holds it; none
    of another year than the question's, or of more than the item it asks for; none that only
    introduces what follows; and none of a passage that meets only names and periods.
    """
    form = wanted(query.text).form
    if form in _RECKONED or strangers([p.hit for p in passages], index.document):
        return None
    if not claim:
        passages = [p for p in passages if p.segment.kind not in _TABULAR]
    found = _sentences([p for p in passages if _met_beyond_names(query, p.hit)])
    if form is not Form.TEXT and _PERCENT.search(query.text):
        found = [one for one in found if _PERCENT.search(one.text)]
    if office := _office(query.text):
        found = [one for one in found if office.search(one.text)]
    if not claim:
        found = [one for one in found if not _of_another_year(index, query, one)]
        found = [one for one in found if not _of_more(query.text, one.text)]
    if not found:
        return None
    texts = [one.text for one in found]
    asked = set(stems(query.text))
    title = set(stems(index.document.title))
    named = {w for one in _NAMED.findall(query.text) for w in stems(one)} - title
    named = named if any(named & set(stems(text)) for text in texts) else set()
    made = []
    for one, text, own in zip(found, texts, reads(query.reading, texts), strict=True):
        judged = one.passage.hit.judgement
        whole = own if judged is None else judged
        fit = _of_kind(index, query, one)
        share = len(asked & set(stems(text))) / max(1, len(asked))
        good = (fit or own >= CLEAR) and not (named and named.isdisjoint(stems(text)))
        score = (own * whole) ** 0.5 * (0.7 + 0.3 * share) * (1.0 if good else _NO_FIT)
        seen = {"own": own, "whole": whole, "share": share, "fit": float(fit)}
        made.append((Chosen(one.passage, one.start, one.end, score), seen))
    made.sort(key=lambda one: -one[0].score)
    best, seen = made[0]
    behind = next((c.score for c, _ in made[1:] if c.text != best.text), 0.0)
    hit = best.passage.hit
    weight = sum(word.weight for word in hit.words)
    features = {
        **seen,
        "lead": best.score - behind,
        "score": best.score,
        "unmet": sum(w.weight for w in hit.words if not w.met) / weight if weight else 0.0,
        "first": float(best.passage.number == 1),
        "number": float(form is not Form.TEXT),
        "change": float(form in (Form.CHANGE, Form.PERCENT_CHANGE)),
        "manner": float(query.answer_type == "manner"),
        "reason": float(query.answer_type == "reason"),
        "list": float(_LIST.search(query.text) is not None),
        "words": min(1.0, len(best.text.split()) / 60),
        "figure": float(_DIGIT.search(best.text) is not None),
    }
    chosen = [c for c, _ in made[:2] if c.score >= max(SURE, NEXT * best.score)] or [best]
    return ReadSentences(tuple(chosen), features)


def _met_beyond_names(query: Query, hit: Hit) -> bool:
    """True when a passage meets something of a query that is no name or period, if there is any."""
    rest = [one for one in hit.trace.literals if one.literal.kind not in _NAMED_KINDS]
    if not rest or any(one.met for one in rest):
        return True
    known = {
        word
        for one in query.literals
        if one.kind in _NAMED_KINDS
        for word in one.label.casefold().split()
    }
    words = [word for word in hit.words if word.asked.casefold() not in known]
    return any(word.met for word in words)


def _of_another_year(index: DocumentIndex, query: Query, one: _Sentence) -> bool:
    """True when a sentence names years, and none that the question names or means.

    What it only compares with is not what it speaks of.
    """
    named = set(years(_COMPARED_WITH.split(one.text)[0]))
    if not named or not years(query.text) or named & set(years(query.text)):
        return False
    inside = set(index.terms_in(one.passage.hit.position, one.start, one.end))
    traced = one.passage.hit.trace.literals
    return not any(
        found.via in inside or not inside.isdisjoint(found.alternatives)
        for found in traced
        if found.met and found.literal.kind is LiteralKind.TIME
    )


def _of_more(question: str, text: str) -> bool:
    """True when a text gives one figure of what is asked for and of something beside it."""
    return any(
        re.search(rf"\b{one['asked']}\b", question, re.I)
        and not re.search(one["beside"], question, re.I)
        and re.search(one["with"], text, re.I)
        for one in LISTS["items"]
    )


def _office(question: str) -> re.Pattern[str] | None:
    """Return what finds an office that a question asks the holder of; None where it asks none.

    Whoever is a deputy of it, or held it once, is somebody else.
    """
    asked = _HOLDER.match(question)
    if asked is None:
        return None
    words = key(asked["office"]).split()
    for size in range(min(len(words), _LONGEST_OFFICE), 0, -1):
        for start in range(len(words) - size + 1):
            found = roles().find(name := " ".join(words[start : start + size]))
            if found is not None:
                names = "|".join(map(re.escape, dict.fromkeys((name, found.key, *found.names))))
                now = "" if asked["was"] else _ONCE
                return re.compile(rf"{_BESIDE}\b(?:{names})\b{now}", re.I)
    return None


def _half_held(hit: Hit) -> bool:
    """True when the judge thinks something of a passage, though not enough."""
    return hit.judgement is not None and hit.judgement >= HALF_FLOOR


def _looks_right(index: DocumentIndex, query: Query, one: _Sentence) -> bool:
    """True when a sentence meets the query by itself and names the kind of thing asked for."""
    return (
        one.tokens is not None
        and query.answer_type in _KINDS
        and _of_kind(index, query, one)
        and _met_within(index, one) >= WELL_MET
    )


def _score(index: DocumentIndex, query: Query, one: _Sentence) -> float:
    fit = 1.0 if _of_kind(index, query, one) else _NO_FIT
    return one.passage.hit.relevance * (1 + _met_within(index, one)) * fit


def _sentences(passages: Sequence[CitedPassage]) -> list[_Sentence]:
    """Cut what may be quoted of passages into sentences; what is no running text stays whole."""
    passages = [
        one
        for one in passages
        if citable(one.segment) and not lists_contents(one.document.blocks[one.segment.block])
    ]
    docs = parse(passage.segment.text for passage in passages)
    return [
        _Sentence(passage, start, end, doc.char_span(start, end, alignment_mode="expand"))
        for passage, doc in zip(passages, docs, strict=True)
        for start, end in _cut(passage.segment, doc)
        if not passage.segment.text[start:end].endswith(":")
    ]


def _cut(segment: Segment, doc: Doc) -> Iterator[tuple[int, int]]:
    if segment.kind is not SegmentKind.PARAGRAPH:
        yield 0, len(segment.text)
        return
    for sent in doc.sents:
        text = sent.text.strip()
        if text:
            start = sent.start_char + sent.text.index(text)
            yield start, start + len(text)


def _met_within(index: DocumentIndex, one: _Sentence) -> float:
    """Return the share of the query's weight that one sentence of a hit meets by itself."""
    hit = one.passage.hit
    inside = set(index.terms_in(hit.position, one.start, one.end))
    return sum(t.literal.weight for t in hit.trace.literals if t.met and _by(t, inside))


def _by(found: LiteralTrace, inside: set[str]) -> bool:
    """True when a literal is met by these terms, or by what holds for the whole passage."""
    if found.context is not None or (found.mention and found.mention.header is not None):
        return True
    return found.via in inside or not inside.isdisjoint(found.alternatives)


def _of_kind(index: DocumentIndex, query: Query, one: _Sentence) -> bool:
    """True when the sentence holds what the question's answer type asks for, if it has one."""
    wanted, sentence = query.answer_type or "", one.tokens
    if wanted not in _KINDS or sentence is None:
        return True
    if wanted in _CUES:
        return _CUES[wanted].search(sentence.text) is not None
    # what the question itself names is no news
    asked = key(query.text)
    names = [ent for ent in sentence.ents if ent.label_ in _NAMES.get(wanted, ())]
    if any(key(name.text) not in asked for name in names):
        return True
    known = {term for literal in query.literals for term in literal.terms}
    position = one.passage.hit.position
    inside = index.terms_in(position, sentence.start_char, sentence.end_char)
    prefixes = tuple(f"{kind.value}:" for kind in _TERMS.get(wanted, ()))
    return any(term.startswith(prefixes) and term not in known for term in inside)
