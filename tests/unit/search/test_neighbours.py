from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from abstrag.model.document import Genre
from abstrag.model.query import Query
from abstrag.model.segment import Segment, SegmentKind, SegmentRole
from abstrag.model.span import OffsetMap, Span
from abstrag.search.judging import CELLS, CLAUSES, TURNS, NeighbourJudge

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
