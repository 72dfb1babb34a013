"""How far indexing is, where nobody watches a bar."""

from pathlib import Path

import pytest

from abstrag.cli.index import EVERY_S, IndexingProgress, outcome_counts
from abstrag.cli.output import progress
from abstrag.engine.source_files import IndexOutcome, IndexReason

NEW = IndexOutcome("a.txt", "indexed", "a", why=IndexReason.NEW)
CHANGED = IndexOutcome("b.txt", "indexed", "b", replaces="b", why=IndexReason.CHANGED)
AGAIN = IndexOutcome("c.txt", "indexed", "c", replaces="c", why=IndexReason.AGAIN)
SAME, FAILED = IndexOutcome("d.txt", "unchanged", "d"), IndexOutcome("e.txt", "failed")


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_new_changed_and_unchanged_files_are_counted_apart() -> None:
    said = outcome_counts([FAILED, SAME, SAME, AGAIN, CHANGED, NEW, NEW])
    assert said == "2 new, 1 changed, 1 indexed again, 2 unchanged, 1 failed"


def test_a_pipe_gets_a_line_with_the_page_only_when_some_seconds_have_passed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock = Clock()
    with progress(None) as bar:
        told = IndexingProgress(bar, clock)
        told.on_file(Path("scans/long.pdf"))
        told.on_page(1, 90)
        clock.now = EVERY_S
        told.on_page(2, 90)
        told.on_page(3, 90)
        clock.now = 2 * EVERY_S
        told.on_step("segment")
        clock.now = 3 * EVERY_S
        told.on_outcome(NEW)
    assert capsys.readouterr().err.splitlines() == [
        "long.pdf page 2 of 90",
        "long.pdf segment",
        "1 new; long.pdf",
    ]
