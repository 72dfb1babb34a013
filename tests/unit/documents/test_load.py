import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents.assemble import document_id
from abstrag.documents.load import load, load_bytes
from abstrag.errors import (
    AbstragError,
    DocumentError,
    EmptyDocument,
    FileMissing,
    FileTooLarge,
    NotAFile,
    UnknownFormat,
)
from abstrag.model.document import Document
from abstrag.model.record import to_json
from tests.unit.documents.soundness import check_document

SAMPLES = {
    "text": b"Ducks swim.\n\nGeese fly.\n",
    "markdown": b"# Ducks\n\nThey **swim** and [fly](http://x.org).\n",
    "html": b"<!doctype html><html><body><h1>Ducks</h1><p>They swim.</p></body></html>",
    "latex": b"\\documentclass{article}\\begin{document}\\section{Ducks}They swim.\\end{document}",
    "json": b'{"title": "Ducks", "blocks": [{"text": "They swim."}]}',
}


@pytest.mark.parametrize("kind", sorted(SAMPLES))
def test_a_file_of_every_format_is_read_by_its_content(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "My Ducks (v2)"
    path.write_bytes(SAMPLES[kind])
    document = check_document(load(path))
    assert document.id == "my-ducks-v2"
    assert (document.metadata.format, document.metadata.source) == (kind, str(path))
    assert Document.load(path) == document


def test_an_upload_is_read_without_a_file() -> None:
    document = load_bytes(SAMPLES["markdown"], name="notes.md")
    assert (document.id, document.title, document.metadata.source) == ("notes", "Ducks", "notes.md")


def test_loading_twice_gives_the_same_bytes() -> None:
    for data in SAMPLES.values():
        first, second = (load_bytes(data, name="x") for _ in range(2))
        assert first.content_hash == second.content_hash


def test_a_document_written_as_json_reads_back_again_and_again() -> None:
    document = load_bytes(
        b"\\section{A}\nLet $\\alpha\\beta\\gamma$ be a \\emph{letter}.", name="x.tex"
    )
    for _ in range(2):
        document = load_bytes(to_json(document).encode(), name="y")
    assert (document.id, document.metadata.format) == ("x", "latex")


def test_latex_inputs_are_found_beside_the_file(tmp_path: Path) -> None:
    (tmp_path / "part.tex").write_text("A part.")
    main = tmp_path / "main.tex"
    main.write_text("\\documentclass{article}\\begin{document}\\input{part}\\end{document}")
    assert load(main).blocks[0].text == "A part."


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Report 2024.pdf", "report-2024"),
        ("Ünïcode—Name.md", "unicode-name"),
        ("日本語.txt", "document"),
        ("---.txt", "document"),
        ("a/b/c.tar.gz", "c-tar"),
    ],
)
def test_an_id_is_a_slug_of_the_stem(name: str, expected: str) -> None:
    assert document_id(name) == expected


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    for path in (tmp_path / "none.txt", tmp_path / "none" / "none.txt"):
        with pytest.raises(FileMissing, match=r"none\.txt") as caught:
            load(path)
        assert caught.value.hint


def test_a_folder_and_a_device_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(NotAFile, match="folder"):
        load(tmp_path)
    with pytest.raises(NotAFile, match="regular"):
        load("/dev/null")


def test_a_path_no_file_can_have_is_refused(tmp_path: Path) -> None:
    for name in ("a\0b", "x" * 5000):
        with pytest.raises(DocumentError):
            load(tmp_path / name)


def test_a_large_file_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "big.txt"
    path.write_bytes(b"x" * 2000)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the file was opened")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileTooLarge, match="2,000 bytes") as caught:
        load(path, max_bytes=1999)
    assert "max_file_bytes" in (caught.value.hint or "")


def test_a_large_upload_is_refused() -> None:
    with pytest.raises(FileTooLarge):
        load_bytes(b"x" * 11, name="x.txt", max_bytes=10)
    assert load_bytes(b"x" * 10, name="x.txt", max_bytes=10).text == "x" * 10


@pytest.mark.parametrize(
    "data", [b"", b" \n\t\r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf \n", b"\xff\xfe"]
)
def test_an_empty_file_is_empty(data: bytes) -> None:
    with pytest.raises(EmptyDocument, match=r"'x\.md'"):
        load_bytes(data, name="x.md")


def test_a_picture_is_named() -> None:
    with pytest.raises(UnknownFormat, match="GIF"):
        load_bytes(b"GIF89a\x01\0\x01", name="scan.pdf")


def test_a_refused_permission_is_a_document_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "locked.txt"
    path.write_text("x")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("abstrag.documents.load._without_waiting", refuse)
    with pytest.raises(DocumentError, match="may not be read") as caught:
        load(path)
    assert "permissions" in (caught.value.hint or "")


@given(
    st.binary(max_size=200), st.sampled_from(["x", "x.md", "x.html", "x.tex", "x.json", "x.txt"])
)
def test_random_bytes_are_read_or_refused(data: bytes, name: str) -> None:
    with suppress(AbstragError):
        check_document(load_bytes(data, name=name))


@given(st.data())
def test_damaged_files_are_read_or_refused(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(sorted(SAMPLES)))
    raw = bytearray(SAMPLES[kind])
    for at in data.draw(st.lists(st.integers(0, len(raw) - 1), max_size=4)):
        raw[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    with suppress(AbstragError):
        check_document(load_bytes(bytes(raw[:cut]), name="x"))


def test_a_name_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff.txt"))
    path.write_text("Some words.")
    with pytest.raises(DocumentError, match=r"odd\\udcff") as caught:
        load(path)
    assert caught.value.hint
    str(caught.value).encode()  # it can be printed
