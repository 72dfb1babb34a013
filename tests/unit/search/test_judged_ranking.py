"""Rankings with a judge: who is asked, what becomes of the rest, and what the reading says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from abstrag.engine.searcher import Searcher
from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.model.ranking import Hit, Ranking
from abstrag.model.segment import Segment
from abstrag.neural.judge import default_judge
from abstrag.search.relevance import DEFAULT_PRESET, FAST, GENERAL, Pooling, Preset
from abstrag.search.scoring import STATED
from abstrag.workspace.tour import DEMO_QUERY, DEMO_SENTENCE, demo_index

JUDGED = replace(FAST, name="judged", judge_weight=4.0)
LATE = replace(GENERAL, name="late", judged=1)


class Counting:
    """Thinks highly of segments that hold a word, and remembers whom it was asked about."""

    def __init__(self, word: str, sure: float = 0.9, *, rest: float = 0.01) -> None:
        self.word, self.sure, self.rest = word, sure, rest
        self.asked: list[str] = []

    def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
        self.asked += [segment.id for segment in segments]
        return [self.sure if self.word in segment.text else self.rest for segment in segments]


def search(preset: Preset, judge: Counting, query: str = DEMO_QUERY, k: int = 5) -> Ranking:
    return Searcher(demo_index(), preset=preset, judge=judge).search(query, k=k)


@pytest.mark.parametrize("preset", [JUDGED, replace(GENERAL, judged=None)], ids=lambda p: p.name)
def test_an_exact_ranking_is_that_of_judging_everything_for_fewer_judgements(
    preset: Preset,
) -> None:
    judge, thorough = Counting("supplier", sure=1.0), Counting("supplier", sure=1.0)
    exact = search(preset, judge)
    everything = search(preset, thorough, k=len(demo_index().records))
    assert exact.hits == everything.hits[:5]
    assert exact.judgements == len(judge.asked) < len(thorough.asked)
    assert exact.judgements + exact.judgements_avoided == len(demo_index().records)


def test_a_shortlist_is_picked_by_the_other_factors() -> None:
    judge, preset = Counting("visited"), replace(JUDGED, judged=1)
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


@pytest.mark.parametrize("preset", [replace(JUDGED, judged=1), LATE], ids=lambda p: p.name)
def test_who_was_not_asked_about_has_no_judgement_and_counts_as_none(preset: Preset) -> None:
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
    assert "Nothing in it meets “penguin” or “juggle”" in hit.reading
    unexplained = "The judge takes it for evidence (0.90), for reasons that no step here shows."
    assert unexplained in hit.reading
    agreed = search(JUDGED, Counting("visited")).hits[0]
    assert agreed.reading.endswith("The judge agrees (0.90).")
    unsure = search(JUDGED, Counting("visited", sure=0.3)).hits
    assert all("judge" not in hit.reading for hit in unsure if hit.judgement == 0.3)
    doubted = search(JUDGED, Counting("no such word")).hits[0]
    assert doubted.reading.endswith("The judge doubts it (0.01).")


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize("asked", [DEMO_QUERY, "Which executive resigned?"])
def test_fewer_hits_are_the_first_of_more(asked: str, exact: bool) -> None:
    """Who is no hit takes the place of nobody who is."""
    preset = replace(GENERAL, judged=None) if exact else GENERAL
    searcher = Searcher(demo_index(), preset=preset)
    many = searcher.search(asked, k=32).hits
    assert many
    for k in (1, 2, 5):
        assert searcher.search(asked, k=k).hits == many[:k]


def test_the_shipped_judge_is_there_when_a_preset_wants_one() -> None:
    ranking = Searcher(demo_index(), preset=GENERAL).search("Who visited the head of TSMC?", k=3)
    assert "visited" in ranking.hits[0].quote
    assert ranking.hits[0].judgement is not None
    assert Searcher(demo_index(), preset=FAST).judge is None


# --- What a Background states ---------------------------------------------------------------------


def visit(searcher: Searcher) -> Hit:
    """Explain the sentence of the worked example."""
    (segment,) = (s.id for s in searcher.index.segments if s.text == DEMO_SENTENCE)
    return searcher.explain(DEMO_QUERY, segment)


def test_what_a_background_states_stands_whatever_the_judge_thinks_of_it() -> None:
    """The worked example: no small model knows that this visit is a collaboration."""
    searcher = Searcher(demo_index(), preset=DEFAULT_PRESET)
    best = searcher.search(DEMO_QUERY, k=3).hits[0]
    assert best.text == DEMO_SENTENCE
    assert best.trace.reachable
    record = searcher.index.records[best.position]
    judge = default_judge().resolving({record.segment.id: record.canonical})
    (said,) = judge(searcher.normalize(DEMO_QUERY), [record.segment])
    assert best.judgement == said < 0.1  # what is shown is what it said
    assert best.reading.endswith(
        f"The judge doubts it ({said:.2f}), but it has not read the Background."
    )
    assert visit(searcher) == best


def test_without_its_background_the_sentence_is_not_among_the_first_ten() -> None:
    bare = Searcher(demo_index(with_background=False), preset=DEFAULT_PRESET)
    assert DEMO_SENTENCE not in [hit.text for hit in bare.search(DEMO_QUERY, k=10).hits]
    assert visit(bare).reading.endswith("The judge doubts it (0.03).")


def test_a_judge_is_taken_to_say_at_least_so_much_of_what_is_stated() -> None:
    match = {
        said: visit(Searcher(demo_index(), preset=GENERAL, judge=Counting("visited", sure=said)))
        for said in (0.0, 0.01, STATED, 0.95)
    }
    assert {said: hit.judgement for said, hit in match.items()} == {said: said for said in match}
    assert match[0.0].match == match[0.01].match == match[STATED].match < match[0.95].match
    assert match[0.95].reading.endswith("The judge agrees (0.95).")


def test_what_is_stated_stands_where_the_judge_was_not_asked() -> None:
    """Where words alone pick what it reads, the visit is not picked."""
    judge = Counting("no such word")
    by_words = replace(LATE, coverage_weight=0.0)
    searcher = Searcher(demo_index(), preset=by_words, judge=judge)
    best = searcher.search(DEMO_QUERY, k=3).hits[0]
    assert best.text == DEMO_SENTENCE
    assert best.segment not in judge.asked
    assert best.judgement is None
    assert "judge" not in best.reading
    assert visit(searcher) == best


def test_nothing_but_what_is_stated_is_lifted() -> None:
    """Everybody is doubted alike: only the visit is reached by way of the Background."""
    hits = search(GENERAL, Counting("no such word"), k=32).hits
    stated = [hit.text for hit in hits if "has not read the Background" in hit.reading]
    assert stated == [DEMO_SENTENCE]
    assert hits[0].text == DEMO_SENTENCE
    assert hits[0].match > 100 * hits[1].match
    assert any(hit.trace.reachable for hit in hits if hit.text != DEMO_SENTENCE)


def test_a_mean_takes_the_judge_at_its_word() -> None:
    mean = replace(GENERAL, pooling=Pooling.MEAN)
    doubted, trusted = (
        visit(Searcher(demo_index(), preset=mean, judge=Counting("visited", sure=said))).match
        for said in (0.01, STATED)
    )
    share = mean.judge_weight / sum(mean.weights.values())
    assert trusted - doubted == pytest.approx(share * (STATED - 0.01))


def test_a_judge_that_reads_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="has the judge read 0 paragraphs"):
        replace(JUDGED, judged=0)
