"""PDF files that draw more than they weigh: counted before anything is drawn."""

import zlib
from pathlib import Path

import pytest

from abstrag.documents.load import load_bytes
from abstrag.documents.pdf_layout import reader
from abstrag.documents.pdf_layout.reader import check_instructions
from abstrag.errors import FileTooLarge
from tests.unit.documents.limited import growth, read_limited
from tests.unit.documents.pdf_maker import Page, pdf

_FORM = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800]"
_WORDS = b"BT /F 12 Tf 50 600 Td (inner words) Tj ET "


def stream(entries: bytes, content: bytes, *, packed: bool = False) -> bytes:
    if packed:
        entries, content = entries + b" /Filter /FlateDecode", zlib.compress(content)
    return b"<< %b /Length %d >>\nstream\n%b\nendstream" % (entries, len(content), content)


def file_of(objects: list[bytes]) -> bytes:
    made = b"%PDF-1.4\n"
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(made))
        made += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return (
        made
        + b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, table)
        + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(made))
    )


def drawn(forms: list[tuple[int, int]], *, packed: bool = False, inherited: bool = False) -> bytes:
    """Return a page that draws the first of some forms; each draws `next` so many `times`."""
    held = b"/Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 %b >>" % (held if inherited else b""),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R %b >>"
        % (b"" if inherited else held),
        stream(b"", b"BT /F 12 Tf 50 700 Td (Hello there) Tj ET /X Do", packed=packed),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for following, times in forms:
        used = b"/XObject << /X %d 0 R >>" % (6 + following) if times else b""
        head = _FORM + b" /Resources << /Font << /F 5 0 R >> %b >>" % used
        objects.append(stream(head, _WORDS + b"/X Do " * times, packed=packed))
    return file_of(objects)


def doubling(forms: int) -> list[tuple[int, int]]:
    return [(i + 1, 2) for i in range(forms - 1)] + [(0, 0)]


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "packed"])
@pytest.mark.parametrize("inherited", [False, True], ids=["own", "inherited"])
@pytest.mark.parametrize(
    "forms", [[(0, 2)], doubling(30), [(i + 1, 40) for i in range(6)] + [(0, 0)]]
)
def test_forms_that_multiply_are_refused_before_they_are_drawn(
    tmp_path: Path, forms: list[tuple[int, int]], packed: bool, inherited: bool
) -> None:
    file = tmp_path / "forms.pdf"
    file.write_bytes(drawn(forms, packed=packed, inherited=inherited))
    outcome = read_limited(file)
    assert (outcome.error, bool(outcome.hint)) == ("FileTooLarge", True)
    assert "'forms.pdf'" in outcome.message
    assert "MAX_PAGE_CONTENT_BYTES" in outcome.message


@pytest.mark.parametrize("forms", [[(0, 0)], [(0, 1)], doubling(5)], ids=["one", "itself", "few"])
def test_a_form_or_a_few_are_read(forms: list[tuple[int, int]]) -> None:
    made = load_bytes(drawn(forms), name="a.pdf")
    assert "inner words" in " ".join(block.text for block in made.blocks)


def test_the_work_for_counting_grows_with_the_forms() -> None:
    chain = growth(lambda n: check_instructions(drawn([(i + 1, 1) for i in range(n)])), 200)
    assert chain < 2.2


def test_objects_without_end_are_counted_in_one_pass() -> None:
    assert growth(lambda n: check_instructions(b"1 0 obj << /Type /Page " * n), 2_000) < 2.2


def test_a_page_that_unpacks_to_more_than_its_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "MAX_PAGE_CONTENT_BYTES", 5_000)
    page = Page()
    for line in range(40):
        page.text(50, 60 + 12 * line, "Some words of a page.")
    assert load_bytes(pdf(Page().text(50, 60, "Words.")), name="a.pdf").blocks
    with pytest.raises(FileTooLarge, match=r"'a\.pdf' .* MAX_PAGE_CONTENT_BYTES"):
        load_bytes(drawn([(0, 0)] * 1).replace(b"(Hello", b"(" + b"x" * 6_000), name="a.pdf")


def test_pages_that_draw_too_much_together_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = pdf(*(Page().text(50, 60, "Words of a page.") for _ in range(20)))
    assert load_bytes(data, name="a.pdf").metadata.pages == 20
    monkeypatch.setattr(reader, "MAX_CONTENT_BYTES", 300)
    with pytest.raises(FileTooLarge, match=r"'a\.pdf' .* MAX_CONTENT_BYTES"):
        load_bytes(data, name="a.pdf")


def test_a_pdf_of_too_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "MAX_PAGES", 3)
    data = pdf(*(Page().text(50, 60, "Words.") for _ in range(4)))
    with pytest.raises(FileTooLarge, match=r"'a\.pdf' .* MAX_PAGES"):
        load_bytes(data, name="a.pdf")


def test_objects_that_unpack_to_more_than_their_limit_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reader, "MAX_UNPACKED_BYTES", 1_000)
    many = b" ".join(b"%d %d" % (i, i) for i in range(500))
    head = b"/Type /ObjStm /N 500 /First %d" % len(many)
    with pytest.raises(FileTooLarge, match="MAX_UNPACKED_BYTES"):
        check_instructions(file_of([stream(head, many + b"<<>>" * 500, packed=True)]))
