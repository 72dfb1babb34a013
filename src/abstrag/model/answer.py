"""What asking returns: sentences with numbered citations to exact quotes, or what is missing.

A citation is a place in a document, never just words: `document.quote(citation.span)` is the
quotation. A sentence nobody could tie to such a place is kept, and says so.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from abstrag.errors import InputError
from abstrag.model.document import Span
from abstrag.model.record import Result, Unit, record


class Label(StrEnum):
    """What evidence says of a claim."""

    SUPPORTS = "SUPPORTS"
    REFUTES = "REFUTES"
    NOT_ENOUGH_INFO = "NOT ENOUGH INFO"

    @classmethod
    def read(cls, text: str) -> Label:
        """Read a label in any of the spellings data sets and models use."""
        plain = " ".join(text.replace("_", " ").split()).casefold()
        if plain not in _SPELLINGS:
            raise InputError(
                f"no label is spelled {text!r}",
                hint=f"one of: {', '.join(one.value for one in cls)}",
            )
        return _SPELLINGS[plain]


_SPELLINGS: Final = {
    spelling: label
    for label, spellings in (
        (Label.SUPPORTS, "supports|support|supported|entailment"),
        (Label.REFUTES, "refutes|refute|refuted|contradict|contradicts|contradiction"),
        (
            Label.NOT_ENOUGH_INFO,
            "not enough info|not enough information|nei|neutral|notmentioned|not mentioned",
        ),
    )
    for spelling in spellings.split("|")
}


class Asked(StrEnum):
    """What was put to the document."""

    QUESTION = "question"
    CLAIM = "claim"


class AnswerMode(StrEnum):
    """Whose words an answer is made of."""

    EXTRACTIVE = "extractive"  # the document's own, chosen without a language model
    GENERATED = "generated"  # a language model's, with the document's as citations


@record
class Evidence:
    """One passage the answer was made from, in the order of relevance."""

    number: int
    segment: str
    quote: str  # the exact characters of `span`
    text: str  # as it reads
    span: Span
    page: int | None
    section: tuple[str, ...]
    relevance: float
    reading: str = ""  # why it counts as evidence, in one sentence
    headers: tuple[str, ...] = ()  # of a table's row or cell
    cell: str | None = None  # the address of a cell, row or table in its sheet: B7, A7:D7
    document: str = ""


@record
class Citation:
    """A verified quotation: `quote` is what stands at `span`, `text` is how that reads."""

    number: int
    evidence: int  # number of the passage it stands in
    segment: str
    quote: str
    text: str
    span: Span
    page: int | None
    section: tuple[str, ...]
    headers: tuple[str, ...] = ()  # of a table's row or cell
    cell: str | None = None  # the address of a cell, row or table in its sheet: B7, A7:D7
    document: str = ""


@record
class AnswerSentence:
    """One sentence of an answer; `doubt` says why it is not supported, None when it is."""

    text: str
    citations: tuple[int, ...] = ()
    doubt: str | None = None

    @property
    def supported(self) -> bool:
        """True when a verified quotation stands behind it."""
        return self.doubt is None


@record
class Verdict:
    """What the evidence says of a claim, and who says so.

    `confidence` is the local judge's probability; a language model gives none. `grounded` is False
    when a language model takes a side and none of its quotations could be verified.
    """

    label: Label
    by: str
    confidence: Unit | None = None
    grounded: bool = True


class DifferenceKind(StrEnum):
    """In what a claim and its evidence differ."""

    NEGATION = "negation"
    FIGURE = "figure"
    UNIT = "unit"
    COMPARISON = "comparison"
    PARTY = "party"
    DATE = "date"


@record
class Difference:
    """What a claim says and what the evidence says instead, in the words of both.

    It is found by rules, without a model. A `certain` one means that claim and evidence cannot both
    be true; any other, that the evidence does not say what the claim does.
    """

    kind: DifferenceKind
    claim: str  # words of the claim
    evidence: str  # words of the evidence
    passage: int  # number of the piece of evidence they stand in
    certain: bool
    text: str  # for a person: "3.5 days, not one week"


@record
class Usage:
    """What the model calls behind an answer took; a cached call costs nothing."""

    calls: int = 0
    cached: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0  # in dollars
    ids: tuple[str, ...] = ()  # of the calls, in the log


@record
class ShortAnswer:
    """The answer in the asked form: a number with its unit, yes or no, a year, the cells of a row.

    `formula` says how it was reckoned from quoted cells; it is empty where nothing was.
    """

    form: str  # number, change, percent change, share, ratio, average, sum, yes or no, row, …
    text: str
    formula: str = ""
    period: str = ""


@record
class Answer(Result):
    """An answer to a question or a verdict on a claim, with everything it rests on.

    `found` is False when the document does not hold the answer: then there are no sentences, and
    `missing` says what it lacks. A claim has no `verdict` when nobody could give one, and none that
    says SUPPORTS comes without a model beside `differences`. Where many documents were asked,
    `document` is the one that everything cited is from, and `others` are what further documents
    answer instead.
    """

    query: str
    document: str  # "" where many were asked and it is none of them, or several
    asked: Asked
    mode: AnswerMode
    found: bool
    sentences: tuple[AnswerSentence, ...] = ()
    citations: tuple[Citation, ...] = ()
    missing: tuple[str, ...] = ()
    verdict: Verdict | None = None
    leaning: Label | None = None  # what the local judge would say if it had to: for measuring
    differences: tuple[Difference, ...] = ()  # between a claim and its evidence
    evidence: tuple[Evidence, ...] = ()
    short: ShortAnswer | None = None  # without a model: what tables give, in the asked form
    note: str = ""  # how the answer was made, or why there is none, for a person
    usage: Usage = Usage()
    others: tuple[Answer, ...] = ()  # that say something else, each of one document

    @property
    def text(self) -> str:
        """The answer as plain text, without its citations."""
        return " ".join(sentence.text for sentence in self.sentences)


class AnswerEventType(StrEnum):
    """What an event of a streamed answer brings."""

    TEXT = "text"
    CITATION = "citation"
    VERDICT = "verdict"
    DONE = "done"


@record
class AnswerEvent(Result):
    """One step of an answer as it is told.

    A text event is a sentence: its words, the numbers of its citations (each of which came before
    it) and its doubt. The others fill the field that their type names; `done` has the whole.
    """

    type: AnswerEventType
    text: str | None = None
    citations: tuple[int, ...] = ()
    doubt: str | None = None
    citation: Citation | None = None
    verdict: Verdict | None = None
    differences: tuple[Difference, ...] = ()  # beside a verdict
    answer: Answer | None = None
