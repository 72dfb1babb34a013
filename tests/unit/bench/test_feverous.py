import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from abstrag.errors import InputError
from abstrag_bench.datasets.feverous import load
from tests.unit.bench.makers import write_json, write_lines


def cell(
    name: str, value: str, header: bool = False, rows: int = 1, columns: int = 1
) -> dict[str, Any]:
    return {
        "id": name,
        "value": value,
        "is_header": header,
        "row_span": str(rows),
        "column_span": str(columns),
    }


PAGE: dict[str, Any] = {
    "title": "Café Münch",
    "order": ["sentence_0", "section_0", "sentence_1", "list_0", "section_1", "table_0"],
    "sentence_0": "The [[Café|café]] opened   in 1901.",
    "section_0": {"value": "History", "level": 2},
    "sentence_1": "",
    "list_0": {
        "type": "unordered_list",
        "list": [
            {"id": "item_0_0", "value": "Tea", "level": 0},
            {"id": "item_0_1", "value": "", "level": 0},
        ],
    },
    "section_1": {"value": "Owners", "level": 3},
    "table_0": {
        "type": "table",
        "caption": "Owners by year",
        "table": [
            [
                cell("header_cell_0_0_0", "Name", True),
                cell("header_cell_0_0_1", "Years", True, columns=2),
            ],
            [
                cell("header_cell_0_1_0", "", True),
                cell("header_cell_0_1_1", "From", True),
                cell("header_cell_0_1_2", "To", True),
            ],
            [
                cell("cell_0_2_0", "[[Ada]]"),
                cell("cell_0_2_1", "1901", rows=2),
                cell("cell_0_2_2", "1910"),
            ],
            [cell("cell_0_3_0", "Bo"), cell("cell_0_3_2", "1920")],
        ],
    },
}


def claim(number: int, *sets: list[str], label: str = "SUPPORTS", **more: Any) -> dict[str, Any]:
    return {
        "id": number,
        "claim": "Ada owned it until 1910.",
        "label": label,
        "evidence": [{"content": one, "context": {}} for one in sets],
        "challenge": "Other",
        **more,
    }


CELL = "Café Münch_cell_0_2_2"
SENTENCE = "Café Münch_sentence_0"


def data(folder: Path, *claims: dict[str, Any]) -> Path:
    write_lines(
        folder / "feverous" / "feverous_dev.jsonl",
        [
            {"id": "", "claim": "", "label": "", "evidence": [{"content": [], "context": {}}]},
            *claims,
        ],
    )
    write_json(folder / "feverous" / "pages" / "cafe.json", PAGE)
    return folder


def test_elements_have_their_official_ids_and_their_heads(tmp_path: Path) -> None:
    case = load(data(tmp_path, claim(1, [CELL])), "dev").cases[0]
    elements = {e.id.removeprefix("Café Münch_"): e for e in case.document.elements}
    assert list(elements) == [
        "sentence_0",
        "item_0_0",
        "table_caption_0",
        "header_cell_0_0_0",
        "header_cell_0_0_1",
        "header_cell_0_1_1",
        "header_cell_0_1_2",
        "cell_0_2_0",
        "cell_0_2_1",
        "cell_0_2_2",
        "cell_0_3_0",
        "cell_0_3_2",
    ]
    assert elements["sentence_0"].text == "The café opened in 1901."
    assert elements["item_0_0"].section == ("History",)
    assert elements["cell_0_2_2"].headers == ("Years", "To")
    assert elements["cell_0_3_2"].headers == ("Years", "To")  # its row begins under a tall cell
    assert elements["cell_0_2_2"].section == ("History", "Owners")
    assert elements["cell_0_2_2"].caption == "Owners by year"
    assert elements["cell_0_2_0"].text == "Ada"


def test_a_second_band_of_heads_replaces_the_first(tmp_path: Path) -> None:
    rows = [
        [cell("header_cell_0_0_0", "Season", True)],
        [cell("cell_0_1_0", "2010")],
        [cell("header_cell_0_2_0", "Total", True)],
        [cell("cell_0_3_0", "7")],
    ]
    folder = data(tmp_path, claim(1, ["Café Münch_cell_0_3_0"]))
    page = {"title": "Café Münch", "order": ["table_0"], "table_0": {"type": "t", "table": rows}}
    write_json(folder / "feverous" / "pages" / "cafe.json", page)
    heads = {e.id[-10:]: e.headers for e in load(folder, "dev").cases[0].document.elements}
    assert heads["cell_0_1_0"] == ("Season",)
    assert heads["cell_0_3_0"] == ("Total",)


