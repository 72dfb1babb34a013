"""The documents and questions of kinds that no shipped weight has seen."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from abstrag.errors import InputError
from abstrag_bench.datasets.load import load_dataset
from abstrag_bench.record import CaseRecord
from tools import unseen_kinds
from tools.unseen_kinds import PARTS, build, listed, questions, table

PAGE = """<html><head><title>The lamp</title></head><body><h1>The lamp</h1>
<h2>Care</h2><p>Wipe the glass with a dry cloth once a week.</p>
<h2>Repair</h2><p>Only the maker may open the case.</p><p>Ask him first.</p></body></html>"""
DOCUMENT = {
    "id": "lamp",
    "title": "The lamp",
    "kind": "device manual",
    "part": "tune",
    "files": ["lamp.html"],
}
QUESTION = {
    "id": "lamp-1",
    "document": "lamp",
    "query": "Who can take it apart?",
    "gold": ["Only the maker"],
}


def test_every_question_is_asked_of_a_listed_document_once() -> None:
    asked = list(questions())
    assert {one["document"] for one in asked} == {one["id"] for one in listed()}
    assert max(Counter(one["id"] for one in asked).values()) == 1
    assert all(one["query"] and one["gold"] for one in asked)


def test_every_kind_has_a_document_for_choosing_and_another_for_reporting() -> None:
    kinds = {(one["kind"], one["part"]) for one in listed()}
    assert kinds == {(kind, part) for kind, _ in kinds for part in PARTS}
    assert len(listed()) == len(kinds)


def test_the_data_set_that_is_built_can_be_measured(tmp_path: Path) -> None:
    (tmp_path / "lamp.html").write_text(PAGE)
    lines = build(tmp_path, [DOCUMENT], [QUESTION])["tune"]
    (tmp_path / "mine.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (case,) = load_dataset("plain", tmp_path, "mine").cases
    assert case.gold == ("1",)
    assert [one.section for one in case.document.elements] == [("Care",), ("Repair",), ("Repair",)]
    assert case.group == "device manual"


def test_only_the_sections_that_are_named_are_taken(tmp_path: Path) -> None:
    (tmp_path / "lamp.html").write_text(PAGE)
    lines = build(tmp_path, [{**DOCUMENT, "sections": ["Repair"]}], [QUESTION])["tune"]
    assert len(lines[0]["elements"]) == 2


def test_a_quotation_that_no_passage_has_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "lamp.html").write_text(PAGE)
    with pytest.raises(InputError, match="0 passages of lamp have 'Nobody'"):
        build(tmp_path, [DOCUMENT], [{**QUESTION, "gold": ["Nobody"]}])


def test_the_questions_lie_where_the_tool_says() -> None:
    assert (unseen_kinds.HERE / "questions.jsonl").is_file()


def test_the_table_sets_ours_against_the_baseline_that_is_best_at_the_kind() -> None:
    first = {"bm25": ("manual",), "dense": ("licence",), "abstrag": ("manual", "licence")}
    records = [
        CaseRecord(
            dataset="plain",
            split="x",
            case_id=f"{kind}-{number}",
            system=system,
            query="?",
            ranked=("1", "2") if kind in good else ("2", "1"),
            scores=(2.0, 1.0),
            gold=("1",),
            gold_sets=(("1",),),
            document=kind,
            pool=2,
            group=kind,
        )
        for system, good in first.items()
        for kind in ("manual", "licence")
        for number in range(2)
    ]
    head, _, manual, licence, mean = table(records).splitlines()
    assert head == "| kind | bm25 | dense | abstrag | best baseline | abstrag less it |"
    assert manual == "| manual | 100.0 | 63.1 | 100.0 | bm25 | +0.0 [+0.0, +0.0] |"
    assert licence == "| licence | 63.1 | 100.0 | 100.0 | dense | +0.0 [+0.0, +0.0] |"
    assert mean == "| mean of kinds | 81.5 | 81.5 | 100.0 |  | median +0.0, mean +0.0 |"
