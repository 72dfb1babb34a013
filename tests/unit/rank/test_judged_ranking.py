"""Rankings with a judge: who is asked, what becomes of the rest, and what the reading says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from abstrag.engine.demo import DEMO_QUERY, demo_index
from abstrag.engine.searcher import Searcher
from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.model.ranking import Ranking
from abstrag.model.segment import Segment
from abstrag.rank.relevance import FAST, GENERAL, Preset

JUDGED = replace(FAST, name="judged", judge_weight=4.0)


class Counting:
    """Thinks highly of segments that hold a word, and remembers whom it was asked about."""

    def __init__(self, word: str, sure: float = 0.9) -> None:
        self.word, self.sure = word, sure
        self.asked: list[str] = []

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        self.asked += [segment.id for segment in segments]
        return [self.sure if self.word in segment.text else 0.01 for segment in segments]


def search(preset: Preset, judge: Counting, query: str = DEMO_QUERY, k: int = 5) -> Ranking:
    return Searcher(demo_index(), preset=preset, judge=judge).search(query, k=k)


def test_an_exact_ranking_is_that_of_judging_everything_for_fewer_judgements() -> None:
    judge, thorough = Counting("visited"), Counting("visited")
    exact = search(JUDGED, judge)
    everything = search(JUDGED, thorough, k=len(demo_index().records))
    assert [hit.segment for hit in exact.hits] == [hit.segment for hit in everything.hits[:5]]
    assert exact.judgements == len(judge.asked) < len(thorough.asked)
    assert exact.judgements + exact.judgements_avoided == len(demo_index().records)


def test_a_shortlist_is_picked_by_the_other_factors() -> None:
    judge = Counting("visited")
    preset = replace(JUDGED, judged=1)
    found = search(preset, judge)
    short = len(judge.asked)
    best = Searcher(demo_index(), preset=preset.unjudged)
    assert judge.asked == [hit.segment for hit in best.search(DEMO_QUERY, k=short).hits]
    assert (found.judgements, found.judgements_avoided) == (
        short,
        len(demo_index().records) - short,
    )


def test_short_segments_leave_room_for_more_of_them() -> None:
    """Demo sentences are far shorter than a paragraph, so three paragraphs are many of them."""
    judge = Counting("visited")
    search(replace(JUDGED, judged=3), judge)
    assert 3 < len(judge.asked) <= 12


def test_who_was_not_asked_about_has_no_judgement_and_counts_as_none() -> None:
    preset = replace(JUDGED, judged=1)
    searcher = Searcher(demo_index(), preset=preset, judge=Counting("", sure=1.0))
    ranking = searcher.search(DEMO_QUERY, k=len(demo_index().records))
    judged = [hit for hit in ranking.hits if hit.judgement is not None]
    rest = [hit for hit in ranking.hits if hit.judgement is None]
    assert judged
    assert rest
    assert min(hit.relevance for hit in judged) > max(hit.relevance for hit in rest)
    assert searcher.explain(DEMO_QUERY, rest[0].segment) == rest[0]
    assert searcher.explain(DEMO_QUERY, judged[0].segment) == judged[0]


def test_a_segment_that_holds_nothing_is_a_hit_only_when_the_judge_is_for_it() -> None:
    nothing = "Do penguins juggle?"
    assert search(JUDGED, Counting("no such word"), nothing).hits == ()
    (hit,) = search(JUDGED, Counting("visited"), nothing, k=3).hits
    assert "visited" in hit.quote


def test_the_reading_says_what_the_judge_saw_and_nothing_explains() -> None:
    (hit,) = search(JUDGED, Counting("visited"), "Do penguins juggle?", k=3).hits
    assert "Matched by the judge (0.90), unexplained: “penguin” and “juggle”." in hit.reading
    agreed = search(JUDGED, Counting("visited")).hits[0]
    assert agreed.reading.endswith("The judge agrees (0.90).")
    unsure = search(JUDGED, Counting("visited", sure=0.3)).hits
    assert all("judge" not in hit.reading for hit in unsure if hit.judgement == 0.3)
    doubted = search(JUDGED, Counting("no such word")).hits[0]
    assert doubted.reading.endswith("The judge doubts it (0.01).")


def test_the_shipped_judge_is_there_when_a_preset_wants_one() -> None:
    ranking = Searcher(demo_index(), preset=GENERAL).search("Who visited the head of TSMC?", k=3)
    assert "visited" in ranking.hits[0].quote
    assert ranking.hits[0].judgement is not None
    assert Searcher(demo_index(), preset=FAST).judge is None


def test_what_the_calculus_meets_in_full_stands_without_the_judge() -> None:
    """The worked example: no small model knows that this visit is a collaboration."""
    ranking = Searcher(demo_index(), preset=GENERAL).search(DEMO_QUERY, k=3)
    visit = next(hit for hit in ranking.hits if "visited" in hit.quote)
    assert visit.trace.reachable
    assert visit.judgement is not None
    assert visit.judgement < 0.5


def test_a_judge_that_reads_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="has the judge read 0 paragraphs"):
        replace(JUDGED, judged=0)
