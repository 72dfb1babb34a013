"""The table of a language model is what its records say, and its calls can be told apart."""

import shutil
from pathlib import Path

import pytest

from tools import main_table

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "experiments" / "models" / "qwen2.5-coder-1.5b"


@pytest.mark.parametrize("name", ["scifact", "qasper"])
def test_the_tables_in_the_repository_are_made_of_the_records_beside_them(name: str) -> None:
    made = main_table.tables(KEPT, name, KEPT.name)
    assert made == (KEPT / f"{name}.md").read_text("utf-8")


@pytest.mark.parametrize("page", ["bench.md", "results.md"])
def test_the_pages_quote_the_tables(page: str) -> None:
    text = (ROOT / "docs" / page).read_text("utf-8")
    told = {line.split("|")[1].strip(): line for line in text.splitlines() if "% |" in line}
    for name in ("scifact", "qasper"):
        records = main_table.records_of(KEPT / name)
        for system in main_table.SYSTEMS:
            own = [one for one in records if one.system == system and one.gold]
            ndcg = [value for one in own if (value := main_table.COLUMNS["nDCG@10"](one))]
            mean = sum(ndcg) / len(own)
            assert f"| {mean:.1f} |" in told[f"`{system}`"]


def test_kept_records_are_those_of_the_parts_in_order(tmp_path: Path) -> None:
    shutil.copytree(KEPT / "qasper", tmp_path / "qasper")
    records = main_table.records_of(tmp_path / "qasper")
    before = (tmp_path / "qasper" / main_table.KEPT).read_bytes()
    main_table.keep(tmp_path / "qasper")
    assert (tmp_path / "qasper" / main_table.KEPT).read_bytes() == before
    assert len(records) == 100 * len(main_table.SYSTEMS)


def test_systems_stand_as_the_table_has_them_and_others_behind() -> None:
    assert main_table.in_order(["x", "crag", "abstrag", "crag"]) == ["abstrag", "crag", "x"]


def test_an_answer_is_no_call_of_the_search() -> None:
    records = main_table.records_of(KEPT / "scifact")
    local = [one for one in records if one.system == "abstrag"]
    assert {main_table.search_calls(one) for one in local} == {0}
    assert any(one.llm_calls for one in local)  # the label was written by the model


def test_a_set_without_records_has_none(tmp_path: Path) -> None:
    assert main_table.records_of(tmp_path) == []
