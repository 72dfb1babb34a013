"""The flow of a PDF's text: reading order, paragraphs, items, notes, and what is left out."""

from abstrag.documents.pdf import load_pdf
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.pdf_maker import Page, pdf, width, wrapped
from tests.unit.documents.soundness import check_document, decoded, texts

FOX = (
    "The quick brown fox jumps over the lazy dog near the river bank while seven wizards watch "
    "from the hill and wonder how long the dog is going to put up with it. "
)
SHIP = (
    "An old ship left the harbour before dawn with a cargo of salt and copper that nobody on "
    "board had cared to count, and it came back a week later with half of it. "
)


def read(*pages: Page, info: str = "") -> Document:
    document = check_document(load_pdf(pdf(*pages, info=info), "sample.pdf"))
    assert [decoded(document, block) for block in document.blocks if decoded(document, block)] == []
    return document


def paragraphs(document: Document) -> list[str]:
    return texts(document, BlockKind.PARAGRAPH)


def test_a_gap_and_an_indent_both_begin_a_paragraph() -> None:
    page = Page()
    y = page.justified(72, 100, FOX, 400, full=True)
    y = page.justified(72, y, SHIP, 400, indent=15, full=True)
    page.justified(72, y + 12, FOX, 400)
    assert paragraphs(read(page)) == [FOX.strip(), SHIP.strip(), FOX.strip()]


def test_a_line_that_stops_early_ends_its_paragraph_in_ragged_text() -> None:
    page = Page()
    y = page.lines(72, 100, wrapped(FOX, 300))
    page.lines(72, y, wrapped(SHIP, 300))
    assert paragraphs(read(page)) == [FOX.strip(), SHIP.strip()]


def test_a_hyphen_stays_in_the_text_and_leaves_the_reading() -> None:
    page = Page()
    page.lines(
        72, 100, ["The committee has been inves-", "tigating the matter since the spring of"]
    )
    page.lines(72, 124, ["that year and is not done."])
    document = read(page)
    assert "inves-\ntigating" in document.text
    assert paragraphs(document) == [
        "The committee has been investigating the matter since the spring of that year and is not"
        " done."
    ]
    block = document.blocks[0]
    at = block.text.index("investigating")
    assert document.quote(block.alignment.locate(at, at + 13)) == "inves-\ntigating"


def three_pages(middle: str) -> tuple[Page, ...]:
    pages = []
    for number in (1, 2, 3):
        page = Page().text(72, 40, "A Short History of Salt", size=8)
        page.text(290, 770, str(number), size=8)
        page.justified(72, 100, FOX * 3, 400)
        pages.append(page)
    pages[0].lines(72, 300, ["Half of the cargo was lost because the captain had never"])
    del pages[1].drawn[2:]
    y = pages[1].lines(72, 80, [middle])
    pages[1].justified(72, y + 14, SHIP, 400)
    return tuple(pages)


def test_a_paragraph_goes_on_over_the_page_and_running_headers_are_dropped() -> None:
    document = read(*three_pages("learned how to read a chart."))
    torn = next(b for b in document.blocks if b.text.startswith("Half"))
    assert torn.text == (
        "Half of the cargo was lost because the captain had never learned how to read a chart."
    )
    assert torn.page == 1
    assert document.quote(torn.span) == torn.text.replace(" learned", "\nlearned")
    assert "History of Salt" not in document.text
    assert not any(block.text.isdigit() for block in document.blocks)
    assert document.metadata.pages == 3


def test_a_new_sentence_on_the_next_page_is_a_block_of_its_own() -> None:
    pages = three_pages("Learning takes time.")
    pages[0].lines(72, 312, ["learned to read a chart."])
    document = read(*pages)
    assert [b.page for b in document.blocks if "earn" in b.text] == [1, 2]


def numbered(labels: list[str], y: float = 770) -> Document:
    pages = []
    for i, label in enumerate(labels):
        page = Page()
        page.justified(72, 100, (FOX + SHIP) * (i + 1), 400)
        pages.append(page.text(280, y, label))
    return read(*pages)


def test_page_numbers_go_in_every_style() -> None:
    for labels in (
        ["1", "2", "3"],
        ["ii", "iii", "iv"],
        ["Page 3 of 10", "Page 4 of 10", "Page 5 of 10"],
        ["- 7 -", "- 8 -", "- 9 -"],
        ["F-1", "F-2", "F-3"],
    ):
        document = numbered(labels)
        assert [block.text for block in document.blocks if len(block.text) < 20] == [], labels


