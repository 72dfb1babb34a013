"""What was set aside stays so, with its reason, until somebody frees it or the file changes."""

from dataclasses import replace
from pathlib import Path

import pytest

from abstrag.engine.library import Library, Quarantine
from abstrag.engine.source_files import source_hash
from abstrag.errors import TooCostly
from abstrag.stores.sqlite import SqliteStore


@pytest.mark.parametrize("on_disk", [True, False])
def test_an_entry_is_found_listed_and_released(on_disk: bool, tmp_path: Path) -> None:
    kept = Quarantine(tmp_path / "quarantine" if on_disk else None)
    assert kept.find("c1") is None
    assert kept.entries() == ()
    made = kept.add("c1", "/texts/a.pdf", "it took too long")
    assert kept.find("c1") == made
    assert kept.entries() == (made,)
    kept.release("c1")
    kept.release("c1")
    assert kept.find("c1") is None


def test_an_entry_that_cannot_be_read_holds_nobody_back(tmp_path: Path) -> None:
    kept = Quarantine(tmp_path)
    kept.add("c1", "/texts/a.pdf", "it took too long")
    (tmp_path / "c1.json").write_bytes(b"{")
    assert kept.find("c1") is None
    assert kept.entries() == ()


def test_a_content_that_is_set_aside_is_not_tried_under_any_name_until_it_changes_or_is_retried(
    tmp_path: Path,
) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    for path in (first, second):
        path.write_text("The harbour was built in 1901.")
    kept = Quarantine(tmp_path / "quarantine")
    kept.add(source_hash(first), str(first), "it took too long")
    with SqliteStore.open(tmp_path / "store.db") as store:
        library = Library(store, quarantine=kept)
        outcomes = list(library.index_paths([first, second]))
        assert [(o.status, o.exit_code) for o in outcomes] == [("failed", TooCostly.exit_code)] * 2
        assert "it took too long" in (outcomes[0].error or "")
        assert "--retry" in (outcomes[0].hint or "")
        assert replace(library, retry=True).index_file(first).status == "indexed"
        assert kept.entries() == ()
        kept.add(source_hash(second), str(second), "it took too long")
        second.write_text("The harbour was built in 1902.")
        assert library.index_file(second).status == "indexed"
