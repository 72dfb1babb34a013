"""Our ranking metrics against those of `ir_measures` (trec_eval's own code) on random runs."""

import random

import ir_measures
import pytest
from ir_measures import RR, R, nDCG

from abstrag_bench.metrics.catalogue import MRR, NDCG, RECALL
from abstrag_bench.record import CaseRecord
from tests.unit.bench.makers import make_record


def random_records(seed: int, cases: int = 200) -> list[CaseRecord]:
    generator = random.Random(seed)
    made = []
    for case in range(cases):
        spans = [f"s{i}" for i in range(generator.randint(3, 40))]
        gold = tuple(generator.sample(spans, generator.randint(1, min(15, len(spans)))))
        ranked = tuple(generator.sample(spans, generator.randint(1, len(spans))))
        made.append(make_record(f"c{case}", ranked=ranked, gold=gold, gold_sets=(gold,)))
    return made


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (NDCG @ 10, nDCG @ 10),
        (NDCG @ 5, nDCG @ 5),
        (RECALL @ 5, R @ 5),
        (RECALL @ 10, R @ 10),
        (MRR @ 10, RR @ 10),
    ],
    ids=str,
)
def test_a_metric_agrees_case_by_case(ours, theirs) -> None:  # type: ignore[no-untyped-def]
    records = random_records(7)
    qrels = [ir_measures.Qrel(r.case_id, span, 1) for r in records for span in r.gold]
    run = [
        ir_measures.ScoredDoc(r.case_id, span, float(-rank))
        for r in records
        for rank, span in enumerate(r.ranked)
    ]
    expected = {v.query_id: v.value for v in ir_measures.iter_calc([theirs], qrels, run)}
    assert len(expected) == len(records)
    for record in records:
        assert ours(record) == pytest.approx(expected[record.case_id], abs=1e-9), record.case_id
