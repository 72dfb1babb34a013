"""The map of a store: entries are made once, kept, and made anew when a document changes."""

import json
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from abstrag.cli.main import main
from abstrag.cli.map import _First
from abstrag.collection.entries import Entries, NamedThing
from abstrag.collection.map import CollectionMap, collection_map
from abstrag.collection.map_data import map_data
from abstrag.collection.map_store import FILE, LAYER, MapTables
from abstrag.engine.library import Library
from abstrag.errors import StoreError
from abstrag.model.record import from_json
from abstrag.stores.copying import copy_store
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


def test_a_map_that_is_kept_is_the_one_that_is_made_anew(library: Path, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    with open_store(library) as store:
        for change in ("nothing", "another", "changed", "gone"):
            if change == "another":
                (texts / "c.md").write_text("# C\n\nThe WHO met in Paris. Troy fell.\n")
            elif change == "changed":
                (texts / "a.md").write_text("# A\n\nParis, the prince of Troy, fled to the WHO.\n")
            elif change == "gone":
                store.remove("b")
            if change in ("another", "changed"):
                list(Library(store).index_paths([texts]))
            kept = collection_map(store)
            anew = CollectionMap({each: kept.entries(each) for each in kept.documents})
            assert kept.documents == tuple(info.id for info in store.documents())
            assert map_data(kept) == map_data(anew)
            kept.close()


def test_only_the_names_in_question_are_read(
    library: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_store(library) as store:
        collection_map(store)
        read: list[str] = []
        unpacked = MapTables._read

        def noted(tables: MapTables, data: bytes) -> NamedThing:
            found = unpacked(tables, data)
            read.append(found.label)
            return found

        monkeypatch.setattr(MapTables, "_read", noted)
        made = collection_map(store)
        assert read == []
        assert [thing.label for thing in made.things("Paris")] == ["Paris", "Paris"]
        assert set(read) == {"Paris"}


def test_what_is_tried_on_a_map_is_not_kept(library: Path) -> None:
    with open_store(library) as store:
        made = collection_map(store)
        before = map_data(made)
        made.remove("a")
        assert list(made.merges()) == []
        made.close()
        assert map_data(collection_map(store)) == before


def test_a_map_is_one_state_however_others_change_the_file(library: Path, tmp_path: Path) -> None:
    with open_store(library) as store:
        made = collection_map(store)
        before = map_data(made)
        (tmp_path / "texts" / "b.md").write_text("# B\n\nNobody praised the nets.\n")
        list(Library(store).index_paths([tmp_path / "texts"]))
        assert list(collection_map(store).merges()) == []
        assert map_data(made) == before


def test_two_may_make_the_map_at_once(library: Path) -> None:
    with open_store(library) as store, ThreadPoolExecutor(4) as pool:
        found = [made.result() for made in [pool.submit(collection_map, store) for _ in range(4)]]
        assert len({json.dumps(map_data(made)) for made in found}) == 1


@pytest.mark.parametrize("harm", ["text", "version", "cut"])
def test_a_broken_file_is_made_anew(library: Path, harm: str) -> None:
    with open_store(library) as store:
        before = map_data(collection_map(store))
        file = Path(f"{library}.mapped") / FILE
        if harm == "version":
            with closing(sqlite3.connect(file)) as connection:
                connection.execute("PRAGMA user_version = 99")
        else:
            data = file.read_bytes()
            file.write_bytes(
                b"no database at all" * 99 if harm == "text" else data[: len(data) // 2]
            )
        assert map_data(collection_map(store)) == before


def test_a_flipped_bit_is_an_error_and_no_quotation(library: Path) -> None:
    with open_store(library) as store:
        collection_map(store).close()
        with closing(sqlite3.connect(Path(f"{library}.mapped") / FILE)) as connection, connection:
            (data,) = connection.execute("SELECT entry FROM nodes WHERE number = 1").fetchone()
            spoilt = data[:-1] + bytes([data[-1] ^ 1])
            connection.execute("UPDATE nodes SET entry = ? WHERE number = 1", (spoilt,))
        with pytest.raises(StoreError, match=r"map\.db") as caught:
            list(collection_map(store).things())
    assert caught.value.hint == "delete the file and ask again: the map is made anew"


def test_a_store_without_room_for_files_has_its_map_too(library: Path) -> None:
    with open_store(library) as store:
        wanted = map_data(collection_map(store))
    mapped = Path(f"{library}.mapped")
    shutil.rmtree(mapped)
    mapped.write_text("a file, where the folder should be")
    with open_store(library) as store:
        assert map_data(collection_map(store)) == wanted
    with open_store(library) as store, open_store(":memory:") as held:
        copy_store(store, held)
        assert map_data(collection_map(held)) == wanted


def test_the_first_few_are_those_of_the_sorted_list() -> None:
    numbers = [7 * i % 101 for i in range(101)]
    first = _First[int](lambda number: number // 2, 5)
    first.take(numbers[:50])
    first.take(numbers[50:])
    assert first.items == sorted(numbers, key=lambda number: number // 2)[:5]
    assert (first.count, first.left_out) == (101, 96)
    assert len(first._held) <= 10


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
