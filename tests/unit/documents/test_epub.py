import pytest

from abstrag.documents import epub, zip_package
from abstrag.documents.epub import load_epub
from abstrag.errors import Damaged, EmptyDocument, Encrypted, FileTooLarge
from abstrag.model.document import Document
from tests.unit.documents.soundness import check_document, decoded, table, tree
from tests.unit.documents.zip_maker import book, locked, packed


def page(body: str, title: str = "") -> str:
    return f"<html><head><title>{title}</title></head><body>{body}</body></html>"


def read(data: bytes) -> Document:
    document = check_document(load_epub(data, "mill.epub"))
    for block in document.blocks:
        assert decoded(document, block) == []
        for cell in block.table.cells if block.table else ():
            assert document.quote(cell.span) == cell.text
    return document


def test_chapters_are_sections_in_reading_order() -> None:
    first = page("<h1>River</h1><p>It floods.</p><h2>Dam</h2><p>Of oak.</p>", "River")
    second = page("<h2>Workers</h2><p>Forty men.</p>", "The Mill")
    document = read(book({"b.xhtml": first, "a.xhtml": second}))
    assert document.title == "The Mill"
    assert document.metadata.date == "1931-04-02"
    assert tree(document) == [(1, "River"), (2, "Dam"), (2, "Workers")]
    assert [(b.text, b.section) for b in document.blocks if b.level is None] == [
        ("It floods.", ("River",)),
        ("Of oak.", ("River", "Dam")),
        ("Forty men.", ("Workers",)),
    ]


def test_a_chapter_without_heading_goes_by_its_name_in_the_table_of_contents() -> None:
    contents = (
        '<a href="text/a.xhtml#start">The River</a><br><a href="text/b.xhtml">The&nbsp;Dam</a>'
    )
    pages = {"a.xhtml": page("<p>It floods.</p>"), "b.xhtml": page("<p>The Dam</p><p>Of oak.</p>")}
    document = read(book(pages, contents=contents))
    assert [(b.kind.value, b.text, b.section) for b in document.blocks] == [
        ("paragraph", "It floods.", ("The River",)),
        ("heading", "The Dam", ()),
        ("paragraph", "Of oak.", ("The Dam",)),
    ]


def test_tables_and_captions_of_later_chapters_point_at_their_own_text() -> None:
    rows = "<tr><th>Year</th><th>Men</th></tr><tr><td>1900</td><td>40</td></tr>"
    second = page(f"<table><caption>Staff</caption>{rows}</table>")
    document = read(book({"a.xhtml": page("<p>Before.</p>"), "b.xhtml": second}))
    caption = table(document).caption
    assert caption is not None
    assert document.quote(caption.span) == "Staff"


def test_covers_and_scripts_leave_no_text() -> None:
    cover = page('<img src="cover.jpg"/><script>alert("x")</script>')
    document = read(book({"cover.xhtml": cover, "a.xhtml": page("<p>Words.</p>")}))
    assert document.text == "Words."
    with pytest.raises(EmptyDocument, match="no text"):
        load_epub(book({"cover.xhtml": cover}), "pictures.epub")


def test_a_damaged_or_locked_book_gets_one_clear_error() -> None:
    whole = book({"a.xhtml": page("<p>Words.</p>")})
    with pytest.raises(Damaged, match="list of parts"):
        load_epub(whole[:200], "cut.epub")
    with pytest.raises(Encrypted, match="password"):
        load_epub(locked(whole), "locked.epub")
    with pytest.raises(Damaged, match=r"chapter OEBPS/text/a\.xhtml is missing"):
        load_epub(book({"a.xhtml": ""}), "gone.epub")
    with pytest.raises(Damaged, match="where its contents begin"):
        load_epub(packed({"META-INF/container.xml": "<container/>"}), "no-root.epub")


def test_a_book_locked_by_its_seller_is_refused_and_locked_fonts_are_not() -> None:
    def lock(path: str) -> bytes:
        text = f'<encryption><CipherReference URI="{path}"/></encryption>'
        pages = {"a.xhtml": page("<p>Words.</p>")}
        return book(pages, more={"META-INF/encryption.xml": text})

    with pytest.raises(Encrypted, match="locked by its seller"):
        load_epub(lock("OEBPS/text/a.xhtml"), "bought.epub")
    assert read(lock("OEBPS/fonts/a.otf")).text == "Words."


def test_too_many_chapters_or_bytes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {f"{i}.xhtml": page("<p>Words.</p>") for i in range(3)}
    monkeypatch.setattr(epub, "MAX_CHAPTERS", 2)
    with pytest.raises(FileTooLarge, match="more than 2 chapters"):
        load_epub(book(pages), "long.epub")
    monkeypatch.setattr(zip_package, "MAX_READ_BYTES", 1_000_000)
    with pytest.raises(FileTooLarge, match="unpacks to more"):
        load_epub(book({"a.xhtml": page(" " * 2_000_000)}), "bomb.epub")
