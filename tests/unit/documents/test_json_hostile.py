"""JSON of ours with numbers and levels that nothing real has: one clear error each."""

import json
from typing import Any

import pytest

from abstrag.documents.json_form import load_json
from abstrag.documents.load import load_bytes
from abstrag.errors import AbstragError, Damaged, FileTooLarge
from abstrag.model.record import to_json


def short(**block: Any) -> bytes:
    return json.dumps({"title": "Made", "blocks": [{"text": "Some words.", **block}]}).encode()


@pytest.mark.parametrize("number", ["9" * 5_000, str(2**65), f"-{2**65}"])
@pytest.mark.parametrize("field", ["page", "level"])
def test_a_number_that_fits_nowhere_is_refused(field: str, number: str) -> None:
    data = short(**{field: 1}).replace(f'"{field}": 1'.encode(), f'"{field}": {number}'.encode())
    with pytest.raises(FileTooLarge, match=r"'a\.json' .* MAX_NUMBER_DIGITS") as caught:
        load_bytes(data, name="a.json")
    assert caught.value.hint
    assert len(str(caught.value)) < 200


def test_headings_of_ever_deeper_levels_are_refused() -> None:
    assert load_bytes(short(kind="heading", level=100), name="a.json").blocks[0].level == 100
    with pytest.raises(FileTooLarge, match=r"'a\.json' .* MAX_HEADING_LEVEL"):
        load_bytes(short(kind="heading", level=101), name="a.json")


@pytest.mark.parametrize("text", ["a \ud800 b", "\udfff"])
@pytest.mark.parametrize("field", ["text", "title"])
def test_a_lone_half_of_a_character_is_refused(field: str, text: str) -> None:
    whole = {"title": "Made", "blocks": [{"text": "Some words."}]}
    target: Any = whole if field == "title" else whole["blocks"][0]
    target[field] = text
    with pytest.raises(Damaged, match=r"'a\.json'"):
        load_bytes(json.dumps(whole).encode(), name="a.json")


@pytest.mark.parametrize(
    ("reach", "limit"),
    [
        ({"row_span": 10**12}, "MAX_TABLE_CELLS"),
        ({"row": 10**12}, "MAX_TABLE_CELLS"),
        ({"column_span": 99_999}, "MAX_TABLE_COLUMNS"),
    ],
)
def test_a_cell_that_reaches_beyond_every_table_is_refused(
    reach: dict[str, int], limit: str
) -> None:
    made = load_bytes(short(rows=[["a", "b"], ["1", "2"]]), name="a.json")
    whole = json.loads(to_json(made))
    whole["blocks"][0]["table"]["cells"][0].update(reach)
    with pytest.raises(FileTooLarge, match=limit):
        load_bytes(json.dumps(whole).encode(), name="a.json")


def test_lists_in_lists_without_end_are_refused() -> None:
    with pytest.raises(AbstragError, match=r"'a\.json'"):
        load_bytes(b'{"blocks":' + b"[" * 100_000, name="a.json")


def test_a_cell_that_does_not_read_as_its_span_is_refused() -> None:
    rows = {"kind": "table", "rows": [["Year", "t"], ["2022", "1,377"]]}
    whole = to_json(load_json(json.dumps({"blocks": [rows]}).encode(), "a.json"))
    assert load_json(whole.encode(), "a.json").blocks[0].table is not None
    cells, _, text = whole.rpartition('"1,377"')
    with pytest.raises(Damaged, match="reads otherwise"):
        load_json(f'{cells}"9,377"{text}'.encode(), "a.json")
