import csv

import pytest

from abstrag.documents import sheet
from abstrag.documents.sheet import address_in_sheet, load_delimited
from abstrag.errors import Damaged, EmptyDocument, FileTooLarge
from abstrag.model.document import Document
from tests.unit.documents.soundness import check_document, decoded, rows, table


def read(text: str, name: str = "prices.csv", encoding: str = "utf-8") -> Document:
    document = check_document(load_delimited(text.encode(encoding), name))
    for block in document.blocks:
        assert decoded(document, block) == []
    return document


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_by_what_parts_rows_alike(mark: str) -> None:
    lines = ["Name|Age", "Ann, a nurse|41" if mark != "," else "Ann|41", "Bob|37"]
    document = read("\n".join(lines).replace("|", mark))
    assert [row[1] for row in rows(document)] == ["#Age", "41", "37"]


def test_quoted_fields_keep_delimiters_and_quotes_and_lose_line_breaks() -> None:
    document = read('Item,Price\r\n"A ""big"" one,\r\nred","1,200"\r\nSmall,7\r\n')
    assert rows(document) == [["#Item", "#Price"], ['#A "big" one, red', "1,200"], ["#Small", "7"]]
    assert document.text == 'Item\tPrice\nA "big" one, red\t1,200\nSmall\t7'


def test_rows_have_addresses_in_a_sheet_called_like_the_file() -> None:
    document = read("Item,Price\nSmall,7\n\nBig,9\n")
    (block,) = document.blocks
    assert document.title == "prices"
    assert block.section == ("prices (A1:B4)",)
    (cell,) = [cell for cell in table(document).cells if cell.text == "9"]
    assert address_in_sheet(block.section, cell.row, cell.column) == "B4"


def test_a_line_that_names_the_delimiter_is_obeyed_and_counted() -> None:
    document = read("sep=;\nItem;Price, net\nSmall;7\n")
    assert rows(document)[0] == ["#Item", "#Price, net"]
    assert document.blocks[0].section == ("prices (A2:B3)",)


def test_a_table_of_text_only_has_a_header_when_its_names_are_whole_and_distinct() -> None:
    assert rows(read("Name,Town\nAnn,Oslo\nBob,Bergen\n"))[0] == ["#Name", "#Town"]
    assert rows(read("Ann,Oslo\nBob,Bergen\nAnn,Bergen\n"))[0] == ["Ann", "Oslo"]


def test_windows_and_wide_encodings_are_read() -> None:
    assert "Kåre" in read("Name;Alder\nKåre;41\n", encoding="cp1252").text
    assert "Kåre" in read("Name;Alder\nKåre;41\n", encoding="utf-16").text


def test_a_table_that_holds_nothing_or_a_field_without_end_is_refused() -> None:
    with pytest.raises(EmptyDocument, match="no text"):
        load_delimited(b",,,\n,,,\n", "empty.csv")
    endless = b'a,b\n"' + b"x" * (csv.field_size_limit() + 1)
    with pytest.raises(Damaged, match="no table"):
        load_delimited(endless, "endless.csv")


def test_too_many_cells_or_columns_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet, "MAX_CELLS", 100)
    with pytest.raises(FileTooLarge, match="cells"):
        load_delimited(b"1,2\n" * 60, "long.csv")
    with pytest.raises(FileTooLarge, match="columns"):
        load_delimited(b"," * 20_000, "wide.csv")
