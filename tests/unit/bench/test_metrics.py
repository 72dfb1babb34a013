import math

import pytest

from abstrag.errors import NotComputable
from abstrag_bench.metrics.catalogue import (
    ANSWER_F1,
    ANY_SET,
    BRIDGE_COST,
    EVIDENCE_F1,
    JUDGEMENTS,
    MRR,
    NDCG,
    OVER_EXPANSION,
    PRESERVED,
    RECALL,
    SENTENCE_F1,
    SUFF,
    token_f1,
)
from abstrag_bench.metrics.label import ACCURACY, macro_f1
from abstrag_bench.metrics.metric import Convention, values
from abstrag_bench.metrics.whole_run import feverous_score, gain, gains
from tests.unit.bench.makers import make_record


def test_a_metric_is_written_with_its_depth_and_printed_so() -> None:
    assert str(NDCG @ 10) == "nDCG@10"
    assert str(SUFF @ 5) == "Suff@5"
    assert str(ACCURACY) == "Accuracy"
    assert str((NDCG @ 10).shown) == "nDCG@10 shown"


def test_a_metric_of_what_is_shown_does_not_see_the_ranks_behind_it() -> None:
    record = make_record(ranked=("x", "a", "b"), gold=("a", "b"), retrieved=2)
    assert record.shown == ("x", "a")
    assert ((SUFF @ 3)(record), (SUFF @ 3).shown(record)) == (1.0, 0.0)
    assert ((RECALL @ 3)(record), (RECALL @ 3).shown(record)) == (1.0, 0.5)
    assert (MRR @ 10).shown(record) == (MRR @ 10)(record) == 0.5
    ideal = 1 + 1 / math.log2(3)
    assert (NDCG @ 10).shown(record) == pytest.approx(1 / math.log2(3) / ideal)
    nothing = make_record(retrieved=0)
    assert ((SUFF @ 5)(nothing), (SUFF @ 5).shown(nothing)) == (1.0, 0.0)


def test_suff_wants_all_gold_and_any_suff_one_whole_set() -> None:
    record = make_record(
        ranked=("a", "x", "b"), gold=("a", "b", "c"), gold_sets=(("a", "b"), ("c",))
    )
    assert (SUFF @ 3)(record) == 0.0
    assert (ANY_SET @ 3)(record) == 1.0
    assert (ANY_SET @ 2)(record) == 0.0
    assert (SUFF @ 3)(make_record(ranked=("a", "b", "c"), gold=("a", "b"))) == 1.0


def test_ndcg_recall_and_mrr_of_a_worked_example() -> None:
    record = make_record(ranked=("x", "a", "y", "b"), gold=("a", "b", "z"))
    ideal = 1 + 1 / math.log2(3) + 1 / math.log2(4)
    assert (NDCG @ 10)(record) == pytest.approx((1 / math.log2(3) + 1 / math.log2(5)) / ideal)
    assert (RECALL @ 3)(record) == pytest.approx(1 / 3)
    assert (MRR @ 10)(record) == 0.5
    assert (MRR @ 1)(record) == 0.0


def test_without_gold_one_convention_leaves_a_case_out_and_the_other_counts_it() -> None:
    record = make_record(gold=(), gold_sets=())
    with pytest.raises(NotComputable, match="nDCG@10 needs gold spans; case 'c1' has none"):
        NDCG(record)
    assert NDCG(record, Convention.ALL_CASES) == 0.0
    assert SUFF(record, Convention.ALL_CASES) == 1.0


def test_nothing_retrieved_is_not_sufficient() -> None:
    record = make_record(ranked=(), scores=(), retrieved=0, error="no connection")
    assert SUFF(record) == 0.0
    assert NDCG(record) == 0.0


def test_what_is_missing_is_counted_with_its_reason_and_never_averaged() -> None:
    records = [make_record("a"), make_record("b", gold=()), make_record("c", ranked=("x",))]
    found = values(SUFF, records)
    assert found.by_case == {"a": 1.0, "c": 0.0}
    assert found.missing == {"Suff@10 needs gold spans": 1}
    assert found.mean == 0.5
    with pytest.raises(NotComputable, match="no case has a value: Suff@10 needs gold spans"):
        _ = values(SUFF, [make_record("b", gold=())]).mean


def test_set_f1_is_against_the_gold_or_the_nearest_set() -> None:
    record = make_record(
        ranked=("a", "b", "c", "d"), gold=("a", "x", "y"), gold_sets=(("a",), ("x", "y"))
    )
    assert (SENTENCE_F1 @ 3)(record) == pytest.approx(2 * 1 / 6)
    assert (EVIDENCE_F1 @ 3)(record) == pytest.approx(2 * 1 / 4)


