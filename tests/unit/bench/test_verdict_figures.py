"""Verdicts with and without abstaining stand together, and workers may give them."""

from pathlib import Path

import pytest

from abstrag.errors import NotComputable
from abstrag.workers.processes import Processes
from abstrag_bench.case import Case, Dataset
from abstrag_bench.local_writer import LocalWriter
from abstrag_bench.metrics.label import ACCURACY, ANSWERED, WRONG, verdict_score
from abstrag_bench.record import CaseRecord
from abstrag_bench.report import report
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.runner import Options, run
from abstrag_bench.systems import SystemSpec
from tests.unit.bench.makers import make_pool, make_record


def judged(name: str, said: str | None, leaning: str, gold: str) -> CaseRecord:
    return make_record(name, label=said, leaning=leaning, gold_label=gold)


def test_an_abstention_is_counted_and_neither_right_nor_left_out() -> None:
    records = [
        judged("1", "SUPPORTS", "SUPPORTS", "SUPPORTS"),
        judged("2", None, "REFUTES", "REFUTES"),
        judged("3", "SUPPORTS", "SUPPORTS", "REFUTES"),
        judged("4", "REFUTES", "REFUTES", "REFUTES"),
    ]
    assert [ACCURACY(one) for one in records] == [1, 1, 0, 1]
    assert [ANSWERED(one) for one in records] == [1, 0, 1, 1]
    assert [WRONG(one) for one in records] == [0, 0, 1, 0]
    score = verdict_score(records)
    assert score is not None
    assert (score.cases, score.accuracy, score.answered, score.wrong) == (4, 0.75, 0.75, 0.25)
    assert score.refutations == 3
    assert score.refutations_recalled == pytest.approx(1 / 3)


def test_a_case_that_was_never_judged_has_no_verdict_figures() -> None:
    for metric in (ACCURACY, ANSWERED, WRONG):
        with pytest.raises(NotComputable, match="needs a predicted label"):
            metric(make_record("1", gold_label="NEI"))
    assert verdict_score([make_record("1", gold_label="NEI")]) is None
    sure = make_record("1", label="SUPPORTS", gold_label="SUPPORTS")  # a model's, never silent
    assert ANSWERED(sure) == 1
    only = verdict_score([sure])
    assert only is not None
    assert (only.refutations, only.refutations_recalled) == (0, None)


def claims() -> Dataset:
    texts = {
        "c1": "Lions sleep for most of the day in the shade of trees.",
        "c2": "Penguins rule Antarctica.",
    }
    cases = (
        Case("plain", "dev", name, make_pool(f"d-{name}"), text, label=label)
        for (name, text), label in zip(texts.items(), ("SUPPORTS", "NEI"), strict=True)
    )
    return Dataset("plain", "dev", tuple(cases))


def test_workers_give_the_verdicts_that_one_process_gives(tmp_path: Path) -> None:
    ours = [SystemSpec.of("abstrag")]
    found = []
    for name, engine in (("one", None), ("two", Processes(2))):
        out = tmp_path / name
        run(claims(), ours, out, Options(engine=engine), writer=LocalWriter())
        records = RunFolder(out).records()
        found.append([(r.case_id, r.label, r.leaning, r.error) for r in records])
    assert found[0] == found[1]
    assert [one[2] for one in found[0]] == ["SUPPORTS", "NOT ENOUGH INFO"]


def test_a_report_shows_both_kinds_of_figures_together(tmp_path: Path) -> None:
    run(claims(), [SystemSpec.of("abstrag")], tmp_path, writer=LocalWriter())
    summary, _ = report(tmp_path)
    assert summary.systems[0].verdicts is not None
    text = (tmp_path / "report.md").read_text("utf-8")
    for column in ("accuracy without abstaining", "answered", "wrong of all", "Answered", "Wrong"):
        assert column in text
