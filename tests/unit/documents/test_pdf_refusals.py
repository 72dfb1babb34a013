"""Files that are no readable PDF: each has its own error, and none brings us down."""

import threading

import pypdfium2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents import pdf as pdf_loader
from abstrag.documents.pdf import load_pdf
from abstrag.documents.pdf_layout import reader
from abstrag.errors import AbstragError, Damaged, EmptyDocument, Encrypted, NoTextLayer
from tests.unit.documents.pdf_maker import Page, pdf
from tests.unit.documents.soundness import check_document, decoded
from tests.unit.documents.test_pdf import FOX

LOCKED = f"/Filter /Standard /V 1 /R 2 /Length 40 /P -4 /O <{'11' * 32}> /U <{'22' * 32}>"


def sample() -> bytes:
    page = Page()
    y = page.justified(72, 100, FOX, 400)
    for i, label in enumerate(("Sales", "Costs")):
        page.text(72, y + 20 + 12 * i, label).right(300, y + 20 + 12 * i, "$ 1,000")
        page.right(400, y + 20 + 12 * i, "2,000")
    return pdf(page, Page().text(72, 60, "2.1 Methods", font="bold").dot(60, 90), Page().picture())


WHOLE = sample()


@pytest.fixture(autouse=True)
def without_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave pictures alone: these tests are about what PDFium reads."""
    monkeypatch.setattr(pdf_loader, "can_read", lambda: False)


def test_a_locked_file_says_that_it_needs_a_password() -> None:
    with pytest.raises(Encrypted, match=r"'locked\.pdf' needs a password"):
        load_pdf(pdf(Page().text(72, 100, "secret"), encrypt=LOCKED), "locked.pdf")


def test_pictures_of_pages_have_no_text_layer_and_the_hint_says_what_to_do() -> None:
    with pytest.raises(NoTextLayer) as caught:
        load_pdf(pdf(Page().picture(), Page().picture()), "scan.pdf")
    assert "abstrag[ocr]" in str(caught.value.hint)


@pytest.mark.parametrize("pages", [(), (Page(),), (Page(), Page())])
def test_blank_pages_and_no_pages_are_empty(pages: tuple[Page, ...]) -> None:
    with pytest.raises(EmptyDocument):
        load_pdf(pdf(*pages), "blank.pdf")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_file_that_is_cut_off_is_damaged(share: float) -> None:
    with pytest.raises(Damaged, match="cut off"):
        load_pdf(WHOLE[: int(share * len(WHOLE))], "half.pdf")


def test_an_update_that_was_never_finished_is_damaged() -> None:
    with pytest.raises(Damaged, match="has no end"):
        load_pdf(WHOLE + b"12 0 obj\n" + b"0 " * 2000, "update.pdf")


def test_bytes_that_only_end_like_a_pdf_are_damaged() -> None:
    with pytest.raises(Damaged):
        load_pdf(b"not at all a PDF\n%%EOF\n", "letter.pdf")


def test_the_file_is_closed_when_a_page_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    for kind in ("PdfDocument", "PdfPage", "PdfTextPage"):
        close = getattr(pypdfium2, kind).close

        def counting(self: object, kind: str = kind, close: object = close) -> object:
            closed.append(kind)
            return close(self)  # type: ignore[operator]

        monkeypatch.setattr(getattr(pypdfium2, kind), "close", counting)

    def broken(page: object) -> object:
        raise pypdfium2.PdfiumError("no such page")

    monkeypatch.setattr(reader, "glyphs_of", broken)
    with pytest.raises(Damaged, match=r"page 1 of PDF 'torn\.pdf'"):
        load_pdf(WHOLE, "torn.pdf")
    assert {"PdfDocument", "PdfPage", "PdfTextPage"} <= set(closed)


def test_several_threads_may_read_at_once() -> None:
    hashes: list[str] = []
    threads = [
        threading.Thread(target=lambda: hashes.append(load_pdf(WHOLE, "x").content_hash))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert hashes == [load_pdf(WHOLE, "x").content_hash] * 4


def survives(data: bytes) -> None:
    try:
        document = load_pdf(data, "broken.pdf")
    except AbstragError:
        return
    check_document(document)
    assert not any(decoded(document, block) for block in document.blocks)


@given(st.data())
def test_broken_bytes_are_a_document_or_an_error_of_ours(data: st.DataObject) -> None:
    broken = bytearray(WHOLE)
    for _ in range(data.draw(st.integers(1, 8))):
        at = data.draw(st.integers(0, len(broken) - 1))
        broken[at] = data.draw(st.integers(0, 255))
    survives(bytes(broken))
    survives(bytes(broken[: data.draw(st.integers(0, len(broken)))]) + b"\n%%EOF\n")


words = st.tuples(
    st.integers(-20, 620),
    st.integers(-20, 820),
    st.text("ab.1$%(-\u2022 ", min_size=1, max_size=12),
    st.sampled_from([4, 7, 10, 18]),
    st.sampled_from(["regular", "bold", "italic", "mono"]),
    st.booleans(),
)


@given(
    st.lists(st.lists(words, max_size=25), min_size=1, max_size=3),
    st.lists(
        st.tuples(st.integers(0, 300), st.integers(301, 600), st.integers(0, 800)), max_size=4
    ),
)
def test_words_anywhere_on_the_page_make_a_sound_document(
    pages: list[list[tuple[int, int, str, int, str, bool]]], rules: list[tuple[int, int, int]]
) -> None:
    made = []
    for scattered in pages:
        page = Page()
        for x, y, text, size, font, turned in scattered:
            page.text(x, y, text, size=size, font=font, turned=turned)
        for x0, x1, y in rules:
            page.rule(x0, x1, y)
        made.append(page)
    survives(pdf(*made))
