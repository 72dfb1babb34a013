"""The map of a store: entries are made once, kept, and made anew when a document changes."""

import json
from pathlib import Path

import pytest

from abstrag.cli.main import main
from abstrag.collection.entries import Entries
from abstrag.collection.map_store import LAYER, collection_map
from abstrag.engine.library import Library
from abstrag.model.record import from_json
from abstrag.stores.open import open_store

A = "# A\n\nThe World Health Organization (WHO) met in Geneva. Paris, the prince of Troy, fled.\n"
B = "# B\n\nIn 2023 the WHO praised the nets. Traders met in Paris.\n"


@pytest.fixture
def library(tmp_path: Path) -> Path:
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.md").write_text(A)
    (tmp_path / "texts" / "b.md").write_text(B)
    path = tmp_path / "library.db"
    with open_store(path) as store:
        list(Library(store).index_paths([tmp_path / "texts"]))
    return path


def run(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    main([str(a) for a in args])
    return capsys.readouterr().out


def test_entries_are_made_once(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_store(library) as store:
        first = collection_map(store)
        kept = [from_json(Entries, data) for _, _, data in store.layers_named(LAYER)]
        assert len(kept) == 2
        monkeypatch.setattr(type(store), "get", lambda *_: pytest.fail("an index was read again"))
        second = collection_map(store)
    assert list(first.merges()) == list(second.merges()) != []


def test_a_changed_document_changes_the_map(library: Path, tmp_path: Path) -> None:
    with open_store(library) as store:
        assert [m.name for m in collection_map(store).merges()] == [
            "World Health Organization (WHO)"
        ]
        (tmp_path / "texts" / "b.md").write_text("# B\n\nNobody praised the nets.\n")
        list(Library(store).index_paths([tmp_path / "texts"]))
        assert list(collection_map(store).merges()) == []


def test_the_command_shows_things_merges_and_refusals(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = " ".join(run(capsys, "map", library).split())
    assert "2 documents 1 thing named in several, 1 merge, 1 refused" in out
    assert "World Health Organization (organization) 2 documents: a, b" in out
    assert "≡ WHO a at 9: “World Health Organization (WHO)”" in out
    assert "1.28 2 documents: a, b no document gives the short form another meaning" in out
    assert "Paris: it is shown to be things of different kinds person (a), place (b)" in out


def test_the_command_shows_one_name(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "map", library, "--term", "who")
    assert "World Health Organization" in out
    assert "Paris" not in out
    assert "0 merges" in run(capsys, "map", library, "--family", "event")


def test_json_has_every_node_with_its_document(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = json.loads(run(capsys, "map", library, "--json"))
    assert made["documents"] == ["a", "b"]
    (merge,) = made["merges"]
    assert merge["cost"] == pytest.approx(1.28)
    assert merge["truth_preserving"] is False
    assert merge["members"] == [
        {"document": "a", "term": "entity:world health organization"},
        {"document": "b", "term": "entity:who"},
    ]
    assert merge["licences"][0]["licence"]["reference"] == "World Health Organization (WHO)"
    assert [r["name"] for r in made["refusals"]] == ["Paris"]
    assert made["concepts"]["concept:net"] == ["b"]
    paris = json.loads(run(capsys, "map", library, "--json", "--term", "Paris"))
    assert [[n["document"] for n in t["nodes"]] for t in paris["things"]] == [["a"], ["b"]]
