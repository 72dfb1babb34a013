"""The workspace opens everything, opens the store once, and keeps what it was opened with."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from abstrag.collection.filters import Filters
from abstrag.config import TAU, Settings
from abstrag.errors import FileMissing, InputError, UnknownDocument
from abstrag.model.term import Family
from abstrag.search.relevance import DEFAULT_PRESET, FAST, GENERAL, SMOOTH
from abstrag.stores.sqlite import SqliteStore
from abstrag.workspace.collection import SearchableCollection
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.facade import AbstRAG
from abstrag.workspace.options import SearchOptions, WorkspaceConfig, chosen_preset
from abstrag.workspace.tour import DEMO_QUERY, demo_background, demo_document
from abstrag.workspace.upkeep import drop_made_by_others, made_by_others
from abstrag.workspace.workspace import Workspace

MEMORY = WorkspaceConfig(":memory:", options=SearchOptions(preset=FAST))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "files"
    made.mkdir()
    (made / "lyon.md").write_text("The factory in Lyon made cars. It closed in 2019.", "utf-8")
    (made / "graz.md").write_text("The factory in Graz makes bicycles.", "utf-8")
    return made


def test_a_file_an_id_a_document_and_an_index_are_one_document(folder: Path) -> None:
    with Workspace(MEMORY) as workspace:
        by_file = workspace.open(folder / "lyon.md")
        assert isinstance(by_file, SearchableDocument)
        found = by_file.search("cars")
        assert found.hits
        assert workspace.open("lyon").search("cars") == found
        assert workspace.open(by_file.index).search("cars") == found
        # a document that is handed over comes from no file, so it is another one of the store
        handed = workspace.document(by_file.index.document).search("cars")
        assert [hit.relevance for hit in handed.hits] == [hit.relevance for hit in found.hits]


def test_the_store_a_folder_and_nothing_are_collections(folder: Path, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    with Workspace(WorkspaceConfig(store, options=SearchOptions(preset=FAST))) as workspace:
        list(workspace.indexing().index_paths([folder]))
        for target in (store, str(store), folder, None):
            opened = workspace.open(target)
            assert isinstance(opened, SearchableCollection)
            documents = {found.hit.document for found in opened.search("factory").hits}
            assert documents == {"graz", "lyon"}


def test_what_cannot_be_opened_is_said_in_one_sentence(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    SqliteStore.open(other).close()
    with Workspace(MEMORY) as workspace:
        with pytest.raises(UnknownDocument, match="is empty"):
            workspace.open()
        with pytest.raises(FileMissing, match="no file at"):
            workspace.open("nowhere/report.pdf")
        with pytest.raises(InputError, match="another store"):
            workspace.open(other)
        with pytest.raises(InputError, match="is one document"):
            workspace.open(folder / "lyon.md", filters=Filters(since="2020"))


def test_a_hundred_questions_open_the_store_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = []
    original = SqliteStore.open.__func__  # type: ignore[attr-defined]

    def counting(*args: object, **given: object) -> object:
        opened.append(args)
        return original(SqliteStore, *args, **given)

    monkeypatch.setattr(SqliteStore, "open", counting)
    with AbstRAG(tmp_path / "store.db", preset="fast") as rag:
        rag.index(folder / "lyon.md")
        for _ in range(100):
            rag.search("factory")
        rag.search_all("factory")
        rag.why_not("factory", text="It closed in 2019.")
        rag.ask("What did the factory make?")
    assert len(opened) == 1


def test_the_settings_budget_is_the_default_of_every_search() -> None:
    with AbstRAG(":memory:", background=demo_background(), settings=Settings(tau=0.5)) as rag:
        rag.index(demo_document())
        assert rag.search(DEMO_QUERY, k=1).tau == 0.5
        assert rag.search(DEMO_QUERY, k=1, tau=2.0).tau == 2.0
        visit = "s20"
        assert not rag.explain(DEMO_QUERY, visit).trace.reachable
        assert rag.explain(DEMO_QUERY, visit, tau=TAU).trace.reachable


def test_threads_that_want_one_document_get_the_same_searcher(folder: Path) -> None:
    with Workspace(MEMORY) as workspace:
        workspace.open(folder / "lyon.md")
        with ThreadPoolExecutor(8) as threads:
            made = list(threads.map(lambda _: workspace.document("lyon").searcher, range(32)))
        assert len({id(one) for one in made}) == 1


def test_an_edit_by_hand_holds_from_the_next_opening_on(folder: Path) -> None:
    with AbstRAG(":memory:", preset="fast") as rag:
        rag.index(folder / "graz.md")
        before = rag.search("vehicles").hits
        edge = rag.add_edge("concept:bicycle", "concept:vehicle", family=Family.CONCEPT)
        assert rag.search("vehicles").hits != before
        rag.hide_edge(edge)
        assert rag.search("vehicles").hits == before


def test_a_document_that_changes_is_searched_as_it_is_now(folder: Path) -> None:
    with AbstRAG(":memory:", preset="fast") as rag:
        rag.index(folder / "lyon.md")
        (folder / "lyon.md").write_text("The factory in Lyon makes trams now.", "utf-8")
        rag.index(folder / "lyon.md")
        assert "trams" in rag.search("What does the factory make?").hits[0].quote


def test_a_removed_document_is_gone_from_documents_and_collections(folder: Path) -> None:
    with AbstRAG(":memory:", preset="fast") as rag:
        rag.index_many([folder])
        assert {found.hit.document for found in rag.search_all("factory").hits} == {"graz", "lyon"}
        rag.remove("graz")
        assert {found.hit.document for found in rag.search_all("factory").hits} == {"lyon"}
        with pytest.raises(UnknownDocument):
            rag.search("factory", document="graz")


def test_text_needs_no_file_and_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "The tram stopped at noon."
    with AbstRAG.from_text(text, name="log", title="Log", date="2024-05-01", preset="fast") as rag:
        (hit,) = rag.search("When did the tram stop?").hits
        assert (hit.document, hit.quote) == ("log", text)
        document = rag.open().index.document
        assert (document.title, document.metadata.date) == ("Log", "2024-05-01")
    assert list(tmp_path.iterdir()) == []


def test_the_public_face_does_what_the_command_line_does(folder: Path, tmp_path: Path) -> None:
    with AbstRAG(":memory:", preset="fast", policy=tmp_path / "policy") as rag:
        outcomes = rag.index_many([folder])
        assert {one.status for one in outcomes} == {"indexed"}
        query = "What did the factory make?"
        first = rag.search(query, document="lyon").hits[0]
        assert rag.explain(query, "1", document="lyon") == first
        assert rag.budget(query, document="lyon").query.text == query
        assert rag.ask(query, document="lyon").document == "lyon"
        assert rag.map(document="lyon").terms
        assert len(rag.map_all().documents) == 2
        assert first.quote in rag.report([query], document="lyon")
        made = rag.refine(query, gold=[first.segment], document="lyon")
        assert made.sufficient
        assert rag.patches(document="lyon") == ()
        assert [entry.payload["action"] for entry in rag.policy_log()] == ["solved"]
        missed = rag.why_not_all("trams", text="The factory in Graz makes bicycles.")
        assert missed.document == "graz"


@pytest.mark.parametrize(
    ("name", "judge", "chosen"),
    [
        (None, None, DEFAULT_PRESET),
        (None, False, FAST),
        ("smooth", None, SMOOTH),
        ("smooth", False, SMOOTH),
        ("general", False, GENERAL.unjudged),
        ("general", True, GENERAL),
    ],
)
def test_a_preset_and_a_wish_for_the_judge_mean_one_preset(
    name: str | None, judge: bool | None, chosen: object
) -> None:
    assert chosen_preset(name, judge=judge) == chosen


def test_a_judge_gets_its_say_in_a_preset_that_has_none_and_an_unknown_preset_is_refused() -> None:
    assert chosen_preset("fast", judge=True).judge_weight > 0
    assert chosen_preset(exact=True).judged is None
    with pytest.raises(InputError, match="has none"):
        chosen_preset("fast", exact=True)
    with pytest.raises(InputError, match="no preset is called"):
        chosen_preset("nice")


def test_what_models_made_that_are_gone_is_told_and_dropped(folder: Path) -> None:
    with AbstRAG(":memory:") as rag:
        rag.index(folder / "lyon.md")
        rag.search("What did the factory make?")
        store = rag.workspace.store
        assert made_by_others(store) == {}
        content = rag.documents()[0].content_hash
        store.remember("judgements", content, "an older judge", {b"k" * 16: b"12345678"})
        assert made_by_others(store) == {"judgements": {"an older judge": 1}}
        kept = store.models()["judgements"]
        assert drop_made_by_others(store) == 1
        assert made_by_others(store) == {}
        del kept["an older judge"]
        assert store.models()["judgements"] == kept
