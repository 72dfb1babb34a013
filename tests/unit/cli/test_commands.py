"""The command line as a person meets it: output, errors, exit codes."""

import json
import re
import subprocess
import sys
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import docx
import pytest

from abstrag.cli.main import COMMANDS
from abstrag.errors import AbstragError
from abstrag.workspace.tour import DEMO_QUERY, DEMO_SENTENCE
from tests.unit.cli.command_line import run

DEMO = Path(str(files("abstrag.data"))) / "demo"


@pytest.fixture
def article(tmp_path: Path) -> Path:
    path = tmp_path / "chips.md"
    path.write_bytes((DEMO / "chips.md").read_bytes())
    return path


def _cut_docx() -> bytes:
    """Return the first half of a Word file."""
    file = BytesIO()
    made = docx.Document()
    made.add_paragraph("A paragraph. " * 200)
    made.save(file)
    return file.getvalue()[: len(file.getvalue()) // 2]


def test_every_command_has_help(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        code, out, _ = run(capsys, name, "--help")
        assert code == 0
        assert "Usage:" in out


def kinds_of(error: type[AbstragError]) -> set[type[AbstragError]]:
    return {error}.union(*map(kinds_of, error.__subclasses__()))


def test_help_lists_commands_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--help")
    assert all(f"  {name} " in out for name in COMMANDS)
    assert "16  some of several files failed" in out
    told = {
        int(code) for code in re.findall(r"(?<=  )(\d{1,3})  \S", out.partition("Exit codes:")[2])
    }
    assert {kind.exit_code for kind in kinds_of(AbstragError)} <= told


def test_help_does_not_wait_for_the_language_model() -> None:
    code = (
        "import sys, contextlib, io\n"
        "from abstrag.cli.main import main\n"
        "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):\n"
        "    main(['--help'])\n"
        "sys.exit('spacy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_indexing_twice_says_that_nothing_changed(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    code, out, _ = run(capsys, "index", article, "--store", store)
    assert (code, out.split()[0]) == (0, "indexed")
    code, out, _ = run(capsys, "index", article, "--store", store)
    assert (code, out.split()[0]) == (0, "unchanged")
    article.write_text(article.read_text() + "\n\nAnother sentence was added.\n")
    _, out, _ = run(capsys, "index", article, "--store", store)
    assert out.split()[0] == "indexed"


def test_a_document_remembers_its_background(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    run(capsys, "index", article, "--store", store, "--background", DEMO / "chips.toml")
    _, out, _ = run(capsys, "search", "chips", DEMO_QUERY, "--store", store, "--json")
    assert DEMO_SENTENCE in [h["quote"] for h in json.loads(out)["hits"][:3]]
    _, out, _ = run(capsys, "index", article, "--store", store)
    assert out.split()[0] == "unchanged"


def test_a_folder_goes_on_after_a_failure_and_lists_it(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path
) -> None:
    (article.parent / "empty.txt").write_text("")
    (article.parent / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(50))
    code, out, err = run(capsys, "index", article.parent, "--store", tmp_path / "x" / "store.db")
    assert code == 16
    assert "indexed" in out
    assert "empty.txt" in err
    assert "picture.png" in err
    assert "2 of 3 files failed" in err


@pytest.mark.parametrize(
    ("name", "content", "code", "message"),
    [
        ("empty.txt", b"", 7, "empty"),
        ("binary.bin", bytes(range(256)) * 4, 8, "binary.bin"),
        ("cut.docx", _cut_docx(), 12, "cut.docx"),
        ("bad.txt", b"caf\xe9 \x81\x8d\x8f\x90\x9d na\xefve \xff\xfe\x00" * 3, 8, "bad.txt"),
    ],
)
def test_bad_input_gets_one_sentence_a_hint_and_its_code(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    name: str,
    content: bytes,
    code: int,
    message: str,
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    got, _, err = run(capsys, "index", path, "--store", tmp_path / "store.db")
    assert got == code, err
    assert message in err
    assert "hint:" in err
    assert "Traceback" not in err


def test_a_missing_file_and_a_large_one(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    assert run(capsys, "index", tmp_path / "none.pdf", "--store", store)[0] == 4
    assert run(capsys, "index", article, "--store", store, "--max-mb", "0.001")[0] == 6
    assert run(capsys, "show", "nobody", "--store", store)[0] == 14
    assert run(capsys, "show", tmp_path, "--store", store)[0] == 5


def test_a_corrupt_store_is_named_and_left_alone(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    store.write_bytes(b"this is no store" * 100)
    code, _, err = run(capsys, "search", article, "chips", "--store", store)
    assert code == 13
    assert "store.db" in err
    assert store.read_bytes() == b"this is no store" * 100


@pytest.mark.parametrize("tau", ["-1", "nan", "5"])
def test_a_budget_that_is_none_is_refused(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path, tau: str
) -> None:
    store = tmp_path / "store.db"
    code, _, err = run(capsys, "search", article, "chips", "--store", store, "--tau", tau)
    assert code == 2
    assert "budget" in err


def test_show_tells_roles_utility_and_context(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    background = ("--background", DEMO / "chips.toml")
    _, out, _ = run(capsys, "show", article, "--store", store, *background, "--json")
    data = json.loads(out)
    visit = next(s for s in data["segments"] if s["quote"] == DEMO_SENTENCE)
    assert visit["context"]["time"][0]["value"] == "2024-05-15"
    assert visit["utility"]["value"] > 0
    assert "entity:tsmc" in visit["statements"][0]["terms"]
    code, out, _ = run(
        capsys, "show", article, "--store", store, "--segment", visit["segment"]["id"]
    )
    assert code == 0
    assert "2024-05-14" in out


def test_map_lists_what_the_text_states(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    options = ("--store", store, "--background", DEMO / "chips.toml")
    _, out, _ = run(capsys, "map", article, *options)
    assert "TSMC → chip supplier" in out
    _, out, _ = run(capsys, "map", article, *options, "--json", "--term", "TSMC")
    data = json.loads(out)
    assert {"terms", "edges"} == set(data)
    assert any(e["target"] == "concept:chip supplier" for e in data["edges"])


def test_the_demo_finds_what_words_cannot(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "demo", "--json")
    data = json.loads(out)
    assert code == 0
    best = [h["quote"] for h in data["ranking"]["hits"][:3]]
    assert DEMO_SENTENCE in best
    assert data["bm25_rank"] > 10
    assert data["dense_rank"] > 10
    assert data["judgement"] < 0.1  # the judge knows nothing of the Background
    assert data["judged_rank"] == 1  # and is not believed against it
    hit = next(h for h in data["ranking"]["hits"] if h["quote"] == DEMO_SENTENCE)
    assert hit["gap"] == pytest.approx(1.10)
    assert hit["trace"]["reachable"]
    assert data["empty_background"]["trace"]["reachable"] is False


def test_explain_why_not_and_budget_agree_with_search(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path
) -> None:
    options = ("--store", tmp_path / "store.db", "--background", DEMO / "chips.toml", "--json")
    _, out, _ = run(capsys, "search", article, DEMO_QUERY, *options)
    hits = json.loads(out)["hits"]
    _, out, _ = run(capsys, "explain", article, DEMO_QUERY, "1", *options)
    assert json.loads(out)["hit"] == hits[0]
    _, out, _ = run(capsys, "why-not", article, DEMO_QUERY, "--text", hits[0]["quote"], *options)
    assert (json.loads(out)["cause"], json.loads(out)["rank"]) == ("found", 1)
    _, out, _ = run(capsys, "budget", article, DEMO_QUERY, *options)
    entered = {e["segment"]: e["tau"] for e in json.loads(out)["entries"]}
    assert entered[hits[0]["segment"]] == pytest.approx(hits[0]["trace"]["bridge_cost"])


def test_doctor_tries_every_part(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "doctor", "--json")
    data = json.loads(out)
    assert code == 0
    assert all(c["works"] for c in data["checks"])
    assert {c["name"] for c in data["checks"]} == {
        "language",
        "lexicon",
        "store",
        "index chain",
        "embedder",
        "judge",
        "verdict model",
        "policy",
    }


def test_the_store_can_be_listed_and_cleaned(
    capsys: pytest.CaptureFixture[str], article: Path, tmp_path: Path
) -> None:
    store = tmp_path / "store.db"
    run(capsys, "index", article, "--store", store)
    _, out, _ = run(capsys, "store", "list", "--store", store, "--json")
    assert [d["id"] for d in json.loads(out)] == ["chips"]
    assert run(capsys, "store", "check", "--store", store)[0] == 0
    assert run(capsys, "store", "remove", "chips", "--store", store)[0] == 0
    _, out, _ = run(capsys, "store", "list", "--store", store, "--json")
    assert json.loads(out) == []
