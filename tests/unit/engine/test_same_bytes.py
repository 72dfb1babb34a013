"""The same bytes are one document, wherever they lie; new bytes at a path are a new version."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from abstrag.engine.library import Library
from abstrag.engine.source_files import IndexOutcome, IndexReason
from abstrag.stores.copying import copy_store
from abstrag.stores.sqlite import SqliteStore
from abstrag.workers.processes import Processes
from abstrag.workspace.many_files import index_many
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.unit.engine.folders import write

TEXT = "The pier was mended in 2021. The ferry left at noon."
NEWER = "The pier was mended in 2021 and again in 2024."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path / "same.db") as opened:
        yield opened


def told(outcomes: Iterator[IndexOutcome]) -> list[tuple[str, str, str | None]]:
    return [(Path(o.path).name, o.status, o.document) for o in outcomes]


def places_of(store: SqliteStore, name: str) -> list[str]:
    return [Path(path).name for path in store.places(name)]


def test_a_second_file_with_the_same_bytes_is_the_same_document(
    store: SqliteStore, tmp_path: Path
) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    write(first, TEXT)
    write(second, TEXT)
    library = Library(store)
    library.index_file(first)
    outcome = library.index_file(second)
    assert (outcome.status, outcome.document) == ("same", "a")
    assert outcome.same_as == str(first)
    assert [info.id for info in store.documents()] == ["a"]
    assert library.locate(str(second)).id == "a"
    assert library.index_file(second).status == "same"
    assert library.index_file(first).status == "unchanged"


@pytest.mark.parametrize("workers", [0, 1])
def test_of_files_with_the_same_bytes_in_one_run_the_first_is_indexed(
    workers: int, tmp_path: Path
) -> None:
    folder = tmp_path / "notes"
    for name in ("a.txt", "b.txt", "c.txt"):
        write(folder / name, TEXT if name != "b.txt" else NEWER)
    with Workspace(WorkspaceConfig(tmp_path / "run.db")) as workspace:
        if workers:
            made = told(index_many(workspace, [folder], Processes(workers)))
        else:
            made = told(workspace.library.index_paths([folder]))
        documents = [info.id for info in workspace.store.documents()]
        places = workspace.store.places("a")
    wanted = [("a.txt", "indexed", "a"), ("b.txt", "indexed", "b"), ("c.txt", "same", "a")]
    assert made == wanted
    assert documents == ["a", "b"]
    assert places == (str(folder / "c.txt"),)


def test_a_file_with_the_bytes_of_one_that_failed_fails_as_it_did(
    store: SqliteStore, tmp_path: Path
) -> None:
    for name in ("a.pdf", "b.pdf"):
        write(tmp_path / name, "%PDF-1.7 and no more")
    first, second = Library(store).index_paths([tmp_path / "a.pdf", tmp_path / "b.pdf"])
    assert (first.status, second.status) == ("failed", "failed")
    assert (second.path, second.exit_code) == (str(tmp_path / "b.pdf"), first.exit_code)


def test_bytes_that_are_read_in_another_way_are_another_document(
    store: SqliteStore, tmp_path: Path
) -> None:
    for name in ("a.txt", "a.md"):
        write(tmp_path / name, "# The pier\n\nThe pier was mended.")
    outcomes = list(Library(store).index_paths([tmp_path / "a.txt", tmp_path / "a.md"]))
    assert [o.status for o in outcomes] == ["indexed", "indexed"]
    assert len(store.documents()) == 2


def test_a_new_version_at_a_path_replaces_the_document_and_is_said_to_be_one(
    store: SqliteStore, tmp_path: Path
) -> None:
    path, library = tmp_path / "a.txt", Library(store)
    write(path, TEXT)
    library.index_file(path)
    write(path, NEWER)
    outcome = library.index_file(path)
    assert (outcome.why, outcome.replaces, outcome.document) == (IndexReason.CHANGED, "a", "a")
    assert store.get("a").document.text == NEWER


def test_a_copy_that_changes_becomes_a_document_of_its_own(
    store: SqliteStore, tmp_path: Path
) -> None:
    first, second, library = tmp_path / "a.txt", tmp_path / "b.txt", Library(store)
    write(first, TEXT)
    write(second, TEXT)
    list(library.index_paths([first, second]))
    write(second, NEWER)
    outcome = library.index_file(second)
    assert (outcome.why, outcome.replaces, outcome.document) == (IndexReason.CHANGED, None, "b")
    assert (store.get("a").document.text, store.get("b").document.text) == (TEXT, NEWER)
    assert store.places("a") == ()


def test_what_a_changed_file_held_stays_where_the_same_bytes_lie_elsewhere(
    store: SqliteStore, tmp_path: Path
) -> None:
    files = [tmp_path / name for name in ("a.txt", "b.txt", "c.txt")]
    library = Library(store)
    for file in files:
        write(file, TEXT)
    list(library.index_paths(files))
    write(files[0], NEWER)
    library.index_file(files[0])
    assert store.get("a").document.text == NEWER
    kept = store.find_source(str(files[1]))
    assert kept is not None
    assert (kept.id, store.get(kept.id).document.text) == ("b", TEXT)
    assert places_of(store, "b") == ["c.txt"]
    assert [library.index_file(file).status for file in files] == ["unchanged", "unchanged", "same"]


def test_a_file_that_was_moved_keeps_its_document_and_its_name(
    store: SqliteStore, tmp_path: Path
) -> None:
    old, new, library = tmp_path / "a.txt", tmp_path / "moved.txt", Library(store)
    write(old, TEXT)
    library.index_file(old)
    old.rename(new)
    outcome = library.index_file(new)
    assert (outcome.status, outcome.document, outcome.same_as) == ("same", "a", str(old))
    assert store.find("a").source_path == str(new)
    assert library.index_file(new).status == "unchanged"


def test_a_copy_of_a_store_knows_the_same_paths(store: SqliteStore, tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt"):
        write(tmp_path / name, TEXT)
    list(Library(store).index_paths([tmp_path / "a.txt", tmp_path / "b.txt"]))
    with SqliteStore.open(tmp_path / "copy.db") as target:
        copy_store(store, target)
        assert target.places("a") == store.places("a") == (str(tmp_path / "b.txt"),)
