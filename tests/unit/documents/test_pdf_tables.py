"""Tables in PDFs: amounts, heads of several levels, wrapped labels, and what is no table."""

from collections.abc import Sequence

from abstrag.documents.pdf import load_pdf
from abstrag.model.document import BlockKind, Document, Grid, Table
from tests.unit.documents.pdf_maker import Page, pdf, width
from tests.unit.documents.soundness import check_document, rows, table, texts
from tests.unit.documents.test_pdf import FOX, SHIP


def read(page: Page) -> Document:
    document = check_document(load_pdf(pdf(page), "sample.pdf"))
    for block in document.blocks:
        if block.table is not None:
            assert all(document.quote(c.span) == c.text for c in block.table.cells)
            assert block.text == document.quote(block.span)
    return document


def headers(found: Table, text: str) -> list[str]:
    cell = next(c for c in found.cells if c.text == text)
    return [quote.text for quote in Grid(found).headers(cell)]


def statement() -> Page:
    """Two periods with signs in columns of their own, as filings set them."""
    page = Page()
    y = page.justified(72, 80, FOX, 440)
    page.text(388, y + 20, "Quarter Ended").rule(340, 500, y + 24)
    page.text(350, y + 36, "December 28,").text(436, y + 36, "December 30,")
    page.text(372, y + 47, "2024").text(458, y + 47, "2023").rule(340, 412, y + 51)
    page.rule(426, 500, y + 51)
    page.text(72, y + 47, "(in millions)")
    figures = [
        ("Revenues", "$", "24,690", "$", "23,549"),
        ("Cost of sales", "", "(1,016)", "", "720"),
        ("Amortization of intangible assets", "", "", "", ""),
        ("related to an investee", "", "3", "", "\u2014"),
        ("Earnings per share:", "", "", "", ""),
        ("Diluted", "$", "1.40", "$", "1.04"),
    ]
    y += 66
    for label, sign, new, other, old in figures:
        page.text(72 + (10 if label[0].islower() or label == "Diluted" else 0), y, label)
        for x, text, right in ((342, sign, 408), (428, other, 496)):
            if text:
                page.text(x, y, text)
            amount = new if right == 408 else old
            if amount:
                page.right(right + (3 if amount.endswith(")") else 0), y, amount)
        y += 12 if label.startswith("Amort") else 15
    page.justified(72, y + 20, SHIP, 440)
    return page


def test_amounts_signs_and_heads_of_two_levels_become_cells() -> None:
    document = read(statement())
    assert rows(document) == [
        ["#Quarter Ended"],
        ["#(in millions)", "#December 28, 2024", "#December 30, 2023"],
        ["#Revenues", "$ 24,690", "$ 23,549"],
        ["#Cost of sales", "(1,016)", "720"],
        ["#Amortization of intangible assets related to an investee", "3", "\u2014"],
        ["#Earnings per share:"],
        ["#Diluted", "$ 1.40", "$ 1.04"],
    ]
    found = table(document)
    assert next(c for c in found.cells if c.text == "Quarter Ended").column_span == 2
    assert headers(found, "$ 23,549") == ["Quarter Ended", "December 30, 2023", "Revenues"]
    assert texts(document, BlockKind.PARAGRAPH) == [FOX.strip(), SHIP.strip()]


def test_a_sign_belongs_to_the_number_on_its_right_however_close_the_left_one_is() -> None:
    page = Page()
    for i, (label, a, b) in enumerate(
        [("Footwear", "28,021", "23,305"), ("Apparel", "12,865", "10,953"), ("All", "40", "34")]
    ):
        y = 100 + 14 * i
        page.text(72, y, label).right(300, y, a).right(400, y, b)
        page.text(250, y, "$").text(303, y, "$").right(470, y, "19").text(480, y, "%")
    assert rows(read(page))[0] == ["#Footwear", "$ 28,021", "$ 23,305", "19 %"]


def test_two_tables_below_each_other_keep_their_own_heads() -> None:
    page = Page()
    for top, period in ((100, "13 Weeks"), (170, "52 Weeks")):
        page.text(400, top, period, font="bold")
        for i, label in enumerate(("Cosmetics", "Skincare", "Services")):
            page.text(72, top + 14 + 12 * i, label).right(430, top + 14 + 12 * i, f"{40 + i}%")
    found = [b.table for b in read(page).blocks if b.table is not None]
    assert [headers(one, "41%") for one in found] == [
        ["13 Weeks", "Skincare"],
        ["52 Weeks", "Skincare"],
    ]


def test_a_total_without_a_label_ends_its_table() -> None:
    page = Page()
    for i, (label, value) in enumerate([("Class A", "9,632"), ("Class B", "17,815")]):
        page.text(72, 100 + 12 * i, label).right(400, 100 + 12 * i, value)
        page.right(500, 100 + 12 * i, "12")
    page.right(400, 124, "27,447")
    assert rows(read(page))[-1] == ["27,447"]


def ruled(cells: Sequence[tuple[float, float, str]], rules: Sequence[float]) -> Page:
    page = Page()
    page.justified(72, 60, FOX, 400)
    for y in rules:
        page.rule(100, 420, y)
    for x, y, text in cells:
        page.text(x, y, text)
    page.justified(72, 320, SHIP, 400)
    return page


