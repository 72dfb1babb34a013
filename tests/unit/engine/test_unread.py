"""A language that is not read is said to be so, and searched by words and vectors alone."""

import json
from pathlib import Path

import pytest

from abstrag.cli.main import main
from abstrag.model.ranking import Ranking
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.unit.engine.folders import write

GERMAN = (
    "Der Umsatz des Unternehmens betrug im Jahr 2021 rund 40 Millionen Euro.\n\n"
    "Die Zahl der Mitarbeiter ist auf 300 gestiegen, und das Werk in Bremen wurde geschlossen.\n\n"
    "Der Vorstand hat sich mit dem Betriebsrat auf einen neuen Tarif geeinigt.\n"
)
ENGLISH = "Revenue was 40 million in 2021.\n\nThe plant in Bremen was closed.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "notes" / "bericht.txt", GERMAN)
    write(tmp_path / "notes" / "report.txt", ENGLISH)
    return tmp_path / "notes"


def asked(folder: Path, file: str, query: str) -> Ranking:
    with Workspace(WorkspaceConfig(folder.parent / "unread.db")) as workspace:
        return workspace.document(folder / file).search(query)


def test_a_document_in_another_language_is_searched_by_words_and_vectors(folder: Path) -> None:
    ranking = asked(folder, "bericht.txt", "Wie hoch war der Umsatz im Jahr 2021?")
    assert ranking.query.notice.startswith("the document is in German, which is not read")
    assert (ranking.preset, ranking.tau, ranking.judgements) == ("words-and-vectors", 0.0, 0)
    assert ranking.hits[0].quote.startswith("Der Umsatz")
    assert all(not hit.trace.bridges for hit in ranking.hits)


def test_a_query_in_another_language_is_said_to_be_one(folder: Path) -> None:
    ranking = asked(folder, "report.txt", "Wurde das Werk in Bremen geschlossen?")
    assert ranking.query.notice.startswith("the query is in German, which is not read")
    assert "Bremen" in ranking.hits[0].quote


def test_english_is_searched_as_ever(folder: Path) -> None:
    ranking = asked(folder, "report.txt", "Which plant was closed?")
    assert (ranking.query.notice, ranking.preset) == ("", "general")


def test_a_query_in_another_language_over_many_documents_is_said_to_be_one(folder: Path) -> None:
    with Workspace(WorkspaceConfig(folder.parent / "unread.db")) as workspace:
        list(workspace.library.index_paths([folder]))
        ranking = workspace.collection().search("Wie hoch war der Umsatz im Jahr 2021?")
        plain = workspace.collection().search("Which plant was closed?")
    assert ranking.query.notice.startswith("the query is in German")
    assert (ranking.preset, ranking.hits[0].hit.document) == ("words-and-vectors", "bericht")
    assert (plain.query.notice, plain.preset) == ("", "general")


def test_the_command_line_says_so_when_it_indexes_and_when_it_searches(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(folder.parent / "told.db")]
    main(["index", str(folder), *store, "--in-process"])
    out = capsys.readouterr().out
    assert out.count("in German, which is not read: found by words and vectors alone") == 1
    main(["search", "bericht", "Wie hoch war der Umsatz?", *store])
    assert "the document is in German, which is not read" in capsys.readouterr().out
    main(["search", "bericht", "Wie hoch war der Umsatz?", *store, "--json"])
    assert "German" in json.loads(capsys.readouterr().out)["query"]["notice"]
