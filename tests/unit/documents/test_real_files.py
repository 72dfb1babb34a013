"""Files that LibreOffice and S-nail made; tests/data/formats/README.md says how."""

from dataclasses import replace
from pathlib import Path

import pytest

from abstrag import Settings, index
from abstrag.documents.load import load, load_bytes
from abstrag.documents.sheet import address_in_sheet
from abstrag.model.document import Block, Document
from abstrag.model.record import to_json
from abstrag.model.segment import CELL_SEPARATOR, Granularity
from tests.unit.documents.soundness import check_document, decoded, table, tree

FOLDER = Path(__file__).parents[2] / "data" / "formats"
FILES = sorted(path.name for path in FOLDER.iterdir() if path.suffix not in ("", ".md"))


def read(name: str) -> Document:
    return check_document(load(FOLDER / name))


def block_of(document: Document, text: str) -> Block:
    (found,) = [block for block in document.blocks if text in block.text]
    return found


def address(document: Document, text: str) -> str | None:
    (found,) = [
        (block, cell)
        for block in document.blocks
        for cell in (block.table.cells if block.table else ())
        if cell.text == text
    ]
    block, cell = found
    return address_in_sheet(block.section, cell.row, cell.column)


@pytest.mark.parametrize("name", FILES)
def test_every_character_of_a_block_stands_where_its_alignment_says(name: str) -> None:
    document = read(name)
    assert document.metadata.format == Path(name).suffix[1:]
    for block in document.blocks:
        assert decoded(document, block) == []
        for cell in block.table.cells if block.table else ():
            assert document.quote(cell.span) == cell.text


@pytest.mark.parametrize("name", FILES)
def test_every_segment_quotes_what_stands_at_its_span(name: str) -> None:
    document = read(name)
    made = index(document)
    assert made.segments
    for segment in made.segments:
        quote = " ".join(document.quote(segment.span).split())
        assert quote == " ".join(segment.text.replace(CELL_SEPARATOR, " ").split())


def test_a_segment_of_a_workbook_has_the_address_of_its_cell_or_row() -> None:
    for granularity, expected in ((Granularity.ELEMENT, "D5"), (Granularity.SENTENCE, "A5:D5")):
        made = index(read("plant.xlsx"), settings=Settings(granularity=granularity))
        (segment,) = [s for s in made.segments if "12.5%" in s.text]
        assert address_in_sheet(segment.section, segment.row, segment.column) == expected


@pytest.mark.parametrize("name", FILES)
def test_a_document_comes_back_from_json_as_it_was(name: str) -> None:
    document = read(name)
    assert load_bytes(to_json(document).encode(), name="x.json") == replace(
        document, metadata=replace(document.metadata, source="x.json")
    )


def test_there_is_a_file_of_each_format() -> None:
    assert [Path(name).suffix for name in FILES] == [
        ".csv",
        ".epub",
        ".pptx",
        ".xlsx",
        ".eml",
        ".mbox",
    ]


def test_a_workbook_gives_tables_with_headers_values_dates_and_addresses() -> None:
    document = read("plant.xlsx")
    assert document.title == "Halden plant figures"
    assert tree(document) == [(1, "Output"), (1, "Inspections"), (1, "Drafts (hidden sheet)")]
    found = {text: address(document, text) for text in ("12.5%", "-5%", "2110", "2024-05-14")}
    assert found == {"12.5%": "D5", "-5%": "D6", "2110": "C8", "2024-05-14": "B2"}
    output = block_of(document, "Cardboard\t800").table
    assert output is not None
    assert output.caption is not None
    assert output.caption.text == "Output of the Halden plant, in tonnes"
    (cell,) = [cell for cell in output.cells if cell.text == "1350"]
    assert [h.text for h in output.headers(cell)] == ["First half", "2024", "Pulp"]


def test_a_table_saved_as_text_has_the_addresses_of_its_sheet() -> None:
    document = read("inspections.csv")
    assert address(document, "A boiler valve leaked") == "D2"
    assert [cell.text for cell in table(document).cells if cell.header] == [
        "Date",
        "Inspector",
        "Finding",
    ]


def test_a_presentation_gives_slides_notes_and_tables() -> None:
    document = read("plant.pptx")
    assert tree(document) == [(1, "Halden plant in 2024"), (1, "Staff")]
    notes = block_of(document, "Narvik")
    assert (notes.page, notes.section[-1]) == (1, "Halden plant in 2024 (notes)")
    assert block_of(document, "Night").page == 2
    assert block_of(document, "digester started").level == 2


def test_a_book_gives_chapters() -> None:
    document = read("mill.epub")
    assert document.title == "The Mill at Halden"
    assert tree(document) == [(1, "The River"), (1, "The Workers")]
    assert block_of(document, "oak").section == ("The River",)


def test_a_message_and_a_mailbox_give_senders_text_quotes_and_attachments() -> None:
    document = read("valve.eml")
    assert (document.title, document.metadata.date) == ("Boiler valve V7", "2026-11-16")
    assert document.blocks[-1].text == "Attachment: valves.csv (text/csv, 23 bytes)"
    box = read("valve.mbox")
    assert tree(box) == [(1, "Boiler valve V7"), (1, "Re: Boiler valve V7")]
    said = block_of(box, "From now on I want to sign")
    assert said.section[-1] == "Re: Boiler valve V7 (Kåre Holm, 2026-11-16)"
    quoted = [block for block in box.blocks if "Bergen Armatur" in block.text][1]
    assert quoted.section[-1] == "Re: Boiler valve V7 (Kåre Holm, 2026-11-16), quoted"
