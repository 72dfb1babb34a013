"""Another Background for a document that the store has: only what it can change is made anew."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstrag.engine import library as engine_library
from abstrag.engine.library import Library
from abstrag.model.background import Background
from abstrag.model.record import to_json
from abstrag.stores.sqlite import SqliteStore

TEXT = "# Harbour\n\nThe Berta lay at berth four. She was unloaded on Monday."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    (tmp_path / "harbour.md").write_text(TEXT)
    with SqliteStore.open(tmp_path / "store.db") as opened:
        Library(opened).index_file(tmp_path / "harbour.md")
        yield opened


def indexed(store: SqliteStore, path: Path, background: Background) -> list[str]:
    """Index a file with a Background, and return the operators that ran."""
    ran: list[str] = []
    outcome = Library(store, background, on_step=ran.append).index_file(path)
    assert outcome.status == "indexed"
    return ran


def test_the_file_is_not_read_again_for_another_background(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def load(*_: Any, **__: Any) -> Any:
        raise AssertionError("the file is read again")

    path = tmp_path / "harbour.md"
    classes = Background(classes={"Berta": ("bulk carrier",)}, name="own")
    with monkeypatch.context() as patched:
        patched.setattr(engine_library, "load", load)
        assert indexed(store, path, classes)[0] == "abstract_concepts"
    with SqliteStore.open(tmp_path / "fresh.db") as other:
        indexed(other, path, classes)
        assert to_json(store.get("harbour")) == to_json(other.get("harbour"))


def test_names_that_the_document_lacks_leave_the_rest_of_its_index_alone(
    store: SqliteStore, tmp_path: Path
) -> None:
    aliases = Background(aliases={"Zugspitze": ("the Zug",)}, name="own")
    ran = indexed(store, tmp_path / "harbour.md", aliases)
    assert ran == ["normalize_entities", "build_map"]


def test_a_changed_file_is_read(store: SqliteStore, tmp_path: Path) -> None:
    path = tmp_path / "harbour.md"
    path.write_text(TEXT.replace("Monday", "Friday"))
    assert indexed(store, path, Background(name="own"))[0] == "segment"
    assert "Friday" in store.get("harbour").document.text
