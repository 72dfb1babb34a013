"""The data sets whose evidence stands in tables and contracts: TAT-QA, FeTaQA, ContractNLI."""

from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import InputError
from abstrag_bench.datasets import contractnli, fetaqa, tatqa
from tests.unit.bench.makers import write_json, write_lines

ROWS = [
    ["", "2019", "2018"],
    ["", "$'000", "$'000"],
    ["Sales", "10", "9"],
    ["", "", ""],
    ["Cost", "4", "3"],
]


def context(*questions: dict[str, Any]) -> dict[str, Any]:
    return {
        "table": {"uid": "t-1", "table": ROWS},
        "paragraphs": [
            {"uid": "y", "order": 2, "text": "More words."},
            {"uid": "x", "order": 1, "text": "Sales grew."},
        ],
        "questions": [
            {
                "order": i,
                "question": "How much?",
                "answer_type": "span",
                "answer_from": "table",
                **q,
            }
            for i, q in enumerate(questions)
        ],
    }


def test_tatqa_reads_the_mapping_of_the_test_release(tmp_path: Path) -> None:
    mapped = {
        "uid": "q1",
        "answer": ["10"],
        "mappings": [{"table": [2, 1]}, {"paragraph_1": [0, 4]}],
    }
    write_json(tmp_path / "tatqa" / "tatqa-tune.json", [context(mapped)])
    case = tatqa.load(tmp_path, "tune").cases[0]
    assert (case.case_id, case.gold, case.answers) == ("q1", ("t2", "p1"), ("10",))
    assert case.document.ids == ("p1", "p2", "t0", "t1", "t2", "t4")  # t3 is blank


def test_tatqa_rows_carry_column_heads_and_title_lines(tmp_path: Path) -> None:
    asked = context({"uid": "q1", "answer": 3, "mappings": [{"table": [2, 1]}]})
    asked["table"]["table"] = [*ROWS, ["Per share:", "", ""], ["Basic", "1", "2"]]
    write_json(tmp_path / "tatqa" / "tatqa-tune.json", [asked])
    elements = {e.id: e.headers for e in tatqa.load(tmp_path, "tune").cases[0].document.elements}
    heads = ("2019", "2018", "$'000")
    assert elements["t0"] == ()
    assert elements["t4"] == elements["t5"] == heads
    assert elements["t6"] == (*heads, "Per share:")


def test_tatqa_reads_the_mapping_of_the_other_releases(tmp_path: Path) -> None:
    mapping = {"table": [[2, 1], [4, 2]], "paragraph": {"2": [[0, 4]]}}
    write_json(
        tmp_path / "tatqa" / "tatqa_dataset_dev.json",
        [context({"uid": "q1", "answer": 3, "mapping": mapping})],
    )
    assert tatqa.load(tmp_path, "dev").cases[0].gold == ("t2", "t4", "p2")


def test_rows_below_the_column_heads_carry_them(tmp_path: Path) -> None:
    write_json(
        tmp_path / "tatqa" / "tatqa-dev.json",
        [context({"uid": "q", "mappings": [{"table": [2, 1]}]})],
    )
    elements = {e.id: e for e in tatqa.load(tmp_path, "dev").cases[0].document.elements}
    assert elements["t2"].text == "Sales | 10 | 9"
    assert elements["t2"].headers == ("2019", "2018", "$'000")
    assert elements["t1"].headers == ()


def test_a_mapping_onto_a_blank_row_is_counted(tmp_path: Path) -> None:
    write_json(
        tmp_path / "tatqa" / "tatqa-dev.json",
        [context({"uid": "q", "mappings": [{"table": [3, 0]}]})],
    )
    dataset = tatqa.load(tmp_path, "dev")
    assert dataset.cases[0].gold == ()
    assert dataset.notes == ("1 mappings point at a blank row",)


def test_a_mapping_that_is_neither_table_nor_paragraph_is_an_error(tmp_path: Path) -> None:
    write_json(
        tmp_path / "tatqa" / "tatqa-dev.json",
        [context({"uid": "q", "mappings": [{"figure": [1]}]})],
    )
    with pytest.raises(InputError, match="context 0: a mapping points at 'figure'"):
        tatqa.load(tmp_path, "dev")


def test_fetaqa_cells_know_their_column_and_their_row(tmp_path: Path) -> None:
    line = {
        "feta_id": 5,
        "table_page_title": "A page",
        "table_section_title": "Awards",
        "table_array": [["Year", "Award"], ["2013", "Tony"], ["2014", ""]],
        "highlighted_cell_ids": [[1, 1], [2, 1]],
        "question": "Which?",
        "answer": "The Tony.",
    }
    write_lines(tmp_path / "fetaqa" / "fetaQA-v1_dev.jsonl", [line])
    dataset = fetaqa.load(tmp_path, "dev")
    case = dataset.cases[0]
    assert (case.case_id, case.gold) == ("5", ("t1.1",))
    assert case.document.ids == ("t0.0", "t0.1", "t1.0", "t1.1", "t2.0")
    tony = case.document.elements[3]
    assert (tony.headers, tony.section, tony.caption) == (("Award", "2013"), ("Awards",), "Awards")
    assert dataset.notes == ("1 highlighted cells are blank or marked twice",)


CONTRACT = {
    "documents": [
        {
            "id": 3,
            "file_name": "a.pdf",
            "text": "One. \n Two. Three.",
            "spans": [[0, 4], [4, 7], [7, 11], [12, 18]],
            "annotation_sets": [
                {
                    "annotations": {
                        "nda-1": {"choice": "Entailment", "spans": [0, 3]},
                        "nda-2": {"choice": "NotMentioned", "spans": []},
                    }
                }
            ],
        }
    ],
    "labels": {"nda-1": {"hypothesis": "It shall."}, "nda-2": {"hypothesis": "It may."}},
}


def test_contractnli_cases_are_documents_under_hypotheses(tmp_path: Path) -> None:
    write_json(tmp_path / "contractnli" / "dev.json", CONTRACT)
    first, second = contractnli.load(tmp_path, "dev").cases
    assert (first.case_id, first.query, first.gold) == ("3:nda-1", "It shall.", ("0", "3"))
    assert (second.case_id, second.gold, second.label) == ("3:nda-2", (), "NotMentioned")
    assert [e.text for e in first.document.elements] == ["One.", "Two.", "Three."]
    assert first.document.ids == ("0", "2", "3")


def test_a_span_the_contract_does_not_have_is_an_error(tmp_path: Path) -> None:
    text = (write_json(tmp_path / "contractnli" / "dev.json", CONTRACT)).read_text("utf-8")
    (tmp_path / "contractnli" / "dev.json").write_text(text.replace("[0, 3]", "[0, 9]"), "utf-8")
    with pytest.raises(InputError, match="document '3': hypothesis 'nda-1' names span 9"):
        contractnli.load(tmp_path, "dev")
