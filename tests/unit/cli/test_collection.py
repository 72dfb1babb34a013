"""`search`, `explain` and `why-not` over a whole store, as a person meets them."""

import json
from pathlib import Path
from typing import Any

import pytest

from abstrag.collection.cards import all_cards
from abstrag.neural.whole_text import default_encoder
from abstrag.stores.open import open_store
from tests.unit.cli.command_line import printed as run
from tests.unit.collection.small_library import TEXTS, fill

PLAIN = ("--no-judge", "--no-embeddings")
VISIT = "Who visited the fabrication division?"


@pytest.fixture(autouse=True)
def policy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTRAG_POLICY", str(tmp_path / "policy"))


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "library.db"
    with open_store(path) as store:
        fill(store)
    return path


def told(capsys: pytest.CaptureFixture[str], *args: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(capsys, *args, *PLAIN, "--json"))
    return found


def documents(found: dict[str, Any]) -> set[str]:
    return {hit["hit"]["document"] for hit in found["hits"]}


def test_a_store_is_searched_as_a_whole(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = run(capsys, "search", library, VISIT, *PLAIN)
    assert " 1  The CTO of Anthropic visited the head of the fabrication division" in shown
    assert "visit Visit to Hsinchu" in shown
    assert f"of {len(TEXTS)} documents opened" in shown
    assert "cost of the mean of the best hits · of the best" in shown
    found = told(capsys, "search", library, VISIT)
    assert found["hits"][0]["hit"]["document"] == "visit"
    assert found["documents"][0]["document"] == "visit"
    assert found["documents"][0]["top_1"] == found["hits"][0]["score"]


def test_all_is_the_store_that_is_in_use(
    library: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = told(capsys, "search", library, VISIT)
    assert told(capsys, "search", "--all", VISIT, "--store", library) == whole
    monkeypatch.setenv("ABSTRAG_STORE", str(library))
    assert told(capsys, "search", "--all", VISIT) == whole


def test_arguments_that_do_not_fit_are_usage_errors(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "With --all there is no TARGET" in run(capsys, "search", "--all", library, VISIT, code=2)
    assert "Missing argument 'QUERY'" in run(capsys, "search", library, code=2)
    assert "Missing argument 'HIT'" in run(capsys, "explain", "--all", VISIT, code=2)
    assert "Missing argument 'QUERY'" in run(capsys, "search", "--all", code=2)


def test_an_indexed_folder_is_a_collection(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, store = tmp_path / "papers", tmp_path / "store.db"
    for name in ("metal", "planet"):
        (folder / name).mkdir(parents=True)
        (folder / name / f"{name}.md").write_text(TEXTS[name], "utf-8")
    run(capsys, "index", folder, "--store", store)
    assert documents(told(capsys, "search", folder, "Mercury", "--store", store)) == {
        "metal",
        "planet",
    }
    inner = told(capsys, "search", folder / "metal", "Mercury", "--store", store)
    assert documents(inner) == {"metal"}
    (tmp_path / "empty").mkdir()
    said = run(capsys, "search", tmp_path / "empty", "Mercury", "--store", store, code=14)
    assert "no document of the store comes from the folder" in said
    assert "abstrag index" in said


def test_filters_choose_documents(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    search = ("search", library, "Mercury and hounds at dawn")
    assert documents(told(capsys, *search, "--until", "2020")) == {"hounds"}
    assert documents(told(capsys, *search, "--source", "/other")) == {"metal"}
    assert documents(told(capsys, *search, "--title", "HOUNDS")) == {"hounds"}
    shown = run(capsys, *search, "--genre", "legal", *PLAIN)
    assert f"none of the {len(TEXTS)} documents passes the filters" in shown


def test_a_bad_filter_is_one_sentence_and_a_hint(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = run(capsys, "search", library, VISIT, "--since", "soon", *PLAIN, code=2)
    assert "--since is 'soon', which is no date" in said
    assert "2024, 2024-05 or 2024-05-31" in said


def test_a_filter_needs_a_collection(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = run(
        capsys, "search", "visit", VISIT, "--since", "2020", "--store", library, *PLAIN, code=2
    )
    assert "--since chooses among documents, and 'visit' is one document" in said
    said = run(
        capsys, "why-not", "visit", VISIT, "--text", "x", "--document", "visit",
        "--store", library, *PLAIN, code=2,
    )  # fmt: skip
    assert "--document names one of several documents" in said


def test_a_set_of_hits_names_the_document_of_each(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = run(capsys, "search", library, VISIT, "--set", *PLAIN)
    assert "visited the head" in shown
    assert "visit Visit to Hsinchu" in shown


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--refine",), "--refine is for one document"),
        (("--granularity", "sentence"), "searched as it was indexed"),
    ],
)
def test_what_only_one_document_can_be_given_is_refused(
    library: Path, capsys: pytest.CaptureFixture[str], given: tuple[str, ...], said: str
) -> None:
    assert said in run(capsys, "search", library, VISIT, *given, *PLAIN, code=2)


def test_an_empty_store_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_store(tmp_path / "empty.db").close()
    said = run(capsys, "search", tmp_path / "empty.db", VISIT, *PLAIN, code=14)
    assert "is empty" in said
    assert "abstrag index" in said


def test_a_hit_is_explained_by_rank_or_by_name(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = told(capsys, "search", library, VISIT, "-k", "1")["hits"][0]["hit"]
    assert told(capsys, "explain", library, VISIT, "1")["hit"] == first
    name = f"visit:{first['segment']}"
    assert told(capsys, "explain", "--all", VISIT, name, "--store", library)["hit"] == first
    shown = run(capsys, "explain", library, VISIT, name, *PLAIN)
    assert "visit Visit to Hsinchu  words " in shown
    assert "licence:" in shown or "bridges together" in shown
    said = run(capsys, "explain", library, VISIT, "s1", *PLAIN, code=2)
    assert "report:s12" in said
    assert "there is no hit number 99" in run(
        capsys, "explain", library, VISIT, "99", *PLAIN, code=2
    )


def test_why_not_names_document_and_reason(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    walks = ("--text", "Hounds need long walks")
    shown = run(
        capsys, "why-not", library, "a dawn walk to the lock", *walks, "--shortlist", "1", *PLAIN
    )
    assert shown.startswith("hounds ")
    assert "its document was not shortlisted: it ranks 2 of 2 documents and 1 is opened" in shown
    shown = run(capsys, "why-not", library, "long walks", *walks, "--since", "2020", *PLAIN)
    assert "left out by a filter: its date is 2019-06-10" in shown
    shown = run(capsys, "why-not", "--all", "long walks", *walks, "--store", library, *PLAIN)
    assert "found: it is found, at rank 1 of all hits" in shown
    answer = told(capsys, "why-not", library, "craters", *walks)
    assert (answer["lost"], answer["document"]) == ("its document was not shortlisted", "hounds")


def test_cards_can_be_made_ahead(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prepare = ("store", "prepare", "--no-embeddings", "--store", library)
    assert json.loads(run(capsys, *prepare, "--json")) == {
        "documents": len(TEXTS),
        "made": len(TEXTS),
        "dropped": 0,
    }
    shown = run(capsys, *prepare)
    assert f"0 cards made, {len(TEXTS)} documents have one" in shown


def test_indexing_prepares_the_search_over_all_for_what_is_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, store = tmp_path / "papers", tmp_path / "store.db"
    folder.mkdir()
    index = ("index", folder, "--store", store, "--in-process")
    (folder / "metal.md").write_text(TEXTS["metal"], "utf-8")
    assert "prepared" not in run(capsys, *index)  # one document needs nothing of it
    (folder / "planet.md").write_text(TEXTS["planet"], "utf-8")
    assert "prepared  2 documents for search over all documents" in run(capsys, *index)
    assert "prepared" not in run(capsys, *index)
    (folder / "hounds.md").write_text(TEXTS["hounds"], "utf-8")
    assert "prepared" not in run(capsys, *index, "--no-prepare")
    assert json.loads(run(capsys, *index, "--json"))["prepared"] == 1
    with open_store(store, create=False) as kept:
        assert all_cards(kept, encoder=default_encoder()).made == 0


def test_documents_are_listed_with_files_sizes_filter_and_sort(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "store.db"
    for name, size in (("metal", 1), ("planet", 20)):
        (tmp_path / f"{name}.md").write_text(TEXTS[name] * size, "utf-8")
    run(capsys, "index", tmp_path, "--store", store, "--in-process", "--no-prepare")
    listed = ("store", "list", "--store", store)
    bytes_ = (tmp_path / "planet.md").stat().st_size
    assert f"planet.md, {bytes_:,} bytes" in run(capsys, *listed)
    by_size = json.loads(run(capsys, *listed, "--sort", "size", "--json"))
    assert [one["file"] for one in by_size] == ["planet.md", "metal.md"]
    only = json.loads(run(capsys, *listed, "--source", "m*.md", "--json"))
    assert [one["id"] for one in only] == ["metal"]
    assert "none of the 2 documents passes" in run(capsys, *listed, "--title", "absent")
