"""The blocks of README for each framework do what they show."""

from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.frameworks.ferries import BOUGHT
from tests.test_docs import ELSEWHERE, FENCE, ROOT

PAGES = [ROOT / "README.md", ROOT / "docs" / "frameworks.md"]
LINES = 10


def python_blocks(page: Path, *, marked: bool) -> list[str]:
    """Return the Python blocks of a page that run here, or those that run everywhere."""
    return [
        match["body"]
        for match in FENCE.finditer(page.read_text("utf-8"))
        if match["kind"] == "python" and (match["mark"] == ELSEWHERE) == marked
    ]


BLOCKS = [(page, block) for page in PAGES for block in python_blocks(page, marked=True)]


@pytest.mark.parametrize(("page", "block"), BLOCKS)
def test_a_block_finds_the_evidence(page: Path, block: str, tmp_path: Path) -> None:
    names: dict[str, Any] = {"__name__": "__main__"}
    printed = StringIO()
    with redirect_stdout(StringIO()):
        exec(python_blocks(page, marked=False)[0], names)
    with redirect_stdout(printed):
        exec(compile(block, str(page), "exec"), names)
    assert BOUGHT in printed.getvalue()


def test_there_is_a_block_of_ten_lines_at_most_for_each_framework() -> None:
    blocks = python_blocks(PAGES[0], marked=True)
    assert len(blocks) == 4
    assert [block for block in blocks if len(block.splitlines()) > LINES] == []