def test_the_feverous_score_is_that_of_the_shared_task() -> None:
    sentences = tuple(f"P_sentence_{i}" for i in range(7))
    both = make_record(
        "1",
        ranked=(*sentences, "P_cell_0_0_0"),
        retrieved=8,
        gold=("P_sentence_0", "P_cell_0_0_0", "P_sentence_6"),
        gold_sets=(("P_sentence_6",), ("P_sentence_0", "P_cell_0_0_0")),
    )
    none = make_record("2", ranked=("P_sentence_1",), retrieved=1, gold=("P_sentence_9",))
    score = feverous_score([both, none])
    # of the first, five sentences and the cell count: two of six are right, one set is complete
    assert score.precision == pytest.approx((2 / 6 + 0) / 2)
    assert score.recall == 0.5
    assert score.f1 == pytest.approx(2 * (1 / 6) * 0.5 / (1 / 6 + 0.5))
    with pytest.raises(NotComputable):
        feverous_score([make_record(gold=())])


def test_answers_are_compared_without_case_punctuation_and_articles() -> None:
    assert token_f1("The BERT-base model!", "a bertbase model") == 1.0
    assert token_f1("red green", "green blue") == pytest.approx(0.5)
    record = make_record(answer="a cat", gold_answers=("dog", "the cat"))
    assert ANSWER_F1(record) == 1.0
    with pytest.raises(NotComputable, match="a generated answer"):
        ANSWER_F1(make_record(gold_answers=("x",)))


def test_labels_are_compared_where_both_sides_have_one() -> None:
    records = [
        make_record("1", label="SUPPORTS", gold_label="SUPPORTS"),
        make_record("2", label="SUPPORTS", gold_label="REFUTES"),
        make_record("3", label="NEI", gold_label="NEI"),
        make_record("4", gold_label="NEI"),
    ]
    assert values(ACCURACY, records).mean == pytest.approx(2 / 3)
    assert macro_f1(records) == pytest.approx((2 / 3 + 0 + 1) / 3)
    with pytest.raises(NotComputable):
        macro_f1([make_record()])


def test_the_bridge_cost_is_a_share_of_the_budget_or_unknown() -> None:
    assert BRIDGE_COST(make_record(bridge_cost=1.1, tau=1.5)) == pytest.approx(1.1 / 1.5)
    with pytest.raises(NotComputable, match="an accepted clause"):
        BRIDGE_COST(make_record(tau=1.5))
    with pytest.raises(NotComputable, match="a judge"):
        JUDGEMENTS(make_record())


def test_the_gain_is_over_closed_cases_at_a_known_cost() -> None:
    closed = make_record("1", bridge_cost=1.0)
    lost = make_record("1", ranked=("x",))
    assert gain(closed, lost) == 0.5
    assert gain(closed, make_record("1")) == 0.0
    with_it = [
        closed,
        make_record("2"),
        make_record("3", bridge_cost=1.0, ranked=("x",)),
        make_record("4", bridge_cost=0.0),
        make_record("5", bridge_cost=0.0, retrieved=0),
    ]
    found = gains(with_it, [lost, make_record("2"), make_record("3"), make_record("5")])
    assert found.by_case == {"1": 0.5}
    assert sum(found.missing.values()) == 4


def test_a_case_is_preserved_lost_or_does_not_apply() -> None:
    records = [
        make_record("1", preserved=True),
        make_record("2", preserved=False),
        make_record("3"),
    ]
    assert values(PRESERVED, records).mean == 0.5


def test_over_expansion_is_a_non_gold_span_that_only_a_patch_brought_in() -> None:
    before = ("a", "b")
    brought = make_record(ranked=("a", "x"), ranked_before=before, patched=("x",))
    assert (OVER_EXPANSION @ 2)(brought) == 1.0
    assert (OVER_EXPANSION @ 1)(brought) == 0.0
    gold = make_record(ranked=("a", "x"), ranked_before=before, patched=("x",), gold=("x",))
    assert (OVER_EXPANSION @ 2)(gold) == 0.0
    by_itself = make_record(ranked=("a", "x"), ranked_before=before, patched=())
    assert (OVER_EXPANSION @ 2)(by_itself) == 0.0
    with pytest.raises(NotComputable):
        OVER_EXPANSION(make_record())
