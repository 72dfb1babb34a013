"""Pictures of pages are read, quoted and found again on the page; doubt is said."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from abstrag.documents import pdf
from abstrag.documents.load import load_bytes
from abstrag.documents.ocr import PictureWord, _words
from abstrag.documents.pdf_layout.reader import picture_of
from abstrag.errors import AbstragError, Damaged, FileTooLarge, NoTextLayer
from abstrag.model.document import Document, ScannedPage, ScannedWord, Span, doubtful_words
from abstrag.server.pdf_pages import Quotation, places
from tests.unit.documents.pdf_maker import Page
from tests.unit.documents.pdf_maker import pdf as made_pdf

LINE = "The harbour master closed the eastern lock in March."
NEXT = "Ships wait outside until the repair is done."


def printed() -> bytes:
    return made_pdf(Page().text(72, 100, LINE, size=14).text(72, 120, NEXT, size=14))


def scanned(kind: str = "PDF") -> bytes:
    """Return a picture of a page with two lines, as a file of some kind."""
    images = pytest.importorskip("PIL.Image", reason="needs abstrag[ocr]")
    pytest.importorskip("rapidocr", reason="needs abstrag[ocr]")
    pixels, _, _ = picture_of(printed(), 1, "printed.pdf")
    stream = io.BytesIO()
    images.fromarray(pixels).save(stream, kind, **({"resolution": 200} if kind == "PDF" else {}))
    return stream.getvalue()


@pytest.fixture(scope="module")
def scan() -> tuple[bytes, Document]:
    data = scanned()
    return data, load_bytes(data, name="scan.pdf")


def test_a_scanned_page_is_read_and_its_quotes_are_exact(scan: tuple[bytes, Document]) -> None:
    document = scan[1]
    assert " ".join(document.text.split()) == f"{LINE} {NEXT}"
    assert all(document.quote(block.span) for block in document.blocks)
    assert [page.number for page in document.scans] == [1]


def test_a_quotation_of_a_scan_is_found_where_it_was_printed(
    scan: tuple[bytes, Document], tmp_path: Path
) -> None:
    data, document = scan
    (tmp_path / "scan.pdf").write_bytes(data)
    (tmp_path / "printed.pdf").write_bytes(printed())
    scanned = Quotation(tmp_path / "scan.pdf", 1, NEXT, scan=document.scans[0])
    (read,) = places(scanned).boxes
    (real,) = places(Quotation(tmp_path / "printed.pdf", 1, NEXT)).boxes
    assert np.allclose(read, real, atol=0.015)


def test_pages_with_text_are_read_from_their_text_beside_scanned_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf, "can_read", lambda: False)
    document = pdf.load_pdf(made_pdf(Page().text(72, 100, LINE), Page().picture()), "mixed.pdf")
    assert document.text == LINE
    assert document.scans == (ScannedPage(2, read=False),)


def test_pictures_are_documents() -> None:
    document = load_bytes(scanned("PNG"), name="photo.png")
    assert " ".join(document.text.split()) == f"{LINE} {NEXT}"
    assert document.metadata.format == "image"


@pytest.mark.parametrize("start", [b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"II*\0"])
def test_a_picture_without_the_extra_is_refused_with_a_hint_that_names_it(
    start: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "can_read", lambda: False)
    with pytest.raises(NoTextLayer) as caught:
        load_bytes(start + bytes(100), name="photo")
    assert "abstrag[ocr]" in str(caught.value.hint)


def test_a_broken_picture_is_damaged() -> None:
    with pytest.raises(Damaged, match=r"'photo\.png' is broken"):
        load_bytes(scanned("PNG")[:400], name="photo.png")


def test_too_many_scanned_pages_are_refused_and_the_limit_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pdf, "can_read", lambda: True)
    monkeypatch.setattr(pdf, "MAX_SCANNED_PAGES", 1)
    with pytest.raises(FileTooLarge, match=r"'long\.pdf' .* MAX_SCANNED_PAGES"):
        load_bytes(made_pdf(Page().picture(), Page().picture()), name="long.pdf")


def test_a_picture_of_too_many_pixels_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = scanned("PNG")
    monkeypatch.setattr(pdf, "MAX_PICTURE_PIXELS", 1000)
    with pytest.raises(AbstragError, match="MAX_PICTURE_PIXELS"):
        load_bytes(data, name="huge.png")


def pieces(*texts: str) -> list[tuple[str, float, list[list[int]]]]:
    return [
        (text, 0.9 + i / 100, [[10 * i, 0], [10 * i + 9, 0], [10 * i + 9, 5], [10 * i, 5]])
        for i, text in enumerate(texts)
    ]


def test_halves_of_a_word_are_joined_and_words_without_a_space_are_parted() -> None:
    assert [w.text for w in _words("Great Models", pieces("Great", "M", "odels"))] == [
        "Great",
        "Models",
    ]
    assert [w.text for w in _words("HetaGandhi", pieces("Heta", "Gandhi"))] == ["Heta", "Gandhi"]
    joined = list(_words("Models", pieces("M", "odels")))
    assert joined == [PictureWord("Models", (0.0, 0.0, 19.0, 5.0), 0.9)]


def test_words_that_were_hard_to_read_are_named_in_the_doubt_about_a_quote() -> None:
    words = tuple(
        ScannedWord(text, (0.0, 0.0, 0.1, 0.1), sure)
        for text, sure in (("Ships", 0.99), ("wart", 0.55), ("outside", 0.98), ("here", 0.4))
    )
    page = ScannedPage(1, words)
    assert doubtful_words(page, "Ships wart outside") == ("wart",)
    document = Document("d", "d", "Ships wart outside", (), scans=(page,))
    assert document.doubt(Span(0, 18), 1) == "read from a picture, not sure of 'wart'"
    assert document.doubt(Span(0, 18), 2) == document.doubt(Span(0, 5), 1) == ""


def test_the_places_of_words_on_a_picture_do_not_change_the_hash_of_a_document() -> None:
    bare = Document("d", "d", "Ships", ())
    page = ScannedPage(1, (ScannedWord("Ships", (0.0, 0.0, 0.1, 0.1), 0.9),))
    assert Document("d", "d", "Ships", (), scans=(page,)).content_hash == bare.content_hash
