"""The fixed evaluator: raw text in, Suff and Comp out, each pair judged once."""

from collections.abc import Sequence

import pytest

from abstrag.errors import InputError
from abstrag.model.query import Query
from abstrag.model.ranking import Ranking
from abstrag.model.segment import Segment
from abstrag.refine.evaluator import Evaluator, Signals
from abstrag.refine.feedback import Episode
from tests.unit.refine.harbour import EVIDENCE, LOCK, SEWAGE, TEXT, Labels, searcher


def _ranking(query: str, k: int = 10) -> Ranking:
    return searcher().search(query, k=k)


def _signals(evaluator: Evaluator, query: str, gold: tuple[str, ...] = ()) -> Signals:
    episode = Episode("harbour", query, gold)
    return evaluator.signals(episode, _ranking(query), searcher().index.segments)


def test_evidence_among_the_first_k_is_sufficient() -> None:
    found = _signals(Evaluator(Labels(), k=3), LOCK)
    first = tuple(hit.segment for hit in _ranking(LOCK).hits[:3])
    assert found == Signals(True, -2 / 3, ("s7",), ("s7",), first)


def test_evidence_below_the_first_k_is_not() -> None:
    assert not _signals(Evaluator(Labels(), k=3), SEWAGE).sufficient


def test_gold_decides_sufficiency_and_all_of_it_must_be_there() -> None:
    evaluator = Evaluator(Labels({}), k=3)
    assert _signals(evaluator, LOCK, ("s7", "s8")).sufficient
    assert not _signals(evaluator, LOCK, ("s7", "s1")).sufficient


def test_an_answer_rests_on_gold_where_there_is_gold_and_on_all_evidence_where_not() -> None:
    generous = Evaluator(Labels({}, wrong=True), k=3)  # takes everything
    hits = tuple(hit.segment for hit in _ranking(LOCK).hits[:3])
    assert _signals(generous, LOCK).needed == hits
    assert _signals(generous, LOCK, ("s7",)).needed == ("s7",)
    assert _signals(generous, LOCK, ("s7",)).evidence == hits


def test_a_solved_case_survives_only_with_all_it_rests_on() -> None:
    one, both = Signals(True, -0.5, needed=("s7",)), Signals(True, -0.5, needed=("s7", "s8"))
    assert one.survives(both)
    assert not both.survives(one)
    assert both.lost(one) == ("s8",)
    assert not one.survives(Signals(False, -0.5))
    assert Signals(False, -0.5).survives(Signals(False, -0.7))


def test_gold_may_be_given_in_words_and_is_no_distractor() -> None:
    found = _signals(Evaluator(Labels({}), k=3), LOCK, (EVIDENCE[LOCK],))
    assert found.sufficient
    assert found.compression == pytest.approx(-2 / 3)


def test_places_that_stay_empty_are_no_distractors() -> None:
    found = _signals(Evaluator(Labels({}), k=10), "Who drinks tea?")
    assert found.compression == -len(_ranking("Who drinks tea?").hits) / 10


def test_the_other_reading_of_compression_is_the_first_hits_relevance() -> None:
    found = _signals(Evaluator(Labels(), k=3, compression="top1_relevance"), LOCK)
    assert found.compression == _ranking(LOCK).hits[0].relevance


def test_an_unknown_reading_is_refused() -> None:
    with pytest.raises(InputError, match="'entropy'"):
        Evaluator(Labels(), compression="entropy")


def test_an_evaluator_needs_a_judge() -> None:
    with pytest.raises(InputError, match="needs a judge"):
        Evaluator()


def test_judges_vote_and_dissent_is_recorded() -> None:
    outvoted = Evaluator(Labels(), Labels(), Labels({}), k=3)
    found = _signals(outvoted, LOCK)
    assert found.sufficient
    assert found.dissent == pytest.approx(1 / 3)
    assert not found.certain


def test_one_segment_that_all_take_settles_the_matter() -> None:
    generous = Labels({}, wrong=True)  # takes everything
    found = _signals(Evaluator(Labels(), generous, k=3), LOCK)
    assert found.sufficient
    assert found.certain


def test_a_pair_is_judged_once() -> None:
    judge = Labels()
    evaluator = Evaluator(judge, k=3)
    _signals(evaluator, LOCK)
    _signals(evaluator, LOCK)
    assert judge.asked == 3


def test_equal_ids_of_two_documents_are_two_pairs() -> None:
    judge = Labels()
    evaluator = Evaluator(judge, k=3)
    _signals(evaluator, LOCK)
    other = searcher(TEXT.replace("The council paid", "The town paid"))
    found = evaluator.signals(Episode("other", LOCK), other.search(LOCK, k=3), other.index.segments)
    assert not found.sufficient


def test_the_judge_reads_the_text_and_no_trace() -> None:
    class Reader:
        seen: tuple[str, ...] = ()

        def __call__(self, query: Query, segments: Sequence[Segment]) -> list[float]:
            self.seen = tuple(segment.text for segment in segments)
            return [0.0] * len(segments)

    reader = Reader()
    _signals(Evaluator(reader, k=1), LOCK)
    assert reader.seen == (EVIDENCE[LOCK],)