def test_gold_is_the_union_and_the_sets_are_kept(tmp_path: Path) -> None:
    case = load(data(tmp_path, claim(7, [CELL, SENTENCE], [SENTENCE])), "dev").cases[0]
    assert case.case_id == "7"
    assert case.gold == (CELL, SENTENCE)
    assert case.gold_sets == ((CELL, SENTENCE), (SENTENCE,))
    assert case.groups == {"label": "SUPPORTS", "challenge": "Other", "evidence_type": "both"}


def test_a_claim_that_cannot_be_verified_has_no_gold(tmp_path: Path) -> None:
    case = load(data(tmp_path, claim(7, [CELL], label="NOT ENOUGH INFO")), "dev").cases[0]
    assert (case.gold, case.label) == ((), "NEI")


def test_odd_tables_and_announced_but_absent_elements_do_no_harm(tmp_path: Path) -> None:
    odd = [
        [cell("header_cell_0_0_0", "Name", True) | {"column_span": "0"}],
        [cell("cell_0_1_0", "Ada") | {"row_span": "2;"}],
    ]
    page = {
        "title": "Café Münch",
        "order": ["sentence_0", "sentence_9", "list_4", "table_0"],
        "sentence_0": "It opened.",
        "table_0": {"type": "table", "table": odd},
    }
    folder = data(tmp_path, claim(1, ["Café Münch_cell_0_1_0"]))
    write_json(folder / "feverous" / "pages" / "cafe.json", page)
    elements = load(folder, "dev").cases[0].document.elements
    assert [e.text for e in elements] == ["It opened.", "Name", "Ada"]
    assert elements[-1].headers == ("Name",)


def test_pages_come_from_the_official_database_too(tmp_path: Path) -> None:
    import unicodedata

    write_lines(tmp_path / "feverous" / "feverous_dev_challenges.jsonl", [claim(1, [CELL])])
    connection = sqlite3.connect(tmp_path / "feverous" / "feverous_wikiv1.db")
    connection.execute("CREATE TABLE wiki (id PRIMARY KEY, data json)")
    decomposed = unicodedata.normalize("NFD", PAGE["title"])
    connection.execute("INSERT INTO wiki VALUES (?, ?)", (decomposed, json.dumps(PAGE)))
    connection.commit()
    connection.close()
    assert load(tmp_path, "dev").cases[0].gold == (CELL,)


def test_evidence_on_two_pages_makes_one_pool_of_both(tmp_path: Path) -> None:
    other = {"title": "Ada", "order": ["sentence_0"], "sentence_0": "Ada was born."}
    write_json(tmp_path / "feverous" / "pages" / "ada.json", other)
    case = load(data(tmp_path, claim(1, [CELL, "Ada_sentence_0"])), "dev").cases[0]
    assert case.document.id == "Café Münch + Ada"
    assert case.document.ids[-1] == "Ada_sentence_0"
    assert case.document.elements[-1].section == ("Ada",)


def test_a_claim_whose_page_is_missing_is_left_out_and_counted(tmp_path: Path) -> None:
    dataset = load(data(tmp_path, claim(1, [CELL]), claim(2, ["Nowhere_sentence_0"])), "dev")
    assert [case.case_id for case in dataset.cases] == ["1"]
    assert dataset.notes == ("1 claims left out: a page of their evidence is not there",)


def test_no_pages_at_all_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    write_lines(tmp_path / "feverous" / "feverous_dev.jsonl", [claim(1, [CELL])])
    with pytest.raises(InputError, match="there are no FEVEROUS pages") as caught:
        load(tmp_path, "dev")
    assert caught.value.hint is not None


def test_an_id_that_is_none_is_named_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2: 'Café' is no FEVEROUS element id"):
        load(data(tmp_path, claim(1, ["Café"])), "dev")
