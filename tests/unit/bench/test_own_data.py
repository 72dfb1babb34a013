"""Data people write themselves: the plain form, and training packs; their mistakes are named."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import InputError
from abstrag.model.document import Genre
from abstrag_bench.datasets import packs, plain
from abstrag_bench.datasets.load import load_dataset
from tests.unit.bench.makers import write_lines

DOCUMENT: dict[str, Any] = {
    "document": "d",
    "genre": "report",
    "elements": [
        "A passage.",
        {"id": "t1", "text": "10", "kind": "table_cell", "headers": ["Sales"]},
    ],
}
CASE: dict[str, Any] = {"case": "q", "document": "d", "query": "How much?", "gold": ["t1"]}


def plain_file(folder: Path, *lines: dict[str, Any]) -> Path:
    return write_lines(folder / "mine.jsonl", lines)


def test_a_plain_file_is_read_by_folder_and_split_or_by_itself(tmp_path: Path) -> None:
    path = plain_file(tmp_path, DOCUMENT, CASE)
    for dataset in (plain.load(tmp_path, "mine"), plain.load(path, "mine")):
        (case,) = dataset.cases
        assert (case.case_id, case.gold, case.gold_sets) == ("q", ("t1",), (("t1",),))
        assert case.document.ids == ("0", "t1")
        assert case.document.genre is Genre.REPORT
        assert case.document.elements[1].full_text == "Sales 10"


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ([DOCUMENT, {**CASE, "gold": ["t2"]}], r"line 2: document 'd' has no element 't2'"),
        ([DOCUMENT, {**CASE, "gold_sets": [["7"]]}], r"line 2: document 'd' has no element '7'"),
        ([DOCUMENT, CASE, CASE], r"line 3: case 'q' is there twice"),
        ([DOCUMENT, DOCUMENT], r"line 2: document 'd' is there twice"),
        ([CASE, DOCUMENT], r"line 1: document 'd' has not come before its case"),
        (
            [{**DOCUMENT, "elements": [{"id": "0", "text": "x"}, "y", {"id": "0", "text": "z"}]}],
            "two",
        ),
        ([{**DOCUMENT, "genre": "novel"}], r"line 1: 'novel' is no Genre"),
        ([DOCUMENT, {**CASE, "golden": []}], r"line 2: unknown field 'golden'"),
        (
            [DOCUMENT, {"case": "q", "document": "d", "gold": []}],
            r"line 2: the field 'query' is missing",
        ),
        ([DOCUMENT, {**CASE, "gold": "t1"}], r"line 2: 'gold' must be list"),
        ([{"title": "x"}], r"line 1: neither a document nor a case"),
        ([DOCUMENT], "holds no case"),
    ],
)
def test_a_mistake_in_a_plain_file_is_named(
    tmp_path: Path, lines: list[dict[str, Any]], problem: str
) -> None:
    plain_file(tmp_path, *lines)
    with pytest.raises(InputError, match=problem) as caught:
        plain.load(tmp_path, "mine")
    assert "mine.jsonl" in str(caught.value)


def write_pack(folder: Path, *lines: dict[str, Any]) -> Path:
    (folder / "training").mkdir()
    path = folder / "training" / "tiny.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as handle:
        handle.writelines(json.dumps(line) + "\n" for line in lines)
    return path


PACK = (
    {"doc": "d0", "segments": ["One.", " ", "Three."], "title": "Numbers"},
    {"doc": "d0", "id": "a", "query": "three?", "gold": [2], "label": "SUPPORTS"},
)


def test_a_pack_is_read_by_its_name(tmp_path: Path) -> None:
    write_pack(tmp_path, *PACK)
    (case,) = packs.load(tmp_path, "tiny").cases
    assert (case.document.id, case.document.ids, case.gold) == ("tiny/d0", ("0", "2"), ("2",))
    assert (case.label, case.document.title) == ("SUPPORTS", "Numbers")


def test_a_pack_with_an_unknown_segment_is_an_error(tmp_path: Path) -> None:
    write_pack(tmp_path, PACK[0], {**PACK[1], "gold": [9]})
    with pytest.raises(InputError, match="line 2: document 'd0' has no segment 9"):
        packs.load(tmp_path, "tiny")


def test_a_pack_that_is_cut_off_is_an_error(tmp_path: Path) -> None:
    path = write_pack(tmp_path, *PACK)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(InputError, match="cut off"):
        packs.load(tmp_path, "tiny")


def test_a_data_set_nobody_knows_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no data set is called 'squad'"):
        load_dataset("squad", tmp_path, "dev")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no data folder"):
        load_dataset("plain", tmp_path / "nowhere", "dev")
