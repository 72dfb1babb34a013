"""Small parts by themselves, where a whole server would hide what they do."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from abstrag.model.term import Edge, Family, Licence, LicenceKind, Relation
from abstrag.server.jobs import UploadTask
from abstrag.server.pdf_pages import Quotation, places, png, without_spaces
from abstrag.server.settings import is_loopback
from abstrag.server.studio import safe_name
from abstrag.stores.sqlite import SqliteStore
from abstrag.workers import protocol
from abstrag.workspace.options import Edits, EditStore, WorkspaceConfig, edge_id
from tests.unit.documents.pdf_maker import HEIGHT, Page, pdf

Perform = Callable[[tuple[Path, bool]], dict[str, Any]]


def edge(target: str) -> Edge:
    return Edge(
        source="entity:a",
        target=target,
        relation=Relation.IMPLIES,
        family=Family.CONCEPT,
        operator="by_hand",
        weight=0.65,
        distance=0.0,
        truth_preserving=False,
        confidence=1.0,
        licence=Licence(LicenceKind.BACKGROUND, "added by hand"),
    )


def test_adding_an_edge_twice_adds_it_once() -> None:
    once = Edits().with_edge(edge("concept:b"))
    assert once.with_edge(edge("concept:b")) == once


def test_adding_a_hidden_edge_shows_it_again() -> None:
    name = edge_id(edge("concept:b"))
    hidden = Edits().without_edge(name)
    assert hidden.removed == (name,)
    assert hidden.with_edge(edge("concept:b")).removed == ()


def test_edits_tried_out_come_on_top_of_those_that_are_kept() -> None:
    kept = Edits((edge("concept:b"),), ("1",))
    both = kept | Edits((edge("concept:c"),), ("0",))
    assert [e.target for e in both.edges] == ["concept:b", "concept:c"]
    assert both.removed == ("0", "1")


def test_threads_that_edit_at_once_lose_nothing(tmp_path: Path) -> None:
    store = EditStore(tmp_path / "edits")
    threads = [
        threading.Thread(target=store.add, args=("doc", edge(f"concept:{n}"))) for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store.read("doc").edges) == 12
    assert len(list((tmp_path / "edits").iterdir())) == 1


def test_a_document_may_call_itself_a_path(tmp_path: Path) -> None:
    store = EditStore(tmp_path / "edits")
    store.add("../../escape", edge("concept:b"))
    assert [p.parent for p in tmp_path.rglob("*.json")] == [tmp_path / "edits"]
    assert len(store.read("../../escape").edges) == 1


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("report.pdf", "report.pdf"),
        ("C:\\Users\\me\\report.pdf", "report.pdf"),
        ("a/b/../c.tex", "c.tex"),
        ("...", "document"),
        (".pdf", "pdf"),
        ("Übersicht (2).docx", "Übersicht (2).docx"),
        ("line\nbreak.md", "line_break.md"),
        ("", "document"),
    ],
)
def test_a_name_is_made_safe_and_stays_readable(name: str, kept: str) -> None:
    assert safe_name(name) == kept


def test_loopback_is_told_from_everything_else() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "192.168.0.1", "example.org", "")))


def test_a_picture_is_a_file_every_viewer_opens() -> None:
    picture = png(np.zeros((2, 3, 3), np.uint8))
    assert picture.startswith(b"\x89PNG\r\n\x1a\n")
    assert picture.endswith(b"IEND\xaeB`\x82")


def test_of_two_equal_quotes_the_one_that_is_meant_is_found(tmp_path: Path) -> None:
    page = Page()
    page.lines(50, 100, ["The same words stand here twice.", "Between them is another line."])
    page.lines(50, 300, ["The same words stand here twice."])
    path = tmp_path / "twice.pdf"
    path.write_bytes(pdf(page))
    tops = [
        places(Quotation(path, 1, "The same words stand here twice.", nth)).boxes[0][1] * HEIGHT
        for nth in (0, 1)
    ]
    assert tops[0] == pytest.approx(92, abs=6)
    assert tops[1] == pytest.approx(292, abs=6)


def test_lines_that_are_drawn_in_another_order_are_found_one_by_one(tmp_path: Path) -> None:
    page = Page()
    page.text(50, 112, "and its second line was drawn before it.")
    page.text(50, 100, "The first line of a sentence comes last")
    path = tmp_path / "order.pdf"
    path.write_bytes(pdf(page))
    quote = "The first line of a sentence comes last\nand its second line was drawn before it."
    first, second = sorted(places(Quotation(path, 1, quote)).boxes, key=lambda box: box[1])
    assert first[3] <= second[3]
    assert first[0] == pytest.approx(second[0], abs=0.01)


def test_part_of_a_word_marks_the_word(tmp_path: Path) -> None:
    path = tmp_path / "word.pdf"
    path.write_bytes(pdf(Page().text(50, 100, "unbelievable")))
    assert len(places(Quotation(path, 1, "believ")).boxes) == 1
    assert without_spaces(" a\tb\nc ") == "abc"


@pytest.fixture
def perform(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Perform:
    monkeypatch.setattr("os.nice", lambda _more: 0)  # of the worker alone
    return UploadTask(WorkspaceConfig(tmp_path / "store.db")).start()


def test_the_process_that_indexes_opens_its_store_once(
    tmp_path: Path, perform: Perform, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[object] = []
    original = SqliteStore.open

    def counted(path: str | Path, *, create: bool = True) -> SqliteStore:
        opened.append(path)
        return original(path, create=create)

    monkeypatch.setattr(SqliteStore, "open", counted)
    said: list[dict[str, object]] = []
    monkeypatch.setattr(protocol._LINE, "send", said.append)
    for name in ("bern", "basel"):
        (tmp_path / f"{name}.md").write_text(f"# {name}\n\nThe mayor of {name} built a bridge.\n")
        assert perform((tmp_path / f"{name}.md", False)) == {"document": name}
    assert opened == [tmp_path / "store.db"]
    assert [step["done"] for step in said if step["step"] == "read"] == [0, 0]


def test_a_store_that_cannot_be_opened_is_the_failure_of_the_file(
    tmp_path: Path, perform: Perform
) -> None:
    (tmp_path / "store.db").write_text("this is no store" * 100)
    (tmp_path / "bern.md").write_text("The mayor of Bern built a bridge.\n")
    told = perform((tmp_path / "bern.md", False))
    assert "is not a store or is broken" in told["error"]["error"]
