import io
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import docx
import pytest
from docx.enum.text import WD_BREAK
from docx.oxml import OxmlElement, parse_xml
from docx.oxml.ns import nsdecls, qn

from abstrag.documents import zip_package
from abstrag.documents.docx import load_docx
from abstrag.errors import Damaged, EmptyDocument, Encrypted, FileTooLarge
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.soundness import check_document, decoded, rows, table, texts, tree


def saved(made: Any) -> bytes:
    stream = io.BytesIO()
    made.save(stream)
    return stream.getvalue()


def read(write: Callable[..., object]) -> Document:
    made = docx.Document()
    write(made)
    document = check_document(load_docx(saved(made), "report.docx"))
    for block in document.blocks:
        assert decoded(document, block) == []
    return document


def repacked(data: bytes, change: Callable[[str, bytes], bytes | None], **added: bytes) -> bytes:
    """Write the parts of a file again, some of them changed, dropped or added."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(stream, "w") as new:
        for name in old.namelist():
            content = change(name, old.read(name))
            if content is not None:
                new.writestr(name, content)
        for name, content in added.items():
            new.writestr(name.replace("__", "/").replace("_xml", ".xml"), content)
    return stream.getvalue()


def test_styles_tell_headings_lists_captions_and_title() -> None:
    def write(made: Any) -> None:
        made.add_heading("On Ducks", 0)
        made.add_heading("Methods", 1)
        made.add_heading("Data", 2)
        made.add_paragraph("We counted.")
        made.add_paragraph("one", style="List Bullet")
        made.add_paragraph("deep", style="List Bullet 2")
        made.add_paragraph("first", style="List Number")
        made.add_paragraph("Figure 1: A duck", style="Caption")

    document = read(write)
    assert document.title == "On Ducks"
    assert tree(document) == [(0, "On Ducks"), (1, "Methods"), (2, "Data")]
    assert [(b.kind.value, b.text, b.level) for b in document.blocks[3:]] == [
        ("paragraph", "We counted.", None),
        ("list_item", "one", 1),
        ("list_item", "deep", 2),
        ("list_item", "first", 1),
        ("caption", "Figure 1: A duck", None),
    ]
    assert document.blocks[3].section == ("Methods", "Data")


def test_an_outline_level_makes_a_heading_and_number_zero_ends_a_list() -> None:
    def write(made: Any) -> None:
        heading = made.add_paragraph("By hand")
        heading._p.get_or_add_pPr().append(parse_xml(f'<w:outlineLvl {nsdecls("w")} w:val="1"/>'))
        item = made.add_paragraph("No item", style="List Bullet")
        item._p.get_or_add_pPr().append(
            parse_xml(f'<w:numPr {nsdecls("w")}><w:ilvl w:val="0"/><w:numId w:val="0"/></w:numPr>')
        )

    document = read(write)
    assert tree(document) == [(2, "By hand")]
    assert texts(document, BlockKind.PARAGRAPH) == ["No item"]


def test_bold_lines_are_headings_only_where_nobody_used_styles() -> None:
    def bold(made: Any) -> None:
        made.add_paragraph().add_run("Our Findings").bold = True
        made.add_paragraph("They float.")
        made.add_paragraph().add_run("This is an important sentence.").bold = True

    assert tree(read(bold)) == [(1, "Our Findings")]

    def styled(made: Any) -> None:
        made.add_heading("Real", 1)
        bold(made)

    assert tree(read(styled)) == [(1, "Real")]


def test_a_table_has_a_header_row_and_merged_cells() -> None:
    def write(made: Any) -> None:
        made.add_paragraph("Table 1: Scores", style="Caption")
        grid = made.add_table(4, 3)
        for r, row in enumerate(
            (("Model", "BLEU", "x"), ("a", "1", "2"), ("b", "3", "4"), ("", "5", "6"))
        ):
            for c, text in enumerate(row):
                grid.cell(r, c).text = text
        grid.cell(0, 1).merge(grid.cell(0, 2)).text = "BLEU"
        grid.cell(2, 0).merge(grid.cell(3, 0)).text = "b"

    document = read(write)
    assert rows(document) == [["#Model", "#BLEU"], ["#a", "1", "2"], ["#b", "3", "4"], ["5", "6"]]
    found = table(document)
    assert found.caption is not None
    assert found.caption.text == "Table 1: Scores"
    last = next(cell for cell in found.cells if cell.text == "6")
    assert (last.row, last.column) == (3, 2)
    assert [header.text for header in found.headers(last)] == ["BLEU", "b"]
    assert all(document.quote(cell.span) == cell.text for cell in found.cells)


def test_a_row_marked_as_header_is_one_whatever_it_holds() -> None:
    def write(made: Any) -> None:
        grid = made.add_table(2, 2)
        for r, row in enumerate((("1", "2"), ("3", "4"))):
            for c, text in enumerate(row):
                grid.cell(r, c).text = text
        grid.rows[0]._tr.get_or_add_trPr().append(OxmlElement("w:tblHeader"))

    assert rows(read(write))[0] == ["#1", "#2"]


def test_a_first_row_of_numbers_is_no_header() -> None:
    def write(made: Any) -> None:
        grid = made.add_table(2, 2)
        for r in range(2):
            for c in range(2):
                grid.cell(r, c).text = f"{r}{c}.5"

    assert rows(read(write))[0] == ["00.5", "01.5"]


def test_a_frame_of_one_cell_is_read_as_text() -> None:
    def write(made: Any) -> None:
        made.add_table(1, 1).cell(0, 0).text = "In a box."

    assert texts(read(write), BlockKind.PARAGRAPH) == ["In a box."]


def test_deletions_and_hidden_text_are_not_visible_and_insertions_are() -> None:
    def write(made: Any) -> None:
        paragraph = made.add_paragraph("Ducks ")
        for tag, inner, word in (("del", "delText", "walk "), ("ins", "t", "swim ")):
            xml = f"<w:{tag} {nsdecls('w')}><w:r><w:{inner}>{word}</w:{inner}></w:r></w:{tag}>"
            paragraph._p.append(parse_xml(xml))
        paragraph.add_run("secretly").font.hidden = True
        paragraph.add_run("\tfar")

    assert texts(read(write), BlockKind.PARAGRAPH) == ["Ducks swim far"]


def test_footnotes_stand_behind_the_text_that_refers_to_them() -> None:
    made = docx.Document()
    paragraph = made.add_paragraph("Ducks swim.")
    paragraph.add_run()._r.append(parse_xml(f'<w:footnoteReference {nsdecls("w")} w:id="2"/>'))
    made.add_paragraph("The end.")
    notes = (
        f'<w:footnotes {nsdecls("w")}><w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>'
        '<w:footnote w:id="2"><w:p><w:r><w:t>See the register.</w:t></w:r></w:p></w:footnote>'
        "</w:footnotes>"
    )
    data = repacked(saved(made), lambda _, part: part, word__footnotes_xml=notes.encode())
    document = check_document(load_docx(data, "x.docx"))
    assert [b.text for b in document.blocks] == ["Ducks swim.", "See the register.", "The end."]
    assert texts(document, BlockKind.FOOTNOTE) == ["See the register."]


def test_pages_are_known_where_word_noted_them() -> None:
    def write(made: Any) -> None:
        made.add_paragraph("One.").add_run().add_break(WD_BREAK.PAGE)
        second = made.add_paragraph()
        second.add_run()._r.append(OxmlElement("w:lastRenderedPageBreak"))
        second.add_run("Two.")

    document = read(write)
    assert [b.page for b in document.blocks] == [1, 2]
    assert document.metadata.pages == 2


def test_a_table_of_contents_is_no_text() -> None:
    def write(made: Any) -> None:
        made.styles.add_style("toc 1", 1)
        made.add_paragraph("Methods ..... 3", style="toc 1")
        made.add_heading("Methods", 1)
        made.add_paragraph("We counted.")

    assert [b.text for b in read(write).blocks] == ["Methods", "We counted."]


def test_properties_give_title_and_date_unless_the_text_states_them() -> None:
    def write(made: Any) -> None:
        made.core_properties.title = "From properties"
        made.core_properties.created = datetime(2024, 5, 15, tzinfo=UTC)
        made.add_paragraph("Some text.")

    document = read(write)
    assert (document.title, document.metadata.date) == ("From properties", "2024-05-15")

    def dated(made: Any) -> None:
        write(made)
        made.add_paragraph("Date: 1 June 2024")

    assert read(dated).metadata.date == "2024-06-01"


def test_a_cut_off_file_is_damaged() -> None:
    made = docx.Document()
    made.add_paragraph("Hi.")
    data = saved(made)
    with pytest.raises(Damaged, match=r"'x\.docx'"):
        load_docx(data[: len(data) // 2], "x.docx")


@pytest.mark.parametrize("content", [None, b"<w:document", b""])
def test_a_file_without_a_readable_body_is_damaged(content: bytes | None) -> None:
    def change(name: str, part: bytes) -> bytes | None:
        return content if name == "word/document.xml" else part

    with pytest.raises(Damaged, match=r"word/document\.xml"):
        load_docx(repacked(saved(docx.Document()), change), "x.docx")


def test_a_body_with_flipped_bytes_is_damaged() -> None:
    made = docx.Document()
    made.add_paragraph("Some text that is stored compressed.")
    data = bytearray(saved(made))
    at = data.index(b"word/document.xml") + 60
    data[at : at + 20] = bytes(20)
    with pytest.raises(Damaged):
        load_docx(bytes(data), "x.docx")


def test_a_file_that_unpacks_to_too_much_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_package, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(FileTooLarge, match="unpacks"):
        load_docx(saved(docx.Document()), "bomb.docx")


def test_a_locked_zip_is_encrypted() -> None:
    data = bytearray(saved(docx.Document()))
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(mark, at + 4)
    with pytest.raises(Encrypted):
        load_docx(bytes(data), "x.docx")


def test_entities_are_not_expanded() -> None:
    bomb = (
        b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'
        b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
        b"<w:body><w:p><w:r><w:t>Hi&b;</w:t></w:r></w:p></w:body></w:document>"
    )

    def change(name: str, part: bytes) -> bytes:
        return bomb if name == "word/document.xml" else part

    document = load_docx(repacked(saved(docx.Document()), change), "x.docx")
    assert document.text == "Hi"


def test_a_document_without_text_is_empty() -> None:
    with pytest.raises(EmptyDocument):
        load_docx(saved(docx.Document()), "x.docx")


def test_the_strict_namespace_is_read_too() -> None:
    made = docx.Document()
    made.add_heading("Methods", 1)
    old = qn("w:p")[1:-2].encode()

    def change(name: str, part: bytes) -> bytes:
        return part.replace(old, b"http://purl.oclc.org/ooxml/wordprocessingml/main")

    assert tree(load_docx(repacked(saved(made), change), "x.docx")) == [(1, "Methods")]
