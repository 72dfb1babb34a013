import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from abstrag.cli.background import background_command
from abstrag.errors import BackgroundError, InputError
from abstrag.stores.sqlite import SqliteStore

ALIASES = "alias,name\nBig Blue,IBM\nMercury,Mercury Systems\nMercury,Freddie Mercury\n"


def run(*args: str | Path) -> str:
    done = CliRunner().invoke(
        background_command, [str(arg) for arg in args], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def aliases(tmp_path: Path) -> Path:
    path = tmp_path / "aliases.csv"
    path.write_text(ALIASES)
    return path


@pytest.fixture
def built(tmp_path: Path, aliases: Path) -> Path:
    run("build", aliases, "-o", tmp_path / "bg.db")
    return tmp_path / "bg.db"


def test_build_says_what_it_made_and_then_that_nothing_changed(
    aliases: Path, tmp_path: Path
) -> None:
    first = run("build", aliases, "-o", tmp_path / "bg.db")
    assert "bg.db written" in first.replace("\n", "")
    assert "aliases.csv: 6 facts, stated" in first
    assert "1 names belong to several things and stay open: Mercury" in first
    assert "unchanged" in run("build", aliases, "-o", tmp_path / "bg.db")


def test_trust_makes_a_table_pay(aliases: Path, tmp_path: Path) -> None:
    shown = run("build", aliases, "-o", tmp_path / "bg.db", "--trust", f"{aliases}=0.25")
    assert "suggested at distance 0.25" in shown
    looked = json.loads(run("look", tmp_path / "bg.db", "Big Blue", "--json"))
    assert [one["cost"] for one in looked["suggested"]] == [0.6]


@pytest.mark.parametrize("trust", ["other.csv=stated", "stated"])
def test_trust_in_a_file_that_is_not_there_is_refused(
    aliases: Path, tmp_path: Path, trust: str
) -> None:
    with pytest.raises(InputError, match="names none of the files"):
        run("build", aliases, "-o", tmp_path / "bg.db", "--trust", trust)


def test_check_takes_a_source_and_a_compiled_file(aliases: Path, built: Path) -> None:
    for file in (aliases, built):
        found = json.loads(run("check", file, "--json"))
        assert (found["things"], found["homonyms"]) == (3, 1)


def test_check_names_a_malformed_line(aliases: Path) -> None:
    aliases.write_text(ALIASES + "broken\n")
    with pytest.raises(BackgroundError, match=r"aliases\.csv' line 5, column 2: 1 fields"):
        run("check", aliases)


def test_look_shows_premises_and_what_the_rest_costs(built: Path) -> None:
    shown = run("look", built, "Big Blue met Mercury")
    assert "0.00  IBM = Big Blue  stated" in shown
    assert "1.04  aliases.csv line 3: Mercury = Mercury Systems" in shown
    assert run("look", built, "nobody") == "nothing in it is named there\n"


def test_index_takes_a_compiled_background(built: Path, tmp_path: Path) -> None:
    from abstrag.cli.index import index_command

    (tmp_path / "note.txt").write_text("Big Blue opened a plant in Boston.")
    store = tmp_path / "store.db"
    args = [tmp_path / "note.txt", "--background", built, "--store", store]
    done = CliRunner().invoke(index_command, [str(a) for a in args], catch_exceptions=False)
    assert done.exit_code == 0
    with SqliteStore.open(store) as opened:
        (info,) = opened.documents()
        assert opened.background(info.id).aliases == {"IBM": ("Big Blue",)}
