"""The paper map: all it names is there, every value is the code's, and nothing is missing."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tools import paper_map

Data = dict[str, Any]
MAP = paper_map.load()


def test_everything_the_map_names_is_there() -> None:
    assert paper_map.faults(MAP) == []


def test_the_page_is_what_the_map_says() -> None:
    assert paper_map.PAGE.read_text("utf-8") == paper_map.render(MAP), (
        "run: python tools/paper_map.py"
    )


def test_every_row_and_every_reason_is_on_the_page() -> None:
    page = paper_map.render(MAP)
    for row in MAP["row"]:
        assert f"`{row['id']}`" in page
    for row in (*MAP["constant"], *MAP["left_out"]):
        assert row["what"] in page


def _first(data: Data, part: str = "row") -> Data:
    found: Data = data[part][0]
    return found


def _program(data: Data) -> Data:
    found: Data = next(row for row in data["row"] if "program" in row)
    return found


SPOILT: dict[str, Callable[[Data], object]] = {
    "no such module": lambda d: _first(d).update(code=["search.nowhere:gap"]),
    "no such name": lambda d: _first(d).update(code=["search.lookup:nobody"]),
    "no such method": lambda d: _first(d).update(code=["model.term:Edge.nobody"]),
    "no such test": lambda d: _first(d).update(tests=["unit/search/test_lookup.py::nobody"]),
    "no tests": lambda d: _first(d).update(tests=[]),
    "no code": lambda d: _first(d).update(code=[]),
    "an id twice": lambda d: _first(d).update(id=d["row"][1]["id"]),
    "another value": lambda d: _first(d, "constant").update(value=0.36),
    "no such constant": lambda d: _first(d, "constant").update(key="nothing"),
    "a constant nobody names": lambda d: d["ours"].pop("KAPPA"),
    "a constant that is gone": lambda d: d["ours"].update(OMICRON="made up"),
    "no reason": lambda d: _first(d, "left_out").update(reason=""),
    "a label nobody answers for": lambda d: d["labels"].append("eq:forgotten"),
    "a label that is not the paper's": lambda d: _first(d).update(label=["eq:invented"]),
    "no such program": lambda d: _program(d).update(program="nobody"),
}


@pytest.mark.parametrize("kind", SPOILT)
def test_a_spoilt_map_is_noticed(kind: str) -> None:
    data = deepcopy(MAP)
    SPOILT[kind](data)
    assert paper_map.faults(data)


def test_the_labels_of_the_paper_are_compared_with_the_maps() -> None:
    written = "".join(f"\\label{{{label}}}" for label in MAP["labels"])
    assert paper_map.faults(MAP, written) == []
    (fault,) = paper_map.faults(MAP, written + "\\label{eq:new}")
    assert "'eq:new' is only in the paper" in fault
