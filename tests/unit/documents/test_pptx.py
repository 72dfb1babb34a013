import pytest

from abstrag.documents import pptx, zip_package
from abstrag.documents.pptx import load_pptx
from abstrag.errors import Damaged, EmptyDocument, Encrypted, FileTooLarge
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.soundness import check_document, decoded, rows, texts, tree
from tests.unit.documents.zip_maker import locked, packed, presentation, shape

WIDE, TALL = ' gridSpan="2"', ' rowSpan="2"'
MERGED_RIGHT, MERGED_DOWN = ' hMerge="1"', ' vMerge="1"'


def read(data: bytes) -> Document:
    document = check_document(load_pptx(data, "deck.pptx"))
    for block in document.blocks:
        assert decoded(document, block) == []
    return document


def cell(text: str, more: str = "") -> str:
    return f"<tc{more}><txBody><p><r><t>{text}</t></r></p></txBody></tc>"


def test_slides_are_sections_in_the_order_they_are_shown_with_their_numbers_as_pages() -> None:
    first = shape("Point one", kind="body") + shape("Plans", kind="ctrTitle")
    document = read(presentation(first, shape("Costs", kind="title") + shape("A lot.")))
    assert document.title == "Plans"
    assert tree(document) == [(1, "Plans"), (1, "Costs")]
    assert [(b.kind.value, b.text, b.page, b.section) for b in document.blocks[1::2]] == [
        ("list_item", "Point one", 1, ("Plans",)),
        ("paragraph", "A lot.", 2, ("Costs",)),
    ]
    assert document.metadata.pages == 2


def test_a_slide_without_a_title_goes_by_its_number_or_by_a_lone_line_at_its_top() -> None:
    lone = shape("Our towns") + shape("Oslo is the largest.")
    document = read(presentation(shape("It rained.", "It snowed."), lone))
    assert tree(document) == [(1, "Our towns")]
    assert [b.section for b in document.blocks] == [
        ("Slide 1",),
        ("Slide 1",),
        (),
        ("Our towns",),
    ]
    assert "Slide 1" not in document.text


def test_notes_come_after_their_slide_and_say_whose_they_are() -> None:
    notes = shape("7", kind="sldNum") + shape("Speak slowly.", kind="body")
    document = read(presentation(shape("Plans", kind="title"), shape("End."), notes={1: notes}))
    assert [(b.text, b.page, b.section) for b in document.blocks[1:]] == [
        ("Speak slowly.", 1, ("Plans", "Plans (notes)")),
        ("End.", 2, ("Slide 2",)),
    ]


def test_bullets_levels_breaks_and_groups_are_read_and_furniture_is_not() -> None:
    body = shape(
        '<p><pPr lvl="1"/><r><t>deep</t></r></p>',
        "<p><pPr><buNone/></pPr><r><t>plain</t></r><br/><fld><t>text</t></fld></p>",
        kind="body",
    )
    box = shape("<p><pPr><buChar/></pPr><r><t>marked</t></r></p>")
    group = f"<grpSp><grpSp>{box}</grpSp></grpSp>"
    document = read(presentation(body + group + shape("Page 1 of 9", kind="ftr")))
    assert [(b.kind.value, b.text, b.level) for b in document.blocks] == [
        ("list_item", "deep", 2),
        ("paragraph", "plain text", None),
        ("list_item", "marked", 1),
    ]


def test_a_table_keeps_its_header_and_merged_cells() -> None:
    table = (
        '<graphicFrame><graphic><graphicData><tbl><tblPr firstRow="1"/>'
        f"<tr>{cell('Team')}{cell('Results', WIDE)}{cell('', MERGED_RIGHT)}</tr>"
        f"<tr>{cell('Red', TALL)}{cell('won')}{cell('lost')}</tr>"
        f"<tr>{cell('', MERGED_DOWN)}{cell('3')}{cell('4')}</tr>"
        "</tbl></graphicData></graphic></graphicFrame>"
    )
    document = read(presentation(table))
    assert rows(document) == [["#Team", "#Results"], ["Red", "won", "lost"], ["3", "4"]]
    cells = {c.text: (c.row, c.column) for b in document.blocks if b.table for c in b.table.cells}
    assert cells["3"] == (2, 1)


def test_a_hidden_slide_is_said_to_be_hidden() -> None:
    document = read(presentation("hidden" + shape("Plan B", kind="title"), shape("One.", "Two.")))
    assert tree(document) == [(1, "Plan B (hidden slide)")]
    assert texts(document, BlockKind.PARAGRAPH) == ["One.", "Two."]


def test_a_deck_of_pictures_is_empty() -> None:
    with pytest.raises(EmptyDocument, match="no text"):
        load_pptx(presentation("<pic/>"), "pictures.pptx")


def test_a_damaged_or_locked_presentation_gets_one_clear_error() -> None:
    whole = presentation(shape("One."))
    with pytest.raises(Damaged, match="list of parts"):
        load_pptx(whole[:200], "cut.pptx")
    with pytest.raises(Encrypted, match="password"):
        load_pptx(locked(whole), "locked.pptx")
    with pytest.raises(Damaged, match="slide 1 is missing"):
        load_pptx(
            packed({"ppt/presentation.xml": "<p><sldIdLst><sldId/></sldIdLst></p>"}), "gone.pptx"
        )
    deep = "<grpSp>" * 60 + shape("Deep") + "</grpSp>" * 60
    with pytest.raises(Damaged, match="nested too deeply"):
        load_pptx(presentation(deep), "deep.pptx")


def test_too_many_slides_or_bytes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pptx, "MAX_SLIDES", 2)
    with pytest.raises(FileTooLarge, match="more than 2 slides"):
        load_pptx(presentation("", "", ""), "long.pptx")
    monkeypatch.setattr(zip_package, "MAX_READ_BYTES", 1_000_000)
    with pytest.raises(FileTooLarge, match="unpacks to more"):
        load_pptx(presentation(" " * 2_000_000), "bomb.pptx")
