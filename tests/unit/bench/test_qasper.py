from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import InputError
from abstrag_bench.datasets.qasper import load
from tests.unit.bench.makers import write_json


def answer(*evidence: str, **fields: Any) -> dict[str, Any]:
    plain = {
        "unanswerable": False,
        "extractive_spans": [],
        "yes_no": None,
        "free_form_answer": "",
        "evidence": list(evidence),
    }
    return {"answer": {**plain, **fields}}


PAPER: dict[str, Any] = {
    "title": "On models",
    "abstract": "We study models.",
    "full_text": [
        {"section_name": "Introduction", "paragraphs": ["First.", "", "Said twice."]},
        {"section_name": "Method ::: Training", "paragraphs": ["Said twice.", "Last  one."]},
    ],
    "figures_and_tables": [
        {"file": "1.png", "caption": "Figure 1: A model."},
        {"file": "2.png", "caption": "Table 1: Scores."},
    ],
    "qas": [
        {
            "question": "How?",
            "question_id": "q1",
            "answers": [
                answer("Said twice.", "FLOAT SELECTED: Table 1: Scores.", free_form_answer="so"),
                answer("Last one.", extractive_spans=["a", "b"]),
                answer("nowhere to be found", extractive_spans=["c"]),
            ],
        },
        {"question": "Why?", "question_id": "q2", "answers": [answer(unanswerable=True)]},
        {
            "question": "Is it?",
            "question_id": "q3",
            "answers": [answer("We study models.", yes_no=False)],
        },
    ],
}


def data(folder: Path, paper: dict[str, Any] = PAPER) -> Path:
    write_json(folder / "qasper" / "qasper-dev-v0.3.json", {"1234.5678": paper})
    return folder


def test_spans_are_counted_as_the_file_does(tmp_path: Path) -> None:
    pool = load(data(tmp_path), "dev").cases[0].document
    assert pool.ids == ("abstract", "0.0", "0.2", "1.0", "1.1", "float.0", "float.1")
    assert pool.elements[3].section == ("Method", "Training")


def test_gold_is_matched_by_text_and_the_first_of_equals_is_meant(tmp_path: Path) -> None:
    dataset = load(data(tmp_path), "dev")
    first = dataset.cases[0]
    assert first.gold_sets == (("0.2", "float.1"), ("1.1",))
    assert first.gold == ("0.2", "float.1", "1.1")
    assert dataset.notes == ("1 evidence texts match no paragraph of their paper",)


def test_answers_are_what_the_official_evaluation_compares_with(tmp_path: Path) -> None:
    first, second, third = load(data(tmp_path), "dev").cases
    assert first.answers == ("so", "a, b", "c")
    assert first.group == "extractive"  # two annotators of three
    assert (second.answers, second.group, second.gold) == (("Unanswerable",), "unanswerable", ())
    assert (third.answers, third.group, third.gold) == (("No",), "yes_no", ("abstract",))


def test_floats_may_come_as_columns(tmp_path: Path) -> None:
    floats = {"caption": ["Figure 1: A model."], "file": ["1.png"]}
    pool = load(data(tmp_path, {**PAPER, "figures_and_tables": floats}), "dev").cases[0].document
    assert pool.ids[-1] == "float.0"


def test_every_file_of_the_split_is_read(tmp_path: Path) -> None:
    other = {**PAPER, "qas": [{**PAPER["qas"][1], "question_id": "q9"}]}
    write_json(data(tmp_path) / "qasper" / "qasper-dev-more.json", {"9": other})
    assert [case.case_id for case in load(tmp_path, "dev").cases] == ["q9", "q1", "q2", "q3"]


def test_truncated_json_is_named_with_its_line(tmp_path: Path) -> None:
    path = data(tmp_path) / "qasper" / "qasper-dev-v0.3.json"
    path.write_text('{"1234": {\n"title": "x"', "utf-8")
    with pytest.raises(InputError, match=r"qasper-dev-v0\.3\.json', line 2: not JSON"):
        load(tmp_path, "dev")


def test_a_paper_without_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"paper '1234\.5678': the field 'full_text' is missing"):
        load(data(tmp_path, {"title": "x", "qas": []}), "dev")