def test_rules_make_a_table_of_words_and_keep_wrapped_cells_together() -> None:
    page = ruled(
        [
            (104, 132, "Name"), (220, 132, "What it does"),
            (220, 150, "looks for papers with a query"), (104, 156, "Search"),
            (220, 162, "and reads what it finds"),
            (104, 182, "Stop"), (220, 182, "ends the session"),
        ],
        [120, 138, 170, 190],
    )  # fmt: skip
    page.text(150, 112, "Table 3: What the agent can do.", size=9)
    document = read(page)
    assert rows(document) == [
        ["#Name", "#What it does"],
        ["Search", "looks for papers with a query and reads what it finds"],
        ["Stop", "ends the session"],
    ]
    caption = table(document).caption
    assert caption is not None
    assert caption.text == document.quote(caption.span) == "Table 3: What the agent can do."


def test_a_cell_beside_the_middle_of_two_rows_reaches_over_both() -> None:
    page = ruled(
        [
            (104, 132, "layers"), (220, 132, "kind"), (320, 132, "score"),
            (220, 150, "short"), (320, 150, "0.965"), (110, 156, "six"),
            (220, 162, "long"), (320, 162, "0.969"),
            (220, 180, "short"), (320, 180, "0.938"), (110, 186, "four"),
            (220, 192, "long"), (320, 192, "0.952"),
        ],
        [120, 138, 168, 198],
    )  # fmt: skip
    found = table(read(page))
    six = next(c for c in found.cells if c.text == "six")
    assert (six.row, six.row_span) == (1, 2)
    assert [c.text for c in Grid(found).rows[2]] == ["long", "0.969"]


def test_a_bold_title_over_a_table_is_its_caption() -> None:
    page = Page()
    page.justified(72, 60, FOX * 2, 440, size=10)
    title = "Statement of Income (in thousands)"
    page.text(300 - width(title, 9) / 2, 160, title, size=9, font="bold")
    for i, label in enumerate(("Sales", "Costs", "Income")):
        page.text(72, 190 + 12 * i, label, size=9).right(400, 190 + 12 * i, f"{i}1,000", size=9)
        page.right(480, 190 + 12 * i, f"{i}2,000", size=9)
    caption = table(read(page)).caption
    assert caption is not None
    assert caption.text == title


def no_table(page: Page) -> bool:
    return all(block.table is None for block in read(page).blocks)


def test_text_with_numbers_is_no_table() -> None:
    page = Page()
    text = (
        "Sales rose by 5 % to $ 24,690 in 2024 from $ 23,549 in 2023, and 178 of 210 shops were"
        " open on 28 December, 12 more than the year before. "
    )
    page.justified(72, 80, text * 4, 400)
    assert no_table(page)


def test_a_numbered_list_is_no_table() -> None:
    page = Page()
    for i, item in enumerate(("count the barrels", "count them again", "weigh the salt")):
        page.text(72, 80 + 14 * i, f"{i + 1}.").text(110, 80 + 14 * i, item)
    assert no_table(page)


def test_numbered_equations_are_no_table() -> None:
    page = Page()
    for i in range(3):
        page.text(200, 80 + 16 * i, f"x = y + {i} z").text(440, 80 + 16 * i, f"({i + 1})")
    assert no_table(page)


def test_a_listing_with_line_numbers_is_no_table() -> None:
    page = ruled(
        [(104, 132 + 12 * i, f"{i + 1}:") for i in range(4)]
        + [(130, 132 + 12 * i, f"step {'abcd'[i]} := 0") for i in range(4)],
        [120, 176],
    )
    assert no_table(page)


def test_framed_text_is_no_table_not_even_with_a_gap_in_a_line() -> None:
    page = Page().rule(72, 472, 60).rule(72, 472, 84).rule(72, 472, 180)
    page.text(76, 80, "Query:").text(200, 80, "foxes at the river")
    page.text(76, 100, "Answer:").text(200, 100, "there are some")
    for i in range(4):
        page.text(76, 112 + 12 * i, "A line of the answer, which is long but does not fill it")
    page.justified(72, 220, FOX, 400)
    assert no_table(page)


def test_a_header_over_the_middle_of_columns_heads_all_of_them() -> None:
    page = Page().text(230, 112, "Harbour and river")
    page.text(218, 126, "one").text(260, 126, "two").text(312, 126, "three")
    for i, label in enumerate(("Foxes", "Ships", "Wizards")):
        page.text(72, 140 + 12 * i, label).right(240, 140 + 12 * i, f"0.{i}1")
        page.right(280, 140 + 12 * i, f"0.{i}2").right(350, 140 + 12 * i, f"12,345,00{i}")
    found = table(read(page))
    assert headers(found, "0.11") == ["Harbour and river", "one", "Ships"]
    assert headers(found, "12,345,001") == ["Harbour and river", "three", "Ships"]


def test_headers_that_nearly_touch_are_parted_where_their_columns_are() -> None:
    page = Page()
    page.text(200, 126, "FISCAL 2021").text(204 + width("FISCAL 2021"), 126, "FISCAL 2020")
    for i, label in enumerate(("Foxes", "Ships")):
        page.text(72, 140 + 12 * i, label).right(256, 140 + 12 * i, f"1,{i}00,000")
        page.right(318, 140 + 12 * i, f"2,{i}00,000")
    assert headers(table(read(page)), "2,000,000") == ["FISCAL 2020", "Foxes"]


def test_columns_of_text_are_no_table() -> None:
    page = Page()
    page.justified(60, 80, FOX * 3, 225)
    page.justified(315, 80, SHIP * 3, 225)
    assert no_table(page)
