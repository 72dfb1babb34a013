"""Files as they really lie about: each that cannot be read is told of, and the others are done."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from abstrag.engine.library import Library
from abstrag.engine.searcher import Searcher
from abstrag.engine.source_files import DueFile, IndexOutcome, own_id
from abstrag.errors import DocumentError, InputError, NotAFile
from abstrag.search.relevance import FAST
from abstrag.stores.sqlite import SqliteStore

SAID = "The harbour was built in 1901."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "texts"
    made.mkdir()
    (made / "good.txt").write_text(SAID)
    return made


def outcomes(tmp_path: Path, *paths: Path) -> dict[str, IndexOutcome]:
    with SqliteStore.open(tmp_path / "store.db") as store:
        library = Library(store)
        made = library.index_paths(list(paths))
        return {Path(o.path).name: library.still_held(o) for o in made}


def test_links_pipes_and_circles_in_a_folder_are_told_and_the_rest_is_done(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "gone.txt").symlink_to(folder / "nowhere.txt")
    (folder / "circle.txt").symlink_to(folder / "circle.txt")
    os.mkfifo(folder / "pipe.txt")
    (folder / "null.txt").symlink_to("/dev/zero")
    (folder / "up").symlink_to(folder)
    made = outcomes(tmp_path, folder)
    assert made["good.txt"].status == "indexed"
    said = {name: o.error or "" for name, o in made.items() if o.status == "failed"}
    assert "no file" in said["gone.txt"]
    assert "leads nowhere" in said["circle.txt"]
    assert "not a regular file" in said["pipe.txt"]
    assert "not a regular file" in said["null.txt"]
    assert not any("foresaw" in error for error in said.values())


@pytest.mark.parametrize("name", ["a\0b.txt", "n" * 5000, "circle", "caf\udce9.txt"])
def test_a_path_that_is_none_is_one_error(name: str, folder: Path, tmp_path: Path) -> None:
    (folder / "circle").symlink_to(folder / "circle")
    made = outcomes(tmp_path, folder / name, folder / "good.txt")
    assert [o.status for o in made.values()] == ["failed", "indexed"]
    assert not any("foresaw" in (o.error or "") for o in made.values())


def test_a_file_whose_name_is_no_text_is_refused_and_printed(folder: Path, tmp_path: Path) -> None:
    (folder / "caf\udce9.txt").write_text(SAID + " And so on.")
    program = "from abstrag.cli.main import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", program, "index", folder, "--store", tmp_path / "store.db"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
        check=False,
    )
    assert run.returncode == 16
    assert b"caf\\udce9.txt" in run.stderr
    assert b"is no text in UTF-8" in run.stderr or b"not valid Unicode" in run.stderr
    assert b"Traceback" not in run.stderr
    assert b"good" in run.stdout


def test_a_folder_that_may_not_be_listed_is_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "closed").mkdir()
    listing = os.scandir

    def scandir(path: str) -> Any:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", path)
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
    made = outcomes(tmp_path, folder)
    assert made["good.txt"].status == "indexed"
    assert made["closed"].status == "failed"


def test_a_pipe_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "pipe.json")
    with pytest.raises(NotAFile, match="not a regular file"):
        own_id(folder / "pipe.json")


def test_odd_neighbours_of_a_latex_file_do_not_stop_it(folder: Path, tmp_path: Path) -> None:
    main = folder / "main.tex"
    main.write_text("\\documentclass{article}\\begin{document}" + SAID + "\\end{document}")
    (folder / ".#main.tex").symlink_to("user@machine.123:456")
    (folder / "gone.tex").symlink_to(folder / "nowhere.tex")
    (folder / "circle.tex").symlink_to(folder / "circle.tex")
    os.mkfifo(folder / "pipe.tex")
    (folder / "folder.tex").mkdir()
    (folder / "caf\udce9.tex").write_text("\\section{Other}")
    made = outcomes(tmp_path, folder)
    assert made["main.tex"].status == made["good.txt"].status == "indexed"
    assert not any("foresaw" in (o.error or "") for o in made.values())


def test_a_file_that_changes_while_it_is_read_is_told_and_read_the_next_time(
    folder: Path, tmp_path: Path
) -> None:
    path = folder / "good.txt"
    with SqliteStore.open(tmp_path / "store.db") as store:
        library = Library(store)
        due = library.due(path, {})
        assert isinstance(due, DueFile)
        path.write_text("Somebody writes to it.")
        with pytest.raises(DocumentError, match="changed while it was read"):
            library.do(due)
        assert store.documents() == ()
        assert library.index_file(path).status == "indexed"
        assert library.index_file(path).status == "unchanged"


def test_half_a_character_in_a_query_is_refused(tmp_path: Path, folder: Path) -> None:
    with SqliteStore.open(tmp_path / "store.db") as store:
        index = Library(store).open(str(folder / "good.txt"))
    with pytest.raises(InputError, match="no text in UTF-8"):
        Searcher(index, preset=FAST).search("Who built the \ud800 harbour?")


def test_half_a_character_in_our_json_is_one_error_or_none(folder: Path, tmp_path: Path) -> None:
    (folder / "half.json").write_text(
        '{"id": "half", "title": "T", "sections": [{"title": "A", "text": "The \\ud800 harbour."}]}'
    )
    made = outcomes(tmp_path, folder)
    assert made["good.txt"].status == "indexed"
    assert "foresaw" not in (made["half.json"].error or "")
