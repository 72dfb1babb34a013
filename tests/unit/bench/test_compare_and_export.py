from dataclasses import replace
from pathlib import Path

import pytest

from abstrag.errors import InputError
from abstrag_bench.compare import compare
from abstrag_bench.metrics.metric import Convention
from abstrag_bench.report import export_trec
from tests.unit.bench.makers import make_record, write_run


def test_a_comparison_pairs_cases_and_counts_what_flipped(tmp_path: Path) -> None:
    before = [make_record(f"c{i}", ranked=("a",) if i < 5 else ("x",)) for i in range(10)]
    after = [make_record(f"c{i}", ranked=("a",) if i else ("x",)) for i in range(9)]
    found = compare(write_run(tmp_path / "a", before), write_run(tmp_path / "b", after))
    change = next(
        one
        for one in found.changes
        if one.metric == "Suff@5" and one.convention is Convention.GOLD_ONLY
    )
    assert change.difference.n == 9
    assert change.before == pytest.approx(5 / 9)
    assert change.after == pytest.approx(8 / 9)
    assert change.difference.mean == pytest.approx(3 / 9)
    assert found.flips[0].gained == ("c5", "c6", "c7", "c8")
    assert found.flips[0].lost == ("c0",)


def test_a_comparison_tells_of_what_is_shown_where_both_runs_do(tmp_path: Path) -> None:
    ranked = ("b", "a")
    before = [make_record(f"c{i}", system="abstrag", ranked=ranked, retrieved=1) for i in range(3)]
    after = [replace(one, retrieved=2) for one in before]
    first, second = write_run(tmp_path / "a", before), write_run(tmp_path / "b", after)
    found = compare(first, second)
    changes = {
        one.metric: (one.before, one.after)
        for one in found.changes
        if one.convention is Convention.GOLD_ONLY
    }
    assert changes["Suff@10"] == (1.0, 1.0)
    assert changes["Suff@10 shown"] == (0.0, 1.0)
    (flips,) = found.flips
    assert (flips.gained, flips.gained_shown, flips.lost_shown) == ((), ("c0", "c1", "c2"), ())
    old = write_run(tmp_path / "old", before, marks_shown=False)
    untold = compare(old, second)
    assert {one.metric for one in untold.changes} == {"Suff@5", "Suff@10", "nDCG@10"}
    assert untold.flips[0].gained_shown is None


def test_runs_about_different_things_are_not_compared(tmp_path: Path) -> None:
    one = write_run(tmp_path / "a", [make_record()])
    with pytest.raises(InputError, match="share no system"):
        compare(one, write_run(tmp_path / "b", [make_record(system="two")]))
    with pytest.raises(InputError, match="disagree on the gold of case 'c1'"):
        compare(one, write_run(tmp_path / "c", [make_record(gold=("b",))]))


def test_trec_files_hold_runs_and_gold_and_no_white_space_in_names(tmp_path: Path) -> None:
    record = make_record(
        "1:2", ranked=("A page_cell_0", "b"), gold=("A page_cell_0",), system="abstrag@paper"
    )
    write_run(tmp_path, [record, replace(record, case_id="3", gold=())])
    run, qrels = export_trec(tmp_path)
    assert run.name == "abstrag@paper.run"
    assert run.read_text("utf-8").splitlines()[:2] == [
        "1:2 Q0 A%20page_cell_0 1 2 abstrag@paper",
        "1:2 Q0 b 2 1 abstrag@paper",
    ]
    assert qrels.read_text("utf-8") == "1:2 0 A%20page_cell_0 1\n"