def test_numbers_that_do_not_count_pages_stay() -> None:
    pages = []
    for i, label in enumerate(["Exhibit 1", "Exhibit 4", "Exhibit 9"]):
        page = Page().text(72, 60, label)
        page.justified(72, 100, (FOX + SHIP) * (i + 1), 400)
        pages.append(page)
    assert [t for t in paragraphs(read(*pages)) if t.startswith("Exhibit")] == [
        "Exhibit 1",
        "Exhibit 4",
        "Exhibit 9",
    ]


def test_the_number_of_a_lone_page_goes_and_a_lone_number_in_the_text_stays() -> None:
    page = Page().text(520, 770, "7-45")
    y = page.justified(72, 100, FOX, 400)
    page.text(290, y + 20, "42")
    page.justified(72, y + 60, SHIP, 400)
    document = read(page)
    assert "7-45" not in document.text
    assert "42" in paragraphs(document)


def test_columns_are_read_one_after_the_other_below_a_title_that_spans_them() -> None:
    page = Page().text(120, 60, "Foxes, Ships and Other Causes of Delay", size=18)
    page.justified(60, 100, FOX * 3, 225)
    page.justified(315, 100, SHIP * 3, 225)
    document = read(page)
    assert document.title == "Foxes, Ships and Other Causes of Delay"
    assert paragraphs(document) == [(FOX * 3).strip(), (SHIP * 3).strip()]


def test_a_wide_figure_between_columns_parts_them_into_bands() -> None:
    page = Page()
    page.justified(60, 80, FOX * 2, 225)
    page.justified(315, 80, SHIP * 2, 225)
    page.text(60, 400, "Figure 1: A map of the harbour, far too wide to fit into a single column")
    page.text(60, 412, "of this page.")
    page.justified(60, 450, SHIP * 2, 225)
    page.justified(315, 450, FOX * 2, 225)
    document = read(page)
    assert [(b.kind, b.text[:6]) for b in document.blocks] == [
        (BlockKind.PARAGRAPH, "The qu"),
        (BlockKind.PARAGRAPH, "An old"),
        (BlockKind.CAPTION, "Figure"),
        (BlockKind.PARAGRAPH, "An old"),
        (BlockKind.PARAGRAPH, "The qu"),
    ]
    assert texts(document, BlockKind.CAPTION)[0].endswith("a single column of this page.")


def test_a_page_with_little_text_follows_the_columns_of_the_others() -> None:
    full = Page()
    full.justified(60, 80, FOX * 4, 225)
    full.justified(315, 80, SHIP * 4, 225)
    again = Page()
    again.justified(60, 80, SHIP * 4, 225)
    again.justified(315, 80, FOX * 4, 225)
    last = Page()
    last.justified(60, 80, FOX * 3, 225)
    last.text(315, 80, "Nothing is left to say.")
    assert paragraphs(read(full, again, last))[-1] == "Nothing is left to say."


def test_a_paragraph_flows_around_footnotes_and_floats() -> None:
    page = Page()
    y = page.justified(60, 80, FOX * 4, 225)
    page.lines(60, y, ["Half of the cargo was lost because"])
    page.text(60, 700, "1", size=5).text(63, 703, "Counted by the harbour master.", size=8)
    page.lines(315, 80, ["the captain had never learned to read."])
    page.justified(315, 120, SHIP * 4, 225)
    document = read(page)
    assert [b.text for b in document.blocks if b.text.startswith("Half") or "Half" in b.text] == [
        (FOX * 4) + "Half of the cargo was lost because the captain had never learned to read."
    ]
    assert texts(document, BlockKind.FOOTNOTE) == ["1Counted by the harbour master."]


def test_bullets_and_numbers_make_items_whether_set_or_drawn() -> None:
    page = Page()
    page.justified(72, 80, FOX, 400)
    page.text(80, 130, "\u2022").lines(92, 130, ["salt, of which there was", "plenty"])
    page.dot(84, 176.5).text(92, 180, "copper, drawn with a dot")
    page.text(80, 210, "1.").text(92, 210, "count the barrels")
    page.text(80, 222, "2.").text(92, 222, "count them again")
    document = read(page)
    assert texts(document, BlockKind.LIST_ITEM) == [
        "• salt, of which there was plenty",
        "copper, drawn with a dot",
        "1. count the barrels",
        "2. count them again",
    ]


