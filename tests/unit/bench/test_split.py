from pathlib import Path

import pytest

from abstrag.errors import InputError
from abstrag_bench.case import SplitPart, parse_split, part_of, sampled
from abstrag_bench.datasets.load import load_dataset
from tests.unit.bench.makers import make_cases, write_plain


def test_the_part_of_a_document_never_changes() -> None:
    assert [i for i in range(12) if part_of(str(i)) is SplitPart.REPORT] == [0, 7, 8, 9, 10]


def test_about_a_fifth_of_the_documents_is_for_reporting() -> None:
    share = sum(part_of(f"doc{i}") is SplitPart.REPORT for i in range(5000)) / 5000
    assert 0.18 < share < 0.22


def test_the_two_parts_make_the_whole_and_share_no_document(tmp_path: Path) -> None:
    write_plain(tmp_path / "dev.jsonl", 40)
    whole, tune, report = (
        {case.document.id for case in load_dataset("plain", tmp_path, split).cases}
        for split in ("dev", "dev:tune", "dev:report")
    )
    assert tune | report == whole
    assert not tune & report
    assert report


def test_the_part_shows_in_the_split_of_every_case(tmp_path: Path) -> None:
    write_plain(tmp_path / "dev.jsonl", 40)
    dataset = load_dataset("plain", tmp_path, "dev:report")
    assert {case.split for case in dataset.cases} == {"dev:report"} == {dataset.split}


def test_a_part_nobody_knows_is_an_error() -> None:
    assert parse_split("train") == ("train", SplitPart.ALL)
    with pytest.raises(InputError, match="no part of a split is called 'test'"):
        parse_split("train:test")


def test_a_balanced_sample_draws_evenly_and_is_the_same_every_time() -> None:
    cases = make_cases(6)  # 12 answerable, 6 none
    drawn = sampled(cases, 8, balance="kind", seed=3)
    assert [case.groups["kind"] for case in drawn].count("none") == 4
    assert drawn == sampled(cases, 8, balance="kind", seed=3)
    assert drawn != sampled(cases, 8, balance="kind", seed=4)


def test_a_small_group_gives_all_it_has() -> None:
    drawn = sampled(make_cases(6), 16, balance="kind")
    assert [case.groups["kind"] for case in drawn].count("none") == 6
    assert len(drawn) == 16


def test_balancing_over_a_group_nobody_has_is_an_error() -> None:
    with pytest.raises(InputError, match="belongs to no group 'label'"):
        sampled(make_cases(1), 1, balance="label")
