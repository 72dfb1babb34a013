import pytest

from abstrag.documents import sheet, zip_package
from abstrag.documents.sheet import address_in_sheet, parse_address, parse_range
from abstrag.documents.xlsx import NumberKind, kind_of_format, load_xlsx, shown_number
from abstrag.errors import Damaged, EmptyDocument, Encrypted, FileTooLarge
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.soundness import check_document, decoded, rows, table, texts, tree
from tests.unit.documents.zip_maker import locked, sheet_rows, workbook

SALES: dict[int, dict[str, str | float]] = {
    1: {"A": "Region", "B": "Sales"},
    2: {"A": "North", "B": 120},
    3: {"A": "South", "B": 80.5},
}


def read(data: bytes, name: str = "book.xlsx") -> Document:
    document = check_document(load_xlsx(data, name))
    for block in document.blocks:
        assert decoded(document, block) == []
        for cell in block.table.cells if block.table else ():
            assert document.quote(cell.span) == cell.text
    return document


def one(content: dict[int, dict[str, str | float]], more: str = "") -> Document:
    return read(workbook({"Data": f"<sheetData>{sheet_rows(content)}</sheetData>{more}"}))


def test_a_sheet_is_a_section_with_a_table_whose_first_row_is_its_header() -> None:
    document = read(workbook({"Sales": sheet_rows(SALES), "Notes": sheet_rows({2: {"C": "Old."}})}))
    assert document.title == "book"
    assert tree(document) == [(1, "Sales"), (1, "Notes")]
    assert rows(document) == [["#Region", "#Sales"], ["#North", "120"], ["#South", "80.5"]]
    assert [b.section for b in document.blocks if b.kind is not BlockKind.HEADING] == [
        ("Sales", "Sales (A1:B3)"),
        ("Notes", "Notes (C2)"),
    ]


def test_the_address_of_every_cell_is_told_by_its_section_row_and_column() -> None:
    document = one({5: {"C": "Name", "E": "Age"}, 6: {"C": "Ann", "E": 41}, 7: {"D": "x", "E": 7}})
    (block,) = [b for b in document.blocks if b.table]
    found = {
        address_in_sheet(block.section, cell.row, cell.column): cell.text
        for cell in table(document).cells
        if cell.text
    }
    assert found == {"C5": "Name", "E5": "Age", "C6": "Ann", "E6": "41", "D7": "x", "E7": "7"}
    assert address_in_sheet(block.section, 1, None) == "C6:E6"
    assert address_in_sheet(block.section, None, None) == "C5:E7"
    assert address_in_sheet(("Data", "Results (final)"), 1, 1) is None
    assert address_in_sheet((), 1, 1) is None


def test_addresses_are_read_up_to_the_last_cell_of_a_sheet_and_no_further() -> None:
    assert parse_address("A1") == (0, 0)
    assert parse_address("AB12") == (11, 27)
    assert parse_address("XFD1048576") == (1_048_575, 16_383)
    assert parse_address("XFE1") is None
    assert parse_address("A1048577") is None
    assert parse_range("B2:A1") is None
    assert parse_range("A2:C4") == ((1, 0), (3, 2))


def test_lines_above_a_table_are_its_caption_and_lines_below_are_text() -> None:
    document = one(
        {
            1: {"A": "Sales by region"},
            2: {"A": "in millions"},
            4: {"A": "Region", "B": 2024},
            5: {"A": "North", "B": 12},
            12: {"A": "Figures are not audited."},
        }
    )
    (caption,) = [b for b in document.blocks if b.kind is BlockKind.CAPTION]
    assert caption.text == "Sales by region in millions"
    found = table(document).caption
    assert found is not None
    assert document.quote(found.span) == "Sales by region\nin millions"
    sections = [b.section[-1] for b in document.blocks[1:]]
    assert sections == ["Data (A1:A2)", "Sales by region in millions (A4:B5)", "Data (A12)"]
    assert texts(document, BlockKind.PARAGRAPH) == ["Figures are not audited."]


