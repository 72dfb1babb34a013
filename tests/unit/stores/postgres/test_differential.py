"""Different ways to the same thing lead to the same thing, for a file of every format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from abstrag.collection.results import CollectionRanking
from abstrag.engine.library import Library
from abstrag.engine.source_files import IndexOutcome
from abstrag.search.relevance import ALIGNED
from abstrag.stores.open import Target, open_store
from abstrag.stores.sqlite import SqliteStore
from abstrag.workers.processes import Processes
from abstrag.workspace.many_files import index_many
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.fuzz.make_corpus import CORPUS
from tests.unit.engine.folders import rows

QUERIES = ("Who leased Pier 4?", "How much did cargo fall between 2022 and 2023?", "Maria Holt")
FILES = sorted(path for path in CORPUS.iterdir() if path.suffix != ".png")


@dataclass(frozen=True, slots=True)
class Alone:
    """The store that one process makes of the corpus, one file after the other."""

    path: Path
    outcomes: list[IndexOutcome]
    rows: dict[str, list[tuple[Any, ...]]]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Alone:
    path = tmp_path_factory.mktemp("alone") / "store.db"
    with SqliteStore.open(path) as store:
        outcomes = list(Library(store).index_paths(FILES))
    return Alone(path, outcomes, rows(path))


def asked(target: Target) -> list[CollectionRanking]:
    options = SearchOptions(preset=ALIGNED, patched=False)
    with Workspace(WorkspaceConfig(target, create=False)) as workspace:
        return [workspace.collection(options=options).search(query) for query in QUERIES]


@pytest.fixture(scope="module")
def answers(alone: Alone) -> list[CollectionRanking]:
    """What the fresh store answers; then it keeps what the models said on the way."""
    return asked(alone.path)


def test_quotes_are_what_the_source_says(alone: Alone, answers: list[CollectionRanking]) -> None:
    assert all(answer.hits for answer in answers)
    with open_store(alone.path) as store:
        texts = {info.id: store.get(info.id).document.text for info in store.documents()}
    for found in (hit for answer in answers for hit in answer.hits):
        span = found.hit.span
        assert texts[found.hit.document][span.start : span.end] == found.hit.quote


def test_indexing_twice_is_indexing_once(alone: Alone, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with SqliteStore.open(path) as store:
        library = Library(store)
        first, second = list(library.index_paths(FILES)), list(library.index_paths(FILES))
    assert first == alone.outcomes
    assert {outcome.status for outcome in second} == {"unchanged"}
    assert rows(path) == alone.rows


def test_eight_workers_are_one(alone: Alone, tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with Workspace(WorkspaceConfig(path)) as workspace:
        outcomes = list(index_many(workspace, FILES, Processes(8)))
    assert outcomes == alone.outcomes
    assert rows(path) == alone.rows


def test_a_server_keeps_and_answers_what_a_file_does(
    alone: Alone, answers: list[CollectionRanking], address: str
) -> None:
    with open_store(address) as server, open_store(alone.path) as file:
        assert list(Library(server).index_paths(FILES)) == alone.outcomes
        for info in file.documents():
            assert server.get(info.id) == file.get(info.id)
        server.check()
    assert asked(address) == answers


def test_what_is_kept_changes_no_answer(alone: Alone, answers: list[CollectionRanking]) -> None:
    assert asked(alone.path) == answers
