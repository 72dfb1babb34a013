"""Without a model the document is quoted, or nothing is said."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from abstrag.answers.answer import HESITANT, NO_JUDGE, QUOTED, answer, events_of
from abstrag.answers.citations import CitedPassage
from abstrag.answers.sentences import COVERAGE_FLOOR, HALF_FLOOR, JUDGEMENT_FLOOR, holds
from abstrag.answers.verdicts import BY_RULES, SIDE_FLOOR, compared, objection, opinion, ruled
from abstrag.engine.searcher import Searcher
from abstrag.model.answer import AnswerMode, Asked, Difference, DifferenceKind, Label, Verdict
from abstrag.model.query import Query
from abstrag.model.segment import Segment
from abstrag.search.relevance import FAST
from tests.unit.answers.test_answer import CLAIM, TEXT, searcher

TRUE = "Ardent Steel closed the Leeds plant in March 2022."


class Fixed:
    """A judge of claims with one opinion."""

    threshold = 0.6

    def __init__(self, *told: float) -> None:
        self.told = told
        self.seen: list[str] = []

    def __call__(self, claim: str, evidence: Sequence[str]) -> tuple[float, float, float]:
        self.seen = [claim, *evidence]
        supports, refutes, neither = self.told
        return supports, refutes, neither


def unjudged() -> Searcher:
    """Open the same document without an evidence judge: words alone decide what is quoted."""
    return Searcher(searcher().index, preset=FAST)


@pytest.mark.parametrize(
    ("question", "quoted"),
    [
        ("Who managed the Leeds plant?", "Mary Collins managed the plant until 2015."),
        ("Why was the plant bought by Ardent Steel?", "because its former owner"),
        ("How many workers lost their jobs?", "About 340 workers lost their jobs."),
        ("When did Ardent Steel close the plant?", "closed the Leeds plant in March 2022."),
    ],
)
def test_the_sentence_that_answers_is_quoted_exactly(question: str, quoted: str) -> None:
    made = answer(unjudged(), question)
    assert made.mode is AnswerMode.EXTRACTIVE
    assert quoted in " ".join(made.sentences[0].text.split())
    assert made.note == QUOTED
    for sentence, citation in zip(made.sentences, made.citations, strict=True):
        assert sentence.supported
        assert " ".join(TEXT[citation.span.start : citation.span.end].split()) == sentence.text


def test_the_kind_of_thing_asked_for_decides_between_sentences() -> None:
    told = answer(unjudged(), "Who managed the Leeds plant?").sentences[0].text
    assert "Collins" in told
    assert answer(unjudged(), "When did the Leeds plant open?").sentences[0].text.endswith("1987.")


def test_what_the_document_does_not_hold_is_not_answered() -> None:
    made = answer(searcher(), "Which penguins swim to Antarctica after the plant opened?")
    assert not made.found
    assert made.sentences == ()
    assert made.citations == ()
    assert {"penguin", "Antarctica"} <= set(made.missing)
    assert made.evidence  # the closest passages are shown all the same


def test_a_passage_that_speaks_of_somebody_else_is_not_quoted() -> None:
    made = answer(searcher(), "When did Boris Petrov close the plant?")
    assert not made.found
    assert any("Petrov" in one for one in made.missing)


def test_a_judge_settles_what_may_be_quoted() -> None:
    hit = unjudged().search("When did Ardent Steel close the plant?", k=1).hits[0]
    assert hit.trace.share >= COVERAGE_FLOOR
    assert holds(hit)
    assert not holds(replace(hit, judgement=JUDGEMENT_FLOOR - 0.01))
    poor = replace(hit, trace=replace(hit.trace, share=COVERAGE_FLOOR - 0.01))
    assert not holds(poor)
    assert holds(replace(poor, judgement=JUDGEMENT_FLOOR))


def test_a_claim_without_a_judge_is_quoted_evidence_and_no_verdict() -> None:
    made = answer(searcher(), CLAIM)
    assert made.asked is Asked.CLAIM
    assert (made.verdict, made.note) == (None, NO_JUDGE)
    assert "March 2022" in made.text


def test_the_local_judge_gives_an_opinion_when_it_is_sure() -> None:
    judge = Fixed(0.1, 0.8, 0.1)
    made = answer(searcher(), CLAIM, verdicts=judge)
    assert made.verdict is not None
    assert (made.verdict.label, made.verdict.confidence) == (Label.REFUTES, 0.8)
    assert judge.seen[0] == CLAIM
    assert len(judge.seen) == 1 + len(made.evidence)


def test_a_side_the_judge_takes_is_quoted_whatever_words_it_shares() -> None:
    far = "Boris Petrov never saw the plant."
    assert not answer(searcher(), far).found
    judged = answer(unjudged(), far, verdicts=Fixed(0.1, 0.8, 0.1))
    assert judged.found
    assert judged.citations
    neither = answer(searcher(), far, verdicts=Fixed(0.1, 0.1, 0.8))
    assert not neither.found
    assert neither.verdict is not None
    assert neither.verdict.label is Label.NOT_ENOUGH_INFO


def test_the_local_judge_is_silent_when_it_is_not() -> None:
    made = answer(searcher(), TRUE, verdicts=Fixed(0.4, 0.59, 0.01))
    assert (made.verdict, made.note) == (None, HESITANT)
    assert made.found


@pytest.mark.parametrize(
    ("claim", "doubt"),
    [
        ("Mary Collins had 990 friends.", "the passages do not state 990"),
        ("Ardent Steel closed the plant in March 1922.", "the passages do not state 1922"),
        ("Boris Petrov closed the Leeds plant.", "the document never mentions Boris Petrov"),
    ],
)
def test_support_is_not_told_where_figures_or_names_are_not_there(claim: str, doubt: str) -> None:
    made = answer(unjudged(), claim, verdicts=Fixed(0.9, 0.05, 0.05))
    assert made.verdict is None
    assert doubt in made.note
    refuted = answer(unjudged(), claim, verdicts=Fixed(0.05, 0.9, 0.05))
    assert refuted.verdict is not None
    assert refuted.verdict.label is Label.REFUTES


def test_support_is_told_where_they_are() -> None:
    for claim in ("About 340 workers lost their jobs.", "Ardent Steel closed the Leeds plant."):
        made = answer(unjudged(), claim, verdicts=Fixed(0.9, 0.05, 0.05))
        assert made.verdict is not None
        assert made.note == QUOTED


def test_over_a_contradiction_support_is_never_said() -> None:
    made = answer(searcher(), CLAIM, verdicts=Fixed(0.95, 0.04, 0.01))
    assert made.verdict == Verdict(Label.REFUTES, BY_RULES)
    (difference,) = made.differences
    assert difference.kind is DifferenceKind.DATE
    assert difference.text == "March 2022, not 2021"
    assert "March 2022" in made.evidence[difference.passage - 1].text
    assert next(iter(events_of(made))).differences == made.differences


def test_a_true_claim_has_no_differences() -> None:
    made = answer(searcher(), TRUE, verdicts=Fixed(0.95, 0.04, 0.01))
    assert made.verdict is not None
    assert (made.verdict.label, made.differences) == (Label.SUPPORTS, ())


def test_passages_that_are_no_evidence_are_not_compared() -> None:
    hit = unjudged().search(CLAIM, k=1).hits[0]
    segment, document = unjudged().index.segments[hit.position], unjudged().index.document
    good = CitedPassage(1, replace(hit, judgement=SIDE_FLOOR), segment, document)
    poor = CitedPassage(1, replace(hit, judgement=SIDE_FLOOR - 0.01), segment, document)
    assert compared(CLAIM, [good])
    assert compared(CLAIM, [poor]) == ()
    assert compared(CLAIM, [poor, replace(good, number=2)])[0].passage == 2


def difference(*, certain: bool) -> Difference:
    kind = DifferenceKind.FIGURE
    return Difference(kind, "one week", "3.5 days", 1, certain, "3.5 days, not one week")


@pytest.mark.parametrize(
    ("told", "certain", "label", "doubt"),
    [
        ((0.9, 0.05, 0.05), True, Label.REFUTES, None),
        ((0.9, 0.05, 0.05), False, None, "the evidence says 3.5 days, not one week"),
        ((0.5, 0.3, 0.2), True, Label.REFUTES, None),
        ((0.5, 0.3, 0.2), False, None, None),
        ((0.2, 0.2, 0.6), True, None, None),  # the judge leans to not enough
        ((0.05, 0.05, 0.9), True, Label.NOT_ENOUGH_INFO, None),
        ((0.05, 0.9, 0.05), False, Label.REFUTES, None),
    ],
)
def test_what_rules_see_decides_over_support_only(
    told: tuple[float, float, float], certain: bool, label: Label | None, doubt: str | None
) -> None:
    verdict, said = ruled(told, 0.7, [difference(certain=certain)])
    assert (verdict and verdict.label, said) == (label, doubt)


@pytest.mark.parametrize("label", [Label.SUPPORTS, Label.REFUTES])
def test_no_side_is_taken_on_what_is_hardly_evidence(label: Label) -> None:
    hits = unjudged().search(CLAIM, k=1).hits
    segment = unjudged().index.segments[hits[0].position]
    document = unjudged().index.document
    for judgement, told in ((SIDE_FLOOR, None), (SIDE_FLOOR - 0.01, "no passage is evidence")):
        passage = CitedPassage(1, replace(hits[0], judgement=judgement), segment, document)
        said = objection(Verdict(label, "a judge"), segment.text, [passage], document)
        assert (said or "").startswith(told or "")
        assert (said is None) == (told is None)


def test_a_question_about_somebody_unknown_is_not_answered_however_sure_the_judge_is() -> None:
    def sure(query: Query, segments: Sequence[Segment]) -> list[float]:
        return [0.9 for _ in segments]

    judged = Searcher(searcher().index, preset=searcher().preset, judge=sure)
    assert answer(judged, "When did Ardent Steel close the plant?").found
    assert not answer(judged, "When did Boris Petrov close the plant?").found


@pytest.mark.parametrize(
    ("question", "given", "found"),
    [
        ("Who managed the Leeds plant?", HALF_FLOOR, True),
        ("Who managed the Leeds plant?", HALF_FLOOR - 0.01, False),
        ("Who opened the Leeds plant?", HALF_FLOOR, False),  # the sentence names nobody
        ("Was the Leeds plant managed?", HALF_FLOOR, False),  # no kind of thing is asked for
    ],
)
def test_half_a_judgement_will_do_for_a_sentence_that_looks_like_the_answer(
    question: str, given: float, found: bool
) -> None:
    def doubtful(query: Query, segments: Sequence[Segment]) -> list[float]:
        return [given for _ in segments]

    judged = Searcher(searcher().index, preset=searcher().preset, judge=doubtful)
    assert answer(judged, question).found is found


def test_what_the_title_names_is_not_missing() -> None:
    made = answer(unjudged(), "Which penguins did the Leeds plant feed in Antarctica?")
    assert {"penguin", "Antarctica"} <= set(made.missing)
    assert not any("Leeds" in one for one in made.missing)


def test_the_labels_are_in_the_order_of_the_probabilities() -> None:
    told = [opinion(Fixed(*p), "c", ["e"]) for p in ((0.9, 0, 0.1), (0, 0.9, 0.1), (0, 0.1, 0.9))]
    assert [one.label for one in told if one] == list(Label)
