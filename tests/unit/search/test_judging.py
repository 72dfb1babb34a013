from __future__ import annotations

import numpy as np
import pytest

from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.model.segment import Segment, SegmentKind, SegmentRole
from abstrag.model.span import OffsetMap, Span
from abstrag.search.costed_index import FloatArray, IntArray
from abstrag.search.judging import judge_by_bound, judge_shortlist
from abstrag.search.overlap import OverlapJudge
from abstrag.search.query.scope import in_scope

BOUNDS = np.array([0.9, 0.8, 0.7, 0.2, 0.1])


def times_bound(rows: IntArray, said: FloatArray) -> FloatArray:
    scores: FloatArray = BOUNDS[rows] * said
    return scores


def segment(
    text: str = "", role: SegmentRole = SegmentRole.TEXT, section: tuple[str, ...] = ()
) -> Segment:
    return Segment(
        "s0", SegmentKind.SENTENCE, role, text, Span(0, len(text)), OffsetMap(((0, 0),)), 0, section
    )


def test_judging_stops_when_nobody_further_down_can_get_in() -> None:
    asked: list[int] = []

    def judge(rows: IntArray) -> list[float]:
        asked.extend(rows.tolist())
        return [1.0 if row == 0 else 0.5 for row in rows]

    found = judge_by_bound(np.arange(5), BOUNDS, judge, times_bound, k=2)
    assert asked == [0, 1, 2]
    assert found.order == (0, 1)
    assert (found.made, found.avoided) == (3, 2)


def test_of_a_shortlist_nobody_is_judged_who_cannot_get_in() -> None:
    shortlist = np.array([3, 0, 1, 2])
    asked: list[int] = []

    def score(rows: IntArray, said: FloatArray) -> FloatArray:
        scores: FloatArray = BOUNDS[rows] * (0.2 + 0.8 * said)
        return scores

    def judge(rows: IntArray) -> list[float]:
        asked.extend(rows.tolist())
        return [0.9 if row == 0 else 0.1 for row in rows]

    found = judge_shortlist(np.arange(5), shortlist, judge, score, k=2)
    assert asked == [0, 1, 2]  # by what they may reach, and the fourth may not reach the second
    every = np.array([0.9, 0.1, 0.1, 0.1, 0.0])
    scores = score(np.arange(5), every)
    assert found.order == tuple(np.argsort(-scores)[:2].tolist())
    assert found.scores == tuple(np.sort(scores)[::-1][:2].tolist())
    assert (found.made, found.avoided) == (3, 2)


def test_a_tie_goes_to_the_earlier_position_even_if_it_is_judged_later() -> None:
    bounds = np.array([1.0, 0.5])
    found = judge_by_bound(
        np.array([9, 2]),
        bounds,
        lambda rows: [0.5 if row == 0 else 1.0 for row in rows],
        lambda rows, said: bounds[rows] * said,
        k=1,
    )
    assert found.order == (1,)


@pytest.mark.parametrize("answers", [[0.5], [0.5, 1.5], [0.5, float("nan")]])
def test_a_judge_that_does_not_answer_with_probabilities_is_refused(answers: list[float]) -> None:
    with pytest.raises(InputError, match="the judge"):
        judge_by_bound(np.arange(5), BOUNDS, lambda _: answers, times_bound, k=1, batch=2)


def test_asking_for_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="k is 0"):
        judge_by_bound(np.arange(5), BOUNDS, lambda _: [], times_bound, k=0)


def test_nothing_to_judge_takes_no_judgement() -> None:
    empty = np.empty(0, dtype=np.int64)
    found = judge_by_bound(empty, empty.astype(float), lambda _: [], times_bound, k=3)
    assert (found.order, found.made) == ((), 0)


def test_the_overlap_judge_answers_how_much_of_the_question_recurs() -> None:
    judge, asked = OverlapJudge(), Query("chip suppliers", ())
    full, inflected, other = judge(
        asked, [segment("Chip suppliers!"), segment("the chip supplier"), segment("no")]
    )
    assert full == 1.0
    assert 0.5 < inflected < 1.0
    assert other == 0.0
    assert judge(asked, [segment("the chip supplier")]) == [inflected]
    assert judge(Query("?!", ()), [segment("anything")]) == [0.0]


def test_a_scope_names_roles_or_the_words_of_a_heading() -> None:
    methods = segment(role=SegmentRole.METHODS)
    deep = segment(section=("3 Experiments", "3.2 Data Sets and Metrics"))
    assert in_scope(methods, ())
    assert in_scope(methods, ("Methods",))
    assert not in_scope(methods, ("results",))
    assert in_scope(segment(role=SegmentRole.TABLE), ("tables",))
    assert in_scope(deep, ("results", "data sets"))
    assert not in_scope(deep, ("data set",))
