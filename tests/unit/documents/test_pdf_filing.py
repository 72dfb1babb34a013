"""The sections of a filing: parts, items, statements and notes, whatever they are set in."""

from abstrag.documents.pdf import load_pdf
from abstrag.documents.pdf_layout.headings import ITEM, NOTE, PART, STATEMENT, rank_of
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.pdf_maker import Page, pdf, width
from tests.unit.documents.soundness import check_document, tree
from tests.unit.documents.test_cover import ANNUAL
from tests.unit.documents.test_pdf import FOX, SHIP


def headed(*lines: str) -> Page:
    """A page with bold lines, set one under the other, and prose below."""
    page = Page()
    for i, line in enumerate(lines):
        page.text(72, 160 + 12 * i, line, font="bold")
    page.justified(72, 180 + 12 * len(lines), f"Under {lines[-1]!r} stands this. {FOX}", 400)
    return page


def cover() -> Page:
    page = Page()
    for i, line in enumerate(ANNUAL):
        text = line.replace("☒ ", "")
        page.text(300 - width(text) / 2, 60 + 24 * i, text, font="bold")
    return page


def filing(*pages: Page) -> Document:
    return check_document(load_pdf(pdf(cover(), *pages), "filing.pdf"))


def test_parts_hold_items_items_statements_and_notes_to_the_statements_notes() -> None:
    document = filing(
        headed("PART II"),
        headed("Item 7. Discussion and Analysis.", "Balance Sheet:"),
        headed("Item 8. Financial Statements."),
        headed("HARBOUR TOOLS, INC.", "Consolidated Balance Sheets", "At December 31, 2018"),
        headed("Notes to Consolidated Financial Statements"),
        headed("Note 1. Policies"),
        headed("Inventories"),
        headed("Note 2. Ships"),
        headed("SIGNATURES"),
    )
    assert tree(document) == [
        (1, "PART II"),
        (2, "Item 7. Discussion and Analysis."),
        (3, "Balance Sheet:"),
        (2, "Item 8. Financial Statements."),
        (3, "Consolidated Balance Sheets"),
        (3, "Notes to Consolidated Financial Statements"),
        (4, "Note 1. Policies"),
        (5, "Inventories"),
        (4, "Note 2. Ships"),
        (1, "SIGNATURES"),
    ]


def test_a_heading_printed_again_on_the_next_page_goes_on_with_its_section() -> None:
    running = "Notes to Consolidated Financial Statements"
    document = filing(
        headed("Item 8. Financial Statements"),
        headed(running, "Note 1. Policies"),
        headed(running),
        headed("Note 2. Ships"),
    )
    paths = {b.page: b.section for b in document.blocks if b.text.startswith("Under ")}
    assert paths[4] == paths[3] == ("Item 8. Financial Statements", running, "Note 1. Policies")
    assert paths[5][-1] == "Note 2. Ships"


def test_a_table_of_contents_has_no_sections() -> None:
    contents = Page()
    contents.text(72, 60, "TABLE OF CONTENTS", font="bold")
    contents.text(72, 80, "PART I", font="bold")
    for i in range(1, 6):
        contents.text(72, 90 + 20 * i, f"Item {i}. Part of the report {3 * i}")
    document = filing(contents, headed("PART I"), headed("Item 1. Business"))
    assert tree(document) == [(1, "TABLE OF CONTENTS"), (1, "PART I"), (2, "Item 1. Business")]


def test_a_torn_word_is_mended_where_the_document_has_it_whole() -> None:
    page = headed("Item 2. Propertie s.")
    page.justified(72, 300, f"{SHIP} These properties are ours.", 400)
    document = filing(page)
    assert tree(document) == [(2 - 1, "Item 2. Properties.")]


def test_what_is_no_form_keeps_its_headings() -> None:
    page = headed("HARBOUR TOOLS")
    document = check_document(load_pdf(pdf(page), "letter.pdf"))
    assert [b.kind for b in document.blocks][:1] == [BlockKind.HEADING]


def test_ranks_are_told_by_name() -> None:
    assert rank_of("PART IV") == PART
    assert rank_of("Part II — Other information") == PART
    assert rank_of("ITEM 1A. RISK FACTORS") == ITEM
    assert rank_of("Consolidated Statements of Cash Flows") == STATEMENT
    assert rank_of("NOTE 12 — EARNINGS PER SHARE") == NOTE
    assert rank_of("2. Restructuring", in_notes=True) == NOTE
    for text in ("Partnerships", "Items of note", "2. Restructuring", "Our statements"):
        assert rank_of(text) is None


def release(*pages: Page) -> Document:
    return check_document(load_pdf(pdf(*pages), "release.pdf"))


def headline(*below: str) -> Page:
    page = Page()
    page.text(72, 80, "Harbour Tools Reports Fourth Quarter 2022 Results", size=18, font="bold")
    for i, line in enumerate(below):
        page.text(72, 120 + 24 * i, line, font="bold")
    at = page.justified(72, 220, f"HARBOUR CITY, Maine -- Harbour Tools said so. {FOX}", 400)
    page.text(72, at + 12, "For the Fourth Quarter", font="bold")
    page.justified(72, at + 30, f"Under it stands this. {SHIP}", 400)
    return page


def test_lines_below_a_headline_are_no_sections() -> None:
    document = release(headline("Sales of $3 Billion", "Income of $340 Million"))
    assert tree(document)[1:] == [(1, "For the Fourth Quarter")]


def test_a_name_under_the_filers_in_an_exhibit_heads_the_table_below() -> None:
    page = Page()
    page.text(400, 60, "Exhibit 5")
    page.text(220, 84, "Harbour Tools", font="bold")
    page.text(220, 108, "Store Update", font="bold")
    for i, row in enumerate((("", "2022", "2021"), ("Stores", "12", "11"), ("Docks", "3", "2"))):
        for x, cell in zip((72, 300, 400), row, strict=True):
            page.text(x, 140 + 14 * i, cell)
    document = release(headline(), page)
    assert tree(document)[-2:] == [(1, "Exhibit 5"), (2, "Store Update")]


def test_who_signed_and_as_what_is_no_section() -> None:
    page = headed("Exhibit 31.1")
    page.text(300, 400, "/s/ ANN FARRIER", font="italic")
    page.text(300, 430, "Ann Farrier", font="italic")
    page.text(300, 460, "Chief Executive Officer", font="italic")
    page.justified(72, 500, f"Under it stands this. {SHIP}", 400)
    assert tree(filing(page)) == [(1, "Exhibit 31.1")]


def test_a_heading_whose_line_ends_open_goes_on_with_a_number() -> None:
    prose = [headed(f"Item {i}. Ships") for i in range(1, 5)]
    page = headed("CERTIFICATION PURSUANT TO", "18 U.S.C. SECTION 1350")
    document = filing(*prose, headed("Exhibit 32.1"), page)
    assert tree(document)[-1] == (2, "CERTIFICATION PURSUANT TO 18 U.S.C. SECTION 1350")


def test_a_heading_in_capitals_at_the_top_of_a_page_ends_what_is_open_in_a_release() -> None:
    first = headed("OTHER MEASURES")
    first.rule(72, 72 + width("OTHER MEASURES"), 162)
    document = release(headline(), first, headed("Free cash"), headed("PREPARED REMARKS"))
    assert tree(document)[-3:] == [
        (1, "OTHER MEASURES"),
        (2, "Free cash"),
        (1, "PREPARED REMARKS"),
    ]