def test_a_caption_is_told_from_a_sentence_about_a_figure() -> None:
    page = Page()
    page.text(72, 80, "Figure 2: The harbour at dawn.")
    page.text(72, 110, "Figure 2 shows the harbour as the captain saw it on the day he left.")
    document = read(page)
    assert texts(document, BlockKind.CAPTION) == ["Figure 2: The harbour at dawn."]
    assert paragraphs(document) == [
        "Figure 2 shows the harbour as the captain saw it on the day he left."
    ]


def test_the_words_of_a_figure_are_one_block_and_no_headings() -> None:
    page = Page()
    y = page.justified(72, 80, FOX, 400)
    page.text(100, y + 40, "Harbour", font="bold", size=12)
    page.text(300, y + 50, "Ship", size=7).text(200, y + 80, "0 5 10", size=7)
    page.text(72, y + 110, "Figure 1. How the ship left.", size=9)
    document = read(page)
    assert texts(document, BlockKind.HEADING) == []
    assert paragraphs(document) == [FOX.strip(), "Harbour Ship 0 5 10"]


def test_a_stamp_in_the_margin_is_dropped_and_turned_words_inside_are_kept() -> None:
    page = Page().text(30, 600, "arXiv:2401.00001v1 [cs.IR] 17 Jan 2025", size=16, turned=True)
    page.justified(72, 100, (FOX + SHIP) * 2, 400)
    page.text(200, 500, "Rate of loss", size=8, turned=True)
    document = read(page)
    assert "arXiv" not in document.text
    assert document.metadata.date == "2025-01-17"
    assert document.metadata.date_span is None
    assert paragraphs(document)[-1] == "Rate of loss"


def test_a_page_that_is_set_sideways_reads_upright() -> None:
    page = Page(rotate=90)
    for x, text in ((100, FOX), (200, SHIP)):
        for i, line in enumerate(wrapped(text, 400)):
            page.text(x + 12 * i, 700, line, turned=True)
    assert paragraphs(read(page)) == [FOX.strip(), SHIP.strip()]


def test_the_same_bytes_make_the_same_document() -> None:
    pages = three_pages("learned how to read a chart.")
    assert read(*pages).content_hash == read(*pages).content_hash


def test_short_headings_far_apart_are_two_though_most_lines_around_are() -> None:
    page = Page()
    for y, line in ((60, "Debt of all kinds"), (80, "Short-term debt"), (101, "Credit facility")):
        page.text(72, y, line, font="italic")
    at = page.justified(72, 122, f"{FOX}{FOX}", 400)
    for i, line in enumerate(("Long-term debt", "Notes that are due", "Fair value of all")):
        page.text(72, at + 10 + 20 * i, line, font="italic")
    document = read(page)
    assert "Short-term debt" in [block.text for block in document.blocks]
    assert "Credit facility" in [block.text for block in document.blocks]


def test_a_line_below_in_several_strokes_underlines() -> None:
    page = Page()
    title = "Key measures of the quarter"
    page.text(72, 60, title)
    middle, end = 72 + width(title) / 3, 72 + width(title)
    page.rule(72, middle, 61.5).rule(middle - 1, end, 61.5)
    page.justified(72, 80, FOX, 400)
    assert texts(read(page), BlockKind.HEADING) == [title]


def test_a_bold_heading_after_a_note_does_not_go_on_a_row_that_ends_bold() -> None:
    page = Page()
    at = page.justified(72, 60, FOX.rstrip(" ."), 400, full=True)
    row = "Balance of the goodwill of all units that are left at the end of this December 2021"
    page.text(72, at, row, font="bold")
    page.text(72, 100, "* A note on the goodwill of all units.", size=7)
    page.text(72, 130, "Pension and other benefit plans", font="bold")
    page.justified(72, 150, FOX, 400)
    blocks = [block.text for block in read(page).blocks]
    assert "Pension and other benefit plans" in blocks


def test_two_bold_lines_far_apart_are_two_headings_though_nothing_else_tells() -> None:
    page = Page()
    page.text(72, 60, "10. Income taxes", font="bold").text(72, 84, "Before taxes", font="bold")
    rows = (("", "2018", "2017"), ("Domestic", "12", "11"), ("Abroad", "3", "2"))
    for i, row in enumerate(rows):
        for x, cell in zip((72, 300, 400), row, strict=True):
            page.text(x, 110 + 14 * i, cell)
    blocks = [block.text for block in read(page).blocks]
    assert blocks[:2] == ["10. Income taxes", "Before taxes"]
