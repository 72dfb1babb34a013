"""The glossary has every term once, and what it names is in the code."""

import re
from importlib import import_module
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "glossary.md"
ROW = re.compile(
    r"^\| (?P<term>[^|]+?) \|.*\| `(?P<module>[\w.]+):(?P<name>\w+)` \|$", re.MULTILINE
)
ROWS = [(row["term"], row["module"], row["name"]) for row in ROW.finditer(PAGE.read_text("utf-8"))]


def test_every_row_of_the_page_is_read() -> None:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    heads = sum(line.startswith("| term | symbol |") for line in lines)
    assert len(ROWS) == len(lines) - heads


def test_every_term_stands_there_once() -> None:
    terms = [term for term, _, _ in ROWS]
    assert sorted(terms) == sorted(set(terms))


@pytest.mark.parametrize(("module", "name"), [(module, name) for _, module, name in ROWS])
def test_what_a_term_names_is_in_the_code(module: str, name: str) -> None:
    full = module if module.startswith("abstrag_bench.") else f"abstrag.{module}"
    assert hasattr(import_module(full), name)