def test_an_empty_row_inside_a_table_does_not_cut_it_but_a_new_header_does() -> None:
    body: dict[int, dict[str, str | float]] = {
        **SALES,
        5: {"A": "Total", "B": 200.5},
        7: {"A": "Name", "B": "Town"},
        8: {"A": "x"},
        9: {"A": "Ann", "B": "Oslo"},
    }
    document = one(body)
    sections = [b.section[-1] for b in document.blocks if b.table]
    assert sections == ["Data (A1:B5)", "Data (A7:B9)"]


def test_merged_header_cells_reach_over_their_columns() -> None:
    document = one(
        {
            1: {"B": "First half", "D": "Second half"},
            2: {"A": "Product", "B": 2023, "C": 2024, "D": 2023, "E": 2024},
            3: {"A": "Pulp", "B": 1, "C": 2, "D": 3, "E": 4},
            4: {"A": "Paper", "B": 5, "C": 6, "D": 7, "E": 8},
        },
        '<mergeCells><mergeCell ref="B1:C1"/><mergeCell ref="D1:E1"/></mergeCells>',
    )
    found = table(document)
    (cell,) = [c for c in found.cells if c.text == "3"]
    assert [h.text for h in found.headers(cell)] == ["Second half", "2023", "Pulp"]
    assert (cell.row, cell.column) == (2, 3)


def test_formulas_show_what_they_last_gave_and_strings_their_runs() -> None:
    cells = (
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'
        '<row><c><f>SUM(1,2)</f><v>3</v></c><c t="str"><f>A1</f><v>copied</v></c></row>'
        '<row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" t="e"><v>#DIV/0!</v></c></row>'
        '<row r="4"><c r="A4"><f>WEBSERVICE("http://a.example")</f></c><c r="B4"><v>7</v></c></row>'
    )
    strings = (
        "<si><r><t>Net </t></r><r><t>sum</t></r><rPh><t>hint</t></rPh></si><si><t>Text</t></si>"
    )
    document = read(workbook({"S": cells}, strings=strings))
    assert rows(document) == [
        ["#Net sum", "#Text"],
        ["3", "copied"],
        ["TRUE", "#DIV/0!"],
        ["", "7"],
    ]


def test_dates_are_iso_and_percentages_are_percentages() -> None:
    styles = (
        '<numFmts><numFmt numFmtId="170" formatCode="[$-409]d\\-mmm\\-yy;@"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="10"/><xf numFmtId="170"/>'
        "</cellXfs>"
    )
    cells = (
        '<row r="1"><c r="A1" s="1"><v>45426</v></c><c r="B1" s="2"><v>0.125</v></c>'
        '<c r="C1" s="3"><v>45426.5</v></c><c r="D1" t="d"><v>2024-05-14T00:00:00</v></c></row>'
    )
    document = read(workbook({"S": cells}, styles=styles))
    assert rows(document) == [["2024-05-14", "12.5%", "2024-05-14", "2024-05-14"]]
    early = read(workbook({"S": cells}, styles=styles, properties='<workbookPr date1904="1"/>'))
    assert rows(early)[0][0] == "2028-05-15"


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("General", NumberKind.NUMBER),
        ('#,##0.00 "days"', NumberKind.NUMBER),
        ("[Red]0.0%", NumberKind.PERCENT),
        ("yyyy-mm-dd", NumberKind.DATE),
        ("mmm", NumberKind.DATE),
        ("d.m.yyyy hh:mm", NumberKind.MOMENT),
        ("hh:mm:ss.000", NumberKind.TIME),
        ("[h]:mm", NumberKind.DURATION),
        ("0.00E+00", NumberKind.NUMBER),
    ],
)
def test_a_format_tells_what_a_number_is(code: str, kind: NumberKind) -> None:
    assert kind_of_format(code) is kind


