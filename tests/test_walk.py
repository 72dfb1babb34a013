"""CONTRIBUTING tells the way of a question file by file; this follows one and compares."""

import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import abstrag
from abstrag import AbstRAG

PACKAGE = Path(abstrag.__file__).parent
DEMO = PACKAGE / "data" / "demo"
PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text("utf-8")
WALKS: dict[str, Callable[[AbstRAG, str], object]] = {
    "A search": lambda rag, query: rag.search(query, document="chips"),
    "A collection": lambda rag, query: rag.search_all(query),
    "A refinement": lambda rag, query: rag.refine(query, document="chips"),
}


def listed(title: str) -> list[str]:
    """Return the files that the page lists under a title."""
    part = PAGE.partition(f"### {title}\n")[2].partition("\n##")[0]
    return re.findall(r"^\d+\. `([\w/]+\.py)`", part, re.MULTILINE)


def entered(work: Callable[[], object]) -> list[str]:
    """Return the files of the package in the order in which a call first enters them."""
    found: dict[str, None] = {}

    def called(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_name != "<module>":
            path = Path(frame.f_code.co_filename)
            if path.is_relative_to(PACKAGE):
                found.setdefault(path.relative_to(PACKAGE).as_posix())

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return list(found)


@pytest.fixture(scope="module")
def rag(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Two documents that have been asked before, so that nothing is loaded on the way."""
    with AbstRAG(tmp_path_factory.mktemp("walk") / "store.db") as made:
        for name in ("chips.md", "water.md"):
            made.index(DEMO / name)
        for walk in WALKS.values():
            walk(made, "Who visited the head of the division?")
        yield made


@pytest.mark.parametrize("title", WALKS)
def test_a_question_goes_through_the_listed_files_in_their_order(title: str, rag: AbstRAG) -> None:
    wanted = listed(title)
    assert len(wanted) > 5
    found = entered(lambda: WALKS[title](rag, "Which AI firm teamed up with TSMC?"))
    assert [name for name in found if name in wanted] == wanted
