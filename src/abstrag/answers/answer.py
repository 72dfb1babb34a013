"""Asking a document: an answer with verified citations, a verdict on a claim, or what is missing.

Search finds the evidence, a generator writes from the best three passages, and every quotation is
looked up again before anybody sees it. Without a model the answer is quoted, not written, and says
that it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from abstrag.answers.citations import Citations, CitedPassage, Quoted
from abstrag.answers.generator import (
    AnswerReply,
    CitedWords,
    GenerationTask,
    Generator,
    Given,
    VerdictReply,
)
from abstrag.answers.proposals import AnswerWay, ProposedAnswer, ToldAnswer, best_of
from abstrag.answers.sentences import SURE, Chosen, Reads, choose, read_sentences, unmet
from abstrag.answers.tables.propose import ROW_FORM, TableAnswers
from abstrag.answers.verdicts import (
    SIDE_FLOOR,
    WEIGHED,
    Verdicts,
    compared,
    forced,
    objection,
    ruled,
)
from abstrag.config import GIVEN_PASSAGES, TAU
from abstrag.engine.searcher import Searcher
from abstrag.language.parser import parse
from abstrag.llm.prompt import Answered
from abstrag.model.answer import (
    Answer,
    AnswerEvent,
    AnswerEventType,
    AnswerMode,
    AnswerSentence,
    Asked,
    Difference,
    Label,
    Usage,
    Verdict,
)
from abstrag.model.index import DocumentIndex
from abstrag.model.query import Query
from abstrag.model.ranking import Hit
from abstrag.neural.judge import SegmentJudge
from abstrag.neural.runtime import segment_text
from abstrag.search.judging import NeighbourJudge
from abstrag.search.query.question import answer_type, unwrapped

# Telling a claim from a question by its wording.

_ASKING: Final = re.compile(
    r"^\W*(?:who|whom|whose|what|which|when|where|why|how|whether)\b|\?\W*$", re.I
)
_FINITE: Final = frozenset({"VBD", "VBZ", "VBP", "MD"})
_SUBJECTS: Final = frozenset({"nsubj", "nsubjpass", "csubj", "expl"})


def wording_of(text: str) -> Asked:
    """Return whether a text states something or asks for something.

    A claim is a sentence with a subject and a finite verb that neither asks nor orders; key words
    without a verb ("prices of chips in 2024") are a question.
    """
    if _ASKING.search(text) or answer_type(text) is not None or unwrapped(text) != text:
        return Asked.QUESTION
    (doc,) = parse([text])
    root_is_told = any(
        token.dep_ in _SUBJECTS
        and (
            token.head.tag_ in _FINITE
            or any(child.dep_ in ("aux", "auxpass") for child in token.head.children)
        )
        for token in doc
    )
    return Asked.CLAIM if root_is_told else Asked.QUESTION


QUOTED: Final = "quoted from the document; no language model was asked"
READ: Final = "read from a table of the document; no language model was asked"
RECKONED: Final = "reckoned from quoted cells; no language model was asked"
THIS: Final = "this document"
THESE: Final = "these documents"
UNSURE: Final = "nothing in {} answers this with confidence"
NO_EVIDENCE: Final = "nothing in {} bears on this claim with confidence"
NOTHING: Final = "no passage of {} holds anything of the query"
NO_JUDGE: Final = "the evidence is quoted; a verdict needs a language model or the local judge"
HESITANT: Final = "the evidence is quoted; the local judge is not sure enough to say what it means"
WITHHELD: Final = "the evidence is quoted without a verdict"
NOT_HERE: Final = "not in {}"
_TOLD: Final = {
    Label.SUPPORTS: "The evidence supports the claim.",
    Label.REFUTES: "The evidence refutes the claim.",
}


class SearchedDocument(Protocol):
    """An opened document, which has the searcher of its index."""

    @property
    def searcher(self) -> Searcher:
        """What searches it."""
        ...


def answer(
    searcher: Searcher | SearchedDocument,
    query: str,
    *,
    k: int | None = None,
    tau: float = TAU,
    asked: Asked | None = None,
    generator: Generator | None = None,
    verdicts: Verdicts | None = None,
) -> Answer:
    """Answer a question, or say what the document makes of a claim, from the best k passages.

    Args:
        searcher: the document, or what searches it.
        query: a question or a claim.
        k: how many passages are looked at, by default those a generator is given, or of a claim
            those that the local judge was trained to read.
        tau: the budget for bridges.
        asked: what the query is; None tells it by the wording.
        generator: writes the answer; without one it is quoted.
        verdicts: the local judge of claims, for when there is no generator.

    Raises:
        InputError: The query is empty, or the budget is none.
        ModelError: The generator's model failed.
    """
    asked = asked or wording_of(query)
    told = _Document(searcher, query, k=k or passages_for(asked, generator), tau=tau, asked=asked)
    if told.task is None:
        return told.nothing()
    if generator is not None:
        return told.generated(generator, told.task)
    return told.alone(verdicts)


def passages_for(asked: Asked, generator: Generator | None) -> int:
    """Return how many passages are looked at unless somebody says."""
    return WEIGHED if asked is Asked.CLAIM and generator is None else GIVEN_PASSAGES


# Many documents: each that is near the best answers for itself, as if it were asked alone.

NEAR_BEST: Final = 0.05  # of the best document's score from which on another is asked too
MOST_ASKED: Final = 4  # documents; docs/ask.md says why


@dataclass(frozen=True, slots=True)
class AskedDocument:
    """One of many documents: what searches it, and its score beside that of the best, in [0, 1]."""

    searcher: Searcher
    share: float


def answer_of_many(
    query: Query,
    documents: Sequence[AskedDocument],
    found: Sequence[tuple[DocumentIndex, Hit]],
    *,
    k: int | None = None,
    tau: float = TAU,
    asked: Asked | None = None,
    generator: Generator | None = None,
    verdicts: Verdicts | None = None,
) -> Answer:
    """Answer from many documents, or say what they make of a claim.

    A generator is given the best passages of all. Without one, each document that is near the best,
    or among the first for a claim, is asked as if it were alone; where they answer differently, the
    best one's answer has the others' beside it. No figure is told of a document whose passages
    hardly are evidence: many print figures under the same names.

    Args:
        query: a question or a claim, as the search has read it.
        documents: those that were searched, best first.
        found: the best passages of all, each with the index of its document.
        k: how many passages of each document are looked at, as for one.
        tau: the budget for bridges.
        asked: what the query is; None tells it by the wording.
        generator: writes the answer; without one it is quoted.
        verdicts: the local judge of claims, for when there is no generator.
    """
    asked = asked or wording_of(query.text)
    together = _Answering(query, asked, found)
    if together.task is None:
        return together.nothing()
    if generator is not None:
        return together.generated(generator, together.task)
    least = NEAR_BEST if asked is Asked.QUESTION else 0.0  # what refutes is worded otherwise
    near = [one.searcher for one in documents[:MOST_ASKED] if one.share >= least]
    most = k or passages_for(asked, generator)
    each = [_Document(one, query.text, k=most, tau=tau, asked=asked) for one in near]
    answers = [(one, one.alone(verdicts)) for one in each if one.task is not None]
    told = [made for one, made in answers if made.found and not one.strays(made)]
    if not told:
        return together.unsure()
    sides = [one for one in told if _takes_side(one)]
    best = (sides or told)[0]
    return replace(best, others=_others(best, sides if asked is Asked.CLAIM else told))


def task_of_many(
    query: Query, found: Sequence[tuple[DocumentIndex, Hit]], asked: Asked | None = None
) -> GenerationTask | None:
    """Return what a generator would be given of many documents; None when there is nothing."""
    return _Answering(query, asked or wording_of(query.text), found).task


def _others(best: Answer, told: Sequence[Answer]) -> tuple[Answer, ...]:
    """Return the answers that say something else than the best one, and each of it once."""
    known, others = {_gist(best)}, []
    for one in told:
        if one is not best and _gist(one) not in known:
            known.add(_gist(one))
            others.append(one)
    return tuple(others)


def _takes_side(told: Answer) -> bool:
    return told.verdict is not None and told.verdict.label is not Label.NOT_ENOUGH_INFO


def _gist(told: Answer) -> str:
    """Return what an answer says, in the shortest form there is."""
    if told.verdict is not None:
        return told.verdict.label.value
    return " ".join((told.short.text if told.short else told.text).casefold().split())


def generation_task(
    searcher: Searcher | SearchedDocument,
    query: str,
    *,
    k: int = GIVEN_PASSAGES,
    tau: float = TAU,
    asked: Asked | None = None,
) -> GenerationTask | None:
    """Return what a generator would be given for a query; None when there is nothing to give."""
    return _Document(searcher, query, k=k, tau=tau, asked=asked or wording_of(query)).task


def proposed_answers(searcher: Searcher | SearchedDocument, query: str) -> list[ProposedAnswer]:
    """Return everything that a question could be answered with, sure or not."""
    asked = _Document(searcher, query, k=GIVEN_PASSAGES, tau=TAU, asked=Asked.QUESTION)
    return list(asked.proposed())


def answer_events(
    searcher: Searcher | SearchedDocument, query: str, **options: Any
) -> Iterator[AnswerEvent]:
    """Answer as `answer` does, and tell it piece by piece.

    A citation is told before the sentence it belongs to. Nothing is told before it is verified, so
    the first event comes when the model has spoken; the last one holds the whole answer.
    """
    yield from events_of(answer(searcher, query, **options))


def events_of(made: Answer) -> Iterator[AnswerEvent]:
    """Take an answer apart into events: the verdict, citations and sentences, then the whole."""
    if made.verdict is not None:
        yield AnswerEvent(
            AnswerEventType.VERDICT, verdict=made.verdict, differences=made.differences
        )
    by_number = {citation.number: citation for citation in made.citations}
    told: set[int] = set()
    for sentence in made.sentences:
        for number in sentence.citations:
            if number not in told:
                told.add(number)
                yield AnswerEvent(AnswerEventType.CITATION, citation=by_number[number])
        yield AnswerEvent(
            AnswerEventType.TEXT, sentence.text, citations=sentence.citations, doubt=sentence.doubt
        )
    yield AnswerEvent(AnswerEventType.DONE, answer=made)


class _Answering:
    """One query with the passages found for it, and how what is said of it is put together."""

    def __init__(
        self,
        query: Query,
        asked: Asked,
        found: Sequence[tuple[DocumentIndex, Hit]],
        *,
        index: DocumentIndex | None = None,
    ) -> None:
        """Take what was found; `index` is that of the one document that was asked, if it is one."""
        self._query = query
        self._asked = asked
        self._one = index
        self._passages = [
            CitedPassage(number, hit, own.records[hit.position].segment, own.document)
            for number, (own, hit) in enumerate(found, 1)
        ]
        self._citations = Citations(self._passages)

    @property
    def task(self) -> GenerationTask | None:
        """What a generator is given: the passages as it sees them; None when there are none."""
        if not self._passages:
            return None
        several = self._one is None
        given = (
            Given(
                p.segment.text,
                p.segment.section,
                p.headers,
                document=(p.document.title or p.document.id) if several else "",
            )
            for p in self._passages
        )
        return GenerationTask(self._asked, self._query.text, tuple(given))

    def nothing(self) -> Answer:
        """Say that nothing of the query is held; no model is asked about nothing."""
        missing = tuple(literal.label for literal in self._query.literals)
        return self._extracted(found=False, missing=missing, note=NOTHING.format(self._where))

    def unsure(self) -> Answer:
        """Show the passages, which are not an answer."""
        said = NO_EVIDENCE if self._asked is Asked.CLAIM else UNSURE
        return self._abstention(said.format(self._where))

    def generated(self, generator: Generator, task: GenerationTask) -> Answer:
        """Let the generator write, and check every quotation it gives."""
        reply = generator(task)
        said = reply.value
        if isinstance(said, AnswerReply):
            return self._written(said, reply)
        assert isinstance(said, VerdictReply)
        return self._judged(said, reply)

    def _written(self, said: AnswerReply, reply: Answered[Any]) -> Answer:
        if not said.found:
            note = f"so {reply.reply.model} says of {len(self._passages)} passages"
            missing = said.missing or self._missing()
            return self._generated(reply, found=False, missing=missing, note=note)
        sentences = tuple(
            self._sentence(one.text, one.citations) for one in said.sentences if one.text.strip()
        )
        note = f"written by {reply.reply.model} from {len(self._passages)} passages"
        return self._generated(
            reply, found=True, sentences=sentences, missing=said.missing, note=note
        )

    def _judged(self, said: VerdictReply, reply: Answered[Any]) -> Answer:
        label = Label.read(said.label)
        sides = label is not Label.NOT_ENOUGH_INFO
        reason = said.reason.strip() or _TOLD.get(label, "")
        sentences: tuple[AnswerSentence, ...] = ()
        if reason and (sides or said.citations):
            sentences = (self._sentence(reason, said.citations),)
        grounded = not sides or any(one.citations for one in sentences)
        missing = said.missing
        if not sides:
            missing = missing or self._missing()
        return self._generated(
            reply,
            found=sides,
            sentences=sentences,
            verdict=Verdict(label, reply.reply.model, grounded=grounded),
            differences=compared(self._query.text, self._passages),
            missing=missing,
            note=f"judged by {reply.reply.model} from {len(self._passages)} passages",
        )

    def _sentence(self, text: str, cited: Sequence[CitedWords]) -> AnswerSentence:
        quoted = [Quoted(one.quote, one.number) for one in cited]
        return self._citations.sentence(text, quoted, question=self._query.text)

    @property
    def _where(self) -> str:
        return THESE if self._one is None else THIS

    def _missing(self) -> tuple[str, ...]:
        own = self._one
        titles = {p.document.title for p in self._passages} if own is None else {own.document.title}
        return unmet([p.hit for p in self._passages], self._query, " ".join(sorted(titles)))

    def _abstention(self, note: str, **more: Any) -> Answer:
        return self._extracted(found=False, missing=self._missing(), note=note, **more)

    def _extracted(self, *, found: bool = True, **more: Any) -> Answer:
        """Return an answer without a model; `more` are further fields of the record."""
        return self._answer(mode=AnswerMode.EXTRACTIVE, found=found, **more)

    def _generated(self, reply: Answered[Any], **more: Any) -> Answer:
        """Return an answer that a model has written."""
        return self._answer(mode=AnswerMode.GENERATED, usage=_usage(reply), **more)

    def _answer(self, **fields: Any) -> Answer:
        """Return an answer, with all that has been cited so far."""
        cited = {one.document for one in self._citations.all}
        document = cited.pop() if len(cited) == 1 else ""
        return Answer(
            query=self._query.text,
            document=document if self._one is None else self._one.document.id,
            asked=self._asked,
            citations=self._citations.all,
            evidence=tuple(passage.evidence for passage in self._passages),
            **fields,
        )


class _Document(_Answering):
    """One query about one document, and the ways to answer it without a language model."""

    def __init__(
        self,
        searcher: Searcher | SearchedDocument,
        query: str,
        *,
        k: int,
        tau: float,
        asked: Asked,
    ) -> None:
        self._searcher = searcher if isinstance(searcher, Searcher) else searcher.searcher
        self._index = self._searcher.index
        self._ranking = self._searcher.search(query, k=k, tau=tau)
        found = [(self._index, hit) for hit in self._ranking.hits]
        super().__init__(self._ranking.query, asked, found, index=self._index)

    def alone(self, verdicts: Verdicts | None) -> Answer:
        """Answer without a language model."""
        return self.claim(verdicts) if self._asked is Asked.CLAIM else self.question()

    def strays(self, made: Answer) -> bool:
        """Tell whether an answer is a figure of tables that no passage found bears out."""
        judged = [p.hit.judgement for p in self._passages if p.hit.judgement is not None]
        figure = made.short is not None and made.short.form != ROW_FORM
        return figure and bool(judged) and max(judged) < SIDE_FLOOR

    def question(self) -> Answer:
        """Say what is most probably right of what tables and sentences give.

        Where nothing is probable enough, the closest passages are shown.
        """
        best = best_of(list(self.proposed()))
        if best is not None:
            return self._told(best)
        if self._reads() is None and (sentences := self._quoted()):
            return self._extracted(sentences=sentences, note=QUOTED)
        return self._abstention(UNSURE.format(self._where))

    def proposed(self) -> Iterator[ProposedAnswer]:
        """Go through all answers that tables and, where a judge reads them, sentences give."""
        reads = self._reads()
        passages = list(self._passages)
        yield from TableAnswers(
            self._searcher, self._ranking, self._passages, self._citations, reads
        )()
        if reads is None:
            return
        found = read_sentences(reads, self._index, self._query, passages)
        if found is not None:
            text = " ".join(one.text for one in found.chosen)
            yield ProposedAnswer(
                AnswerWay.SENTENCE,
                found.features,
                text,
                lambda: ToldAnswer(self._verbatim(found.chosen)),
            )

    def _told(self, best: ProposedAnswer) -> Answer:
        told = best.tell()
        note = QUOTED
        if told.short is not None:
            note = RECKONED if told.short.formula else READ
        return self._extracted(sentences=told.sentences, short=told.short, note=note)

    def claim(self, verdicts: Verdicts | None) -> Answer:
        """Quote the evidence for or against a claim, with the local judge's opinion if it has one.

        The judge reads all passages, so where it takes a side they are quoted whatever they meet
        of the claim's words.
        """
        found = compared(self._query.text, self._passages)
        verdict, leaning, doubt = self._opinion(verdicts, found)
        sides = verdict is not None and verdict.label is not Label.NOT_ENOUGH_INFO
        sentences = self._quoted(strict=not sides)
        if not sentences:
            said = NO_EVIDENCE.format(self._where)
            said = f"{said}: {doubt}" if doubt else said
            return self._abstention(said, verdict=verdict, leaning=leaning, differences=found)
        note = QUOTED if verdict else NO_JUDGE if verdicts is None else HESITANT
        if doubt:
            note = f"{WITHHELD}: {doubt}"
        return self._extracted(
            sentences=sentences, verdict=verdict, leaning=leaning, differences=found, note=note
        )

    def _opinion(
        self, verdicts: Verdicts | None, found: Sequence[Difference]
    ) -> tuple[Verdict | None, Label | None, str | None]:
        """Return the local judge's opinion, the label it leans to, and what speaks against it."""
        if verdicts is None:
            return None, None, None
        claim, document = self._query.text, self._index.document
        texts = [segment_text(passage.segment) for passage in self._passages]
        told = verdicts(claim, texts)
        leaning = forced(told, found)
        verdict, doubt = ruled(told, verdicts.threshold, found)
        if verdict is None:
            return None, leaning, doubt
        doubt = objection(verdict, claim, self._passages, document)
        return (None, leaning, doubt) if doubt else (verdict, leaning, None)

    def _reads(self) -> Reads | None:
        """Return who reads sentences and rows; None without a judge that reads texts."""
        judge = self._searcher.judge
        judge = judge.alone if isinstance(judge, NeighbourJudge) else judge
        return judge.score if isinstance(judge, SegmentJudge) else None

    def _quoted(self, *, strict: bool = True) -> tuple[AnswerSentence, ...]:
        """Quote the sentences that meet most of the query; of a claim those the judge knows."""
        index, query, reads = self._index, self._query, self._reads()
        if strict and reads is not None:
            found = read_sentences(reads, index, query, self._passages, claim=True)
            good = found is not None and found.chosen[0].score >= SURE
            return self._verbatim(found.chosen) if found and good else ()
        return self._verbatim(choose(index, query, self._passages, strict=strict))

    def _verbatim(self, chosen: Sequence[Chosen]) -> tuple[AnswerSentence, ...]:
        return tuple(self._citations.verbatim(one.passage, one.start, one.end) for one in chosen)


def _usage(reply: Answered[Any]) -> Usage:
    one = reply.reply
    return Usage(
        calls=0 if one.cached else 1,
        cached=int(one.cached),
        tokens_in=one.tokens_in,
        tokens_out=one.tokens_out,
        cost=one.cost,
        ids=(one.call,),
    )