@pytest.mark.parametrize(
    ("text", "kind", "shown"),
    [
        ("0.1", NumberKind.NUMBER, "0.1"),
        ("0.30000000000000004", NumberKind.NUMBER, "0.3"),
        ("1234567890", NumberKind.NUMBER, "1234567890"),
        ("1", NumberKind.DATE, "1900-01-01"),
        ("45426.25", NumberKind.MOMENT, "2024-05-14 06:00:00"),
        ("0.75", NumberKind.TIME, "18:00"),
        ("1.5", NumberKind.DURATION, "36:00"),
        ("1e300", NumberKind.DATE, "1e300"),
        ("x", NumberKind.NUMBER, "x"),
    ],
)
def test_a_number_reads_as_its_kind_says(text: str, kind: NumberKind, shown: str) -> None:
    assert shown_number(text, kind) == shown


def test_a_hidden_sheet_is_said_to_be_hidden_and_empty_sheets_are_left_out() -> None:
    sheets = {"Open": sheet_rows(SALES), "Secret": sheet_rows({1: {"A": "x"}}), "Empty": ""}
    document = read(workbook(sheets, states={"Secret": "veryHidden"}))
    assert tree(document) == [(1, "Open"), (1, "Secret (hidden sheet)")]


def test_macros_and_links_to_other_files_are_left_alone() -> None:
    link = (
        '<Relationship Id="r1" Type="x/worksheet" Target="http://a.example/s.xml"'
        ' TargetMode="External"/>'
    )
    more: dict[str, str | bytes] = {
        "xl/vbaProject.bin": b"\0never read",
        "xl/_rels/workbook.xml.rels": f"<Relationships>{link}</Relationships>",
    }
    with pytest.raises(EmptyDocument):
        load_xlsx(workbook({"S": sheet_rows(SALES)}, more=more), "linked.xlsx")


def test_a_workbook_without_cells_is_empty() -> None:
    with pytest.raises(EmptyDocument, match="no text"):
        load_xlsx(workbook({"Sheet1": ""}), "empty.xlsx")


def test_a_damaged_or_locked_workbook_gets_one_clear_error() -> None:
    whole = workbook({"S": sheet_rows(SALES)})
    with pytest.raises(Damaged, match="list of parts"):
        load_xlsx(whole[: len(whole) // 2], "cut.xlsx")
    with pytest.raises(Encrypted, match="password"):
        load_xlsx(locked(whole), "locked.xlsx")
    with pytest.raises(Damaged, match="not well-formed"):
        load_xlsx(workbook({"S": "<sheetData><row></sheetData>"}), "bad.xlsx")
    with pytest.raises(Damaged, match="'A1' has no text"):
        load_xlsx(workbook({"S": '<row r="1"><c r="A1" t="s"><v>9</v></c></row>'}), "bad.xlsx")
    with pytest.raises(Damaged, match="last row"):
        load_xlsx(workbook({"S": '<row r="99999999"><c><v>9</v></c></row>'}), "bad.xlsx")


def test_a_part_that_unpacks_to_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = workbook({"S": f"<sheetData/>{' ' * 3_000_000}"})
    assert len(bomb) < 10_000
    monkeypatch.setattr(zip_package, "MAX_READ_BYTES", 2_000_000)
    with pytest.raises(FileTooLarge, match="unpacks to more"):
        load_xlsx(bomb, "bomb.xlsx")


def test_entities_do_not_grow() -> None:
    lol = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><worksheet><sheetData><row r="1">'
    cell = '<c r="A1" t="inlineStr"><is><t>x&b;</t></is></c></row></sheetData></worksheet>'
    data = workbook({"S": ""}, more={"xl/worksheets/s1.xml": lol + cell})
    assert "ha" not in read(data).text


def test_too_many_cells_or_files_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = workbook({"S": sheet_rows({n: {"A": "x", "ZZ": "y"} for n in range(1, 30)})})
    monkeypatch.setattr(sheet, "MAX_CELLS", 1_000)
    with pytest.raises(FileTooLarge, match="more than 1,000 cells"):
        load_xlsx(wide, "wide.xlsx")
    monkeypatch.setattr(zip_package, "MAX_MEMBERS", 3)
    with pytest.raises(FileTooLarge, match="packs more than 3 files"):
        load_xlsx(wide, "many.xlsx")
