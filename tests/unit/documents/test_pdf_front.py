"""What a PDF says about itself: headings and sections, the title, the date."""

import pytest

from abstrag.documents.pdf import load_pdf
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.pdf_maker import Page, pdf, width
from tests.unit.documents.soundness import check_document, tree
from tests.unit.documents.test_pdf import FOX, SHIP


def read(*pages: Page, info: str = "") -> Document:
    return check_document(load_pdf(pdf(*pages, info=info), "sample.pdf"))


def centred(page: Page, y: float, text: str, *, size: float = 10, font: str = "regular") -> None:
    page.text(300 - width(text, size) / 2, y, text, size=size, font=font)


def paper() -> Page:
    page = Page()
    centred(page, 60, "Foxes and Ships: A Study of the", size=18, font="bold")
    centred(page, 84, "Causes of Delay in Harbours", size=18, font="bold")
    centred(page, 110, "A. Writer, B. Reader", size=12, font="bold")
    page.text(72, 140, "Abstract", font="bold")
    y = page.justified(72, 154, FOX, 400)
    page.text(72, y + 10, "1   Introduction", size=13, font="bold")
    y = page.justified(72, y + 26, SHIP, 400)
    page.text(72, y + 10, "2   Methods", size=13, font="bold")
    page.text(72, y + 30, "2.1   Counting", size=11, font="bold")
    y = page.justified(72, y + 44, FOX, 400)
    page.text(72, y + 10, "References", size=13, font="bold")
    page.text(72, y + 26, "[1] A. Writer. On foxes. Journal of Delay, 2019.")
    page.text(72, y + 38, "[2] B. Reader. On ships. Journal of Delay, 2020.")
    return page


def test_sections_follow_numbers_and_the_title_is_none_of_them() -> None:
    document = read(paper())
    assert document.title == "Foxes and Ships: A Study of the Causes of Delay in Harbours"
    assert tree(document) == [
        (0, document.title),
        (1, "Abstract"),
        (1, "1 Introduction"),
        (1, "2 Methods"),
        (2, "2.1 Counting"),
        (1, "References"),
    ]
    counted = next(b for b in document.blocks if b.section and b.section[-1] == "2.1 Counting")
    assert counted.section == ("2 Methods", "2.1 Counting")
    assert [b.section for b in document.blocks if b.kind is BlockKind.LIST_ITEM] == [
        ("References",),
        ("References",),
    ]


def test_sizes_weights_and_lines_below_make_levels_where_there_are_no_numbers() -> None:
    page = Page()
    page.text(72, 60, "SUMMARY OF RESULTS", font="bold")
    y = page.justified(72, 76, FOX, 400)
    page.text(72, y + 10, "Foxes", font="bold")
    y = page.justified(72, y + 26, SHIP, 400)
    page.text(72, y + 10, "By region").rule(72, 72 + width("By region"), y + 11.5)
    y = page.justified(72, y + 26, FOX, 400)
    page.text(72, y + 14, "OUTLOOK", font="bold")
    page.justified(72, y + 30, SHIP, 400)
    assert tree(read(page)) == [
        (1, "SUMMARY OF RESULTS"),
        (2, "Foxes"),
        (3, "By region"),
        (1, "OUTLOOK"),
    ]


def test_a_bold_sentence_is_no_heading() -> None:
    page = Page()
    page.text(72, 60, "Nobody counted the barrels before the ship left.", font="bold")
    page.justified(72, 80, FOX, 400)
    assert tree(read(page)) == []


@pytest.mark.parametrize(
    ("header", "title"),
    [
        ("The Salt Handbook", "The Salt Handbook"),
        ("Microsoft Word - salt.doc", "sample.pdf"),
        ("salt-2024-final.pdf", "sample.pdf"),
        ("0000320187-21-000028", "sample.pdf"),
    ],
)
def test_the_file_header_names_the_document_where_it_is_sane(header: str, title: str) -> None:
    page = Page()
    page.justified(72, 100, FOX, 400)
    assert read(page, info=f"/Title ({header})").title == title


@pytest.mark.parametrize(
    ("over", "heading", "title"),
    [
        ("Causes of Delay in Harbours", "5.1   Counting", "Causes of Delay in Harbours"),
        ("Causes of Delay in Harbours", "Counting", "Counting"),
        ("Delays", "5.1   Counting", "5.1 Counting"),
    ],
)
def test_a_page_out_of_the_middle_is_named_by_what_runs_over_it(
    over: str, heading: str, title: str
) -> None:
    page = Page().text(72, 40, over).text(500, 40, "9")
    y = page.justified(72, 80, FOX, 400)
    page.text(72, y + 10, heading, font="bold")
    page.justified(72, y + 26, SHIP, 400)
    assert read(page).title == title


@pytest.mark.parametrize(
    ("line", "iso", "quoted"),
    [
        ("March 9, 2023", "2023-03-09", "March 9, 2023"),
        ("Published on 9 March 2023", "2023-03-09", "9 March 2023"),
        ("LONDON, March 9, 2023 -- The fox was seen again.", "2023-03-09", "March 9, 2023"),
        ("For the fiscal year ended May 31, 2021", "2024-05-15", None),
        ("The fox was last seen on March 9, 2023 near the bridge.", "2024-05-15", None),
    ],
)
def test_a_printed_date_goes_before_that_of_the_header(
    line: str, iso: str, quoted: str | None
) -> None:
    page = Page().text(72, 60, line)
    page.justified(72, 100, FOX, 400)
    document = read(page, info="/CreationDate (D:20240515103000Z)")
    assert document.metadata.date == iso
    span = document.metadata.date_span
    assert (document.quote(span) if span else None) == quoted
    assert document.metadata.format == "pdf"


def test_a_document_without_any_date_has_none() -> None:
    page = Page()
    page.justified(72, 100, FOX, 400)
    assert read(page).metadata.date is None
