from collections.abc import Iterator
from pathlib import Path

import pytest

from abstrag.documents.load import load, load_bytes
from abstrag.documents.readers import own_readers
from abstrag.errors import DocumentError, EmptyDocument
from tests.unit.documents.soundness import check_document

READERS = """
from abstrag.documents.text import load_text
from abstrag.errors import EmptyDocument
from abstrag.model.document import Block, BlockKind, Document
from abstrag.model.document import OffsetMap, Span


def read(data, name):
    return load_text(data.replace(b"@", b""), name)


def fail(data, name):
    raise KeyError("oops")


def refuse(data, name):
    raise EmptyDocument("nothing there")


def wrong(data, name):
    return "words"


def empty(data, name):
    return Document("x", "x", "", ())


def past_the_end(data, name):
    block = Block(BlockKind.PARAGRAPH, "words", Span(0, 50), OffsetMap(((0, 0),)))
    return Document("x", "x", "words", (block,))
"""


@pytest.fixture(autouse=True)
def own_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package that brings readers, as far as Python can tell."""
    names = "read fail refuse wrong empty past_the_end".split()
    lines = [f".{name} = brought_readers:{name}" for name in names]
    found = tmp_path / "brought_readers-1.0.dist-info"
    found.mkdir()
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: brought-readers\nVersion: 1.0\n")
    (found / "entry_points.txt").write_text(
        "\n".join(["[abstrag.documents]", "TXT = brought_readers:read", *lines]) + "\n"
    )
    (tmp_path / "brought_readers.py").write_text(READERS)
    monkeypatch.syspath_prepend(str(tmp_path))
    own_readers.cache_clear()
    yield
    own_readers.cache_clear()


def test_a_brought_reader_reads_its_suffix_whatever_the_file_holds(tmp_path: Path) -> None:
    (tmp_path / "My Notes.Read").write_bytes(b"\0@One@ sentence.\n".replace(b"\0", b""))
    document = check_document(load(tmp_path / "My Notes.Read"))
    assert document.text == "One sentence.\n"
    assert document.id == "my-notes"
    assert document.metadata.source == str(tmp_path / "My Notes.Read")
    assert document.metadata.format == "text"


def test_a_brought_reader_goes_before_ours_and_leaves_other_suffixes_alone() -> None:
    assert load_bytes(b"@One@ sentence.\n", name="a.txt").text == "One sentence.\n"
    assert load_bytes(b"@One@ sentence.\n", name="a.text").text == "@One@ sentence.\n"


@pytest.mark.parametrize(
    ("suffix", "why"),
    [
        ("fail", "KeyError: 'oops'"),
        ("wrong", "returned str, not a Document"),
        ("empty", "found no text"),
        ("past_the_end", "block 0 has a span that ends behind the text"),
    ],
)
def test_a_brought_reader_that_fails_is_named_in_one_error(suffix: str, why: str) -> None:
    with pytest.raises(
        DocumentError, match=f"'a.{suffix}' cannot be read by 'brought_readers:"
    ) as e:
        load_bytes(b"words", name=f"a.{suffix}")
    assert why in str(e.value)


def test_an_error_of_ours_passes_through() -> None:
    with pytest.raises(EmptyDocument, match="nothing there"):
        load_bytes(b"words", name="a.refuse")


def test_two_readers_for_one_suffix_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "other-1.0.dist-info"
    other.mkdir()
    (other / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (other / "entry_points.txt").write_text("[abstrag.documents]\n.read = other:read\n")
    own_readers.cache_clear()
    with pytest.raises(DocumentError, match=r"two packages read '\.read' files"):
        load_bytes(b"words", name="a.read")
