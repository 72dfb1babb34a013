"""A judge is asked as little as will do, and about neighbours together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from abstrag.errors import InputError
from abstrag.model.document import Genre, OffsetMap, Span
from abstrag.model.query import Query
from abstrag.model.segment import Segment, SegmentKind, SegmentRole
from abstrag.search.costed_index import FloatArray, IntArray
from abstrag.search.judging import (
    CELLS,
    CLAUSES,
    TURNS,
    NeighbourJudge,
    OverlapJudge,
    judge_by_bound,
    judge_shortlist,
)
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


QUERY = Query("q", ())


def turn(number: int, section: tuple[str, ...] = ()) -> Segment:
    return Segment(
        id=f"s{number}",
        kind=SegmentKind.PARAGRAPH,
        role=SegmentRole.OTHER,
        text=f"turn {number}",
        span=Span(number, number + 1),
        alignment=OffsetMap(((0, number),)),
        block=number,
        section=section,
    )


class Recorded:
    """A judge that says what it is told to, and remembers whom it was asked about."""

    def __init__(self, said: dict[str, float]) -> None:
        self.said = said
        self.asked: list[str] = []

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        self.asked += [s.id for s in segments]
        return [self.said.get(s.id, 0.0) for s in segments]


def test_what_is_said_around_a_turn_counts_less_the_farther_it_is() -> None:
    turns = [turn(i) for i in range(9)]
    judge = NeighbourJudge(Recorded({"s4": 1.0}), turns, Genre.TRANSCRIPT)
    said = judge(QUERY, turns)
    share = TURNS.share
    whole = 1 + 2 * share + 2 * share**2
    assert said[4] == pytest.approx(1 / whole)
    assert said[3] == said[5] == pytest.approx(share / whole)
    assert said[2] == said[6] == pytest.approx(share**2 / whole)
    assert said[1] == said[7] == 0.0


def test_at_an_end_the_mean_is_over_the_turns_there_are() -> None:
    turns = [turn(i) for i in range(2)]
    first, _ = NeighbourJudge(Recorded({"s0": 0.8, "s1": 0.8}), turns, Genre.TRANSCRIPT)(
        QUERY, turns
    )
    assert first == pytest.approx(0.8)


def test_another_heading_is_another_exchange() -> None:
    turns = [turn(0, ("Budget",)), turn(1, ("Budget",)), turn(2, ("Design",))]
    judge = NeighbourJudge(Recorded({"s2": 1.0}), turns, Genre.TRANSCRIPT)
    assert judge(QUERY, turns[:2]) == [0.0, 0.0]


def test_a_turn_gets_the_same_whatever_else_is_asked_about_and_each_is_read_once() -> None:
    turns = [turn(i) for i in range(9)]
    inner = Recorded({f"s{i}": i / 10 for i in range(9)})
    judge = NeighbourJudge(inner, turns, Genre.TRANSCRIPT)
    together = judge(QUERY, turns)
    assert inner.asked == [t.id for t in turns]
    assert [judge(QUERY, [t])[0] for t in turns] == pytest.approx(together)
    assert judge(QUERY, []) == []


def cell(number: int, section: tuple[str, ...] = ()) -> Segment:
    return replace(turn(number, section), kind=SegmentKind.TABLE_CELL)


def test_neighbours_of_cells_are_cells_and_paragraphs_have_none() -> None:
    page = [turn(0), cell(1), cell(2), cell(3), turn(4), turn(5)]
    judge = NeighbourJudge(Recorded({"s0": 1.0, "s2": 1.0, "s5": 1.0}), page, Genre.REPORT)
    beside, between = CELLS.share / (1 + CELLS.share), 1 / (1 + 2 * CELLS.share)
    assert judge(QUERY, page) == pytest.approx([1.0, beside, between, beside, 0.0, 1.0])
    assert [judge.neighbours(one) for one in page[:2]] == [None, CELLS.name]


def test_neighbours_of_a_clause_are_the_clauses_beside_it() -> None:
    clauses = [turn(i) for i in range(4)]
    judge = NeighbourJudge(Recorded({"s1": 1.0}), clauses, Genre.LEGAL)
    inside, end = 1 + 2 * CLAUSES.share, 1 + CLAUSES.share
    said = judge(QUERY, clauses)
    assert said == pytest.approx([CLAUSES.share / end, 1 / inside, CLAUSES.share / inside, 0.0])
    assert judge.neighbours(clauses[0]) == CLAUSES.name


def test_reading_costs_what_has_not_been_read_with_another() -> None:
    clauses = [turn(i) for i in range(6)]
    judge = NeighbourJudge(Recorded({}), clauses, Genre.LEGAL)
    own = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    assert judge.efforts(np.array([2, 3, 0]), own).tolist() == [2 + 4 + 8, 16, 1]
    assert judge.efforts(np.arange(6), own).sum() == own.sum()
    assert judge.efforts(np.array([], dtype=np.int64), own).tolist() == []
    turns = NeighbourJudge(Recorded({}), clauses, Genre.TRANSCRIPT)
    assert turns.efforts(np.array([2, 3, 0]), own).tolist() == [4, 8, 1]  # on top: they are short
