"""A file of each format, made by a real program, goes in and is cited where it stands."""

from pathlib import Path

import pytest

from abstrag import index
from abstrag.documents.load import load
from abstrag.engine.searcher import Searcher
from abstrag.model.ranking import Hit
from abstrag.search.relevance import FAST
from tests.unit.documents.test_real_files import FOLDER

CASES = [
    ("plant.pptx", "When did the second digester start?", "A second digester started", 1, None),
    ("plant.xlsx", "Why did the cardboard line stand still?", "The cardboard line", None, "A13"),
    ("inspections.csv", "Which valve leaked?", "A boiler valve leaked", None, "D2"),
    ("mill.epub", "What replaced the dam of oak?", "A dam of oak was built above", None, None),
    ("valve.eml", "Who checks the valve every morning?", "Per checks the valve", None, None),
    ("valve.mbox", "Who checks the valve every morning?", "Per checks the valve", None, None),
]


def first(path: Path, question: str) -> Hit:
    made = index(load(path))
    hit = Searcher(made, preset=FAST).search(question, k=1).hits[0]
    assert made.document.quote(hit.span) == hit.quote
    return hit


@pytest.mark.parametrize(("name", "question", "says", "page", "cell"), CASES)
def test_a_file_of_each_format_is_found_and_cited_where_it_stands(
    name: str, question: str, says: str, page: int | None, cell: str | None
) -> None:
    hit = first(FOLDER / name, question)
    assert says in hit.text
    assert (hit.page, hit.cell) == (page, cell)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("fees.md", "# Fees\n\n## Late\n\nA late fee of 4 euros is due after a week.\n"),
        (
            "fees.html",
            "<html><body><h1>Fees</h1><h2>Late</h2>"
            "<p>A late fee of 4 euros is due after a week.</p></body></html>",
        ),
    ],
)
def test_a_page_of_a_folder_is_cited_by_its_section(tmp_path: Path, name: str, data: str) -> None:
    (tmp_path / name).write_text(data)
    hit = first(tmp_path / name, "How much is the late fee?")
    assert hit.text == "A late fee of 4 euros is due after a week."
    assert hit.section[-1] == "Late"
