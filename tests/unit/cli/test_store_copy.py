"""`abstrag store copy` between two files: counts, names, and what it refuses."""

from dataclasses import replace
from pathlib import Path

import pytest

from abstrag.cli.main import main
from abstrag.errors import StoreError
from abstrag.model.index import DocumentIndex
from abstrag.stores.copying import copy_store
from abstrag.stores.sqlite import SqliteStore
from abstrag.testing.sample_index import sample_index


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "a.db"
    with SqliteStore.open(path) as store:
        store.put(sample_index(), source_path="/a", source_hash="1")
        store.put(sample_index(), source_path="/b", source_hash="1")
    return path


def test_copying_again_copies_only_what_changed(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "b.db"
    main(["store", "copy", str(source), str(target)])
    assert "2 of 2 documents copied and compared, 0 there already" in capsys.readouterr().out
    with SqliteStore.open(source) as store:
        store.put(sample_index(title="Changed"), source_path="/b", source_hash="2")
    main(["store", "copy", str(source), str(target)])
    assert "1 of 2 documents copied and compared, 1 there already" in capsys.readouterr().out
    with SqliteStore.open(source) as old, SqliteStore.open(target) as new:
        assert [info.id for info in new.documents()] == [info.id for info in old.documents()]
        assert [new.get(i.id) for i in new.documents()] == [old.get(i.id) for i in old.documents()]


def test_a_document_that_is_called_otherwise_in_the_target_is_told(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "b.db"
    with SqliteStore.open(target) as store:
        store.put(sample_index(title="Theirs"), source_path="/theirs", source_hash="9")
    main(["store", "copy", str(source), str(target)])
    assert "trip is called trip-" in capsys.readouterr().out
    with SqliteStore.open(target) as store:
        assert store.get("trip").document.title == "Theirs"
        assert len(store.documents()) == 3


def test_a_target_that_gives_back_something_else_is_an_error(source: Path, tmp_path: Path) -> None:
    class Forgetful(SqliteStore):
        def get(self, document_id: str) -> DocumentIndex:
            return replace(super().get(document_id), frames=())

    with (
        SqliteStore.open(source) as old,
        Forgetful.open(tmp_path / "b.db") as new,
        pytest.raises(StoreError, match="does not come back") as caught,
    ):
        copy_store(old, new)
    assert caught.value.hint is not None


@pytest.mark.parametrize(("arguments", "code"), [(("a.db", "a.db"), 2), (("none.db", "b.db"), 13)])
def test_what_cannot_be_copied_is_said(
    source: Path,
    arguments: tuple[str, str],
    code: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(source.parent)
    with pytest.raises(SystemExit) as caught:
        main(["store", "copy", *arguments])
    assert caught.value.code == code
    assert "hint:" in capsys.readouterr().err
    assert not Path("b.db").exists()
