import sqlite3
import tracemalloc
from pathlib import Path

import pytest

from abstrag.backgrounds.build import build
from abstrag.backgrounds.compiled import CompiledBackground, is_compiled, load, survey
from abstrag.backgrounds.source import BackgroundSource
from abstrag.errors import BackgroundError
from abstrag.model.background import Background
from abstrag.stores.sqlite import is_store
from tests.unit.backgrounds.samples import table


def test_the_same_sources_are_compiled_once(tmp_path: Path) -> None:
    source, output = table(tmp_path, "alias,name\nBig Blue,IBM\n"), tmp_path / "bg.db"
    assert build([source], output)
    before = output.stat()
    assert not build([source], output)
    assert output.stat() == before
    table(tmp_path, "alias,name\nBig Blue,I.B.M.\n")
    assert build([source], output)


def test_how_far_a_source_is_believed_is_part_of_its_identity(tmp_path: Path) -> None:
    path = table(tmp_path, "alias,name\nBig Blue,IBM\n").path
    build([BackgroundSource.of(path)], tmp_path / "bg.db")
    assert build([BackgroundSource.of(path, 0.3)], tmp_path / "bg.db")


def test_the_same_sources_give_the_same_bytes(tmp_path: Path) -> None:
    source = table(tmp_path, "thing,class\nb,c\na,b\na,c\n")
    for name in ("one.db", "two.db"):
        build([source], tmp_path / name)
    assert (tmp_path / "one.db").read_bytes() == (tmp_path / "two.db").read_bytes()


def test_a_fault_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    source, output = table(tmp_path, "alias,name\nBig Blue,IBM\n"), tmp_path / "bg.db"
    build([source], output)
    before = output.read_bytes()
    table(tmp_path, "alias,name\nBig Blue,IBM\nbroken\n")
    with pytest.raises(BackgroundError, match="line 3"):
        build([source], output)
    assert output.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["aliases.csv", "bg.db"]


@pytest.mark.parametrize("text", ["", "alias,name\n", "\n\n"])
def test_a_source_without_entries_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(BackgroundError, match="holds no entries"):
        build([table(tmp_path, text)], tmp_path / "bg.db")


def test_a_file_that_is_something_else_is_not_overwritten(tmp_path: Path) -> None:
    output = tmp_path / "thesis.db"
    output.write_text("years of work")
    with pytest.raises(BackgroundError, match="no compiled Background"):
        build([table(tmp_path, "alias,name\na,b\n")], output)
    assert output.read_text() == "years of work"


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BackgroundError, match=r"bg\.db' cannot be written"):
        build([table(tmp_path, "alias,name\na,b\n")], tmp_path / "file" / "bg.db")


def test_a_compiled_file_is_told_from_a_store_and_from_a_background_file(tmp_path: Path) -> None:
    build([table(tmp_path, "alias,name\na,b\n")], tmp_path / "bg.db")
    (tmp_path / "bg.toml").write_text('known = ["x"]')
    assert is_compiled(tmp_path / "bg.db")
    assert not is_store(tmp_path / "bg.db")
    assert isinstance(load(tmp_path / "bg.db"), CompiledBackground)
    assert load(tmp_path / "bg.toml") == Background(known=("x",), name="bg.toml")


def test_a_damaged_or_foreign_compiled_file_is_refused(tmp_path: Path) -> None:
    output = tmp_path / "bg.db"
    build([table(tmp_path, "alias,name\na,b\n")], output)
    whole = output.read_bytes()
    output.write_bytes(whole[:4096])
    with pytest.raises(BackgroundError, match="cannot be read"):
        CompiledBackground.open(output)
    output.write_bytes(whole)
    with sqlite3.connect(output) as base:
        base.execute("PRAGMA user_version = 99")
    base.close()
    with pytest.raises(BackgroundError, match="another version"):
        CompiledBackground.open(output)
    with pytest.raises(BackgroundError, match="no compiled Background at"):
        CompiledBackground.open(tmp_path / "gone.db")


def test_a_survey_counts_what_is_odd(tmp_path: Path) -> None:
    aliases = table(
        tmp_path,
        "alias,name,cost\nBig Blue,IBM,0.5\nBig Blue,IBM,0.5\nBig Blue,IBM,0.9\n"
        "Mercury,Mercury Systems,\nMercury,Freddie Mercury,\n",
    )
    classes = table(tmp_path, "thing,class\na,b\nb,c\nc,a\nc,top\nleaf,a\nx,x\n", "classes.csv")
    build([aliases, classes], tmp_path / "bg.db")
    found = survey(tmp_path / "bg.db")
    assert (found.duplicates, found.conflicts) == (2, 1)
    assert (found.homonyms, found.homonym_examples) == (1, ("Mercury",))
    assert (found.in_circles, found.circle_examples) == (3, ("a", "b", "c"))
    assert [(s.name, s.facts, s.distance) for s in found.sources] == [
        ("aliases.csv", 10, None),
        ("classes.csv", 18, None),
    ]


def test_two_files_of_one_name_are_told_apart_by_their_paths(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    first = table(tmp_path, "alias,name\na,b\n")
    second = table(tmp_path / "more", "alias,name\nc,d\n")
    build([first, second], tmp_path / "bg.db")
    assert [s.name for s in survey(tmp_path / "bg.db").sources] == [
        str(first.path),
        str(second.path),
    ]


def test_memory_does_not_grow_with_the_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def peak(lines: int) -> int:
        rows = "".join(f"alias {i},name {i}\n" for i in range(lines))
        source = table(tmp_path, f"alias,name\n{rows}", f"{lines}.csv")
        del rows
        tracemalloc.start()
        build([source], tmp_path / f"{lines}.db")
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    monkeypatch.setattr("abstrag.backgrounds.build._BATCH", 1_000)
    peak(100)  # what is made once and kept
    assert peak(8_000) < 1.2 * peak(2_000)


def test_a_source_in_place_of_a_background_is_to_be_compiled_first(tmp_path: Path) -> None:
    path = table(tmp_path, "alias,name\na,b\n").path
    with pytest.raises(BackgroundError, match="compiled first") as caught:
        load(path)
    assert str(caught.value.hint).startswith(f"abstrag background build {path} ")
