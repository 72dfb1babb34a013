"""Word files made to cost more than they weigh: everything is read once."""

import io
import zipfile
from pathlib import Path

import pytest

from abstrag.documents import zip_package
from abstrag.documents.docx import load_docx
from abstrag.documents.load import load_bytes
from abstrag.errors import Damaged, FileTooLarge
from tests.unit.documents.limited import growth, read_limited

_NAMES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
)


def word(body: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr(
            "word/document.xml",
            f"<w:document {_NAMES}><w:body>{body}</w:body></w:document>",
        )
    return stream.getvalue()


def paragraph(text: str, *held: str) -> str:
    runs = "".join(f"<w:r>{item}</w:r>" for item in held)
    return f"<w:p><w:r><w:t>{text}</w:t></w:r>{runs}</w:p>"


def boxes(depth: int) -> str:
    inner = ""
    for level in range(depth, 0, -1):
        box = f"<w:pict><w:txbxContent>{inner}</w:txbxContent></w:pict>" if inner else ""
        inner = paragraph(f"level {level}", box)
    return inner


def texts(body: str) -> list[str]:
    return [block.text for block in load_docx(word(body), "made.docx").blocks]


def test_a_text_box_inside_a_text_box_is_read_once() -> None:
    assert texts(boxes(40)) == [f"level {i}" for i in range(1, 41)]


def test_the_work_for_nested_text_boxes_grows_with_their_number() -> None:
    def read(depth: int) -> None:
        load_docx(word(boxes(depth)), "made.docx")

    assert growth(read, 15) < 2.2


def test_text_boxes_sixty_deep_are_read_within_the_limits(tmp_path: Path) -> None:
    file = tmp_path / "boxes.docx"
    file.write_bytes(word(boxes(60)))
    assert len(read_limited(file).texts) == 60


def test_of_two_renderings_of_a_box_inside_a_drawing_one_is_read() -> None:
    box = f"<w:txbxContent>{paragraph('in the box')}</w:txbxContent>"
    either = (
        f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        "</mc:AlternateContent>"
    )
    drawing = paragraph("outside", f"<w:drawing>{either}</w:drawing>")
    assert texts(drawing) == ["outside", "in the box"]
    cells = f"<w:tc>{drawing}</w:tc><w:tc>{paragraph('beside')}</w:tc>"
    (table,) = load_docx(word(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>"), "made.docx").blocks
    assert table.text == "outside in the box\tbeside"


@pytest.mark.parametrize(
    "run",
    ["<w:r><w:t> </w:t><w:lastRenderedPageBreak/></w:r>", "<w:t>word </w:t>"],
    ids=["page breaks", "texts in one run"],
)
def test_a_paragraph_of_very_many_runs_is_read_within_the_limits(tmp_path: Path, run: str) -> None:
    file = tmp_path / "runs.docx"
    many = f"<w:r>{run * 100_000}</w:r>" if run.startswith("<w:t>") else run * 100_000
    file.write_bytes(word(f"<w:p>{many}</w:p>{paragraph('the end')}"))
    assert read_limited(file).texts[-1] == "the end"


def test_a_part_of_too_many_elements_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_package, "MAX_ELEMENTS", 100)
    with pytest.raises(FileTooLarge, match=r"'made\.docx' .* MAX_ELEMENTS") as caught:
        load_bytes(word(paragraph("a") * 40), name="made.docx")
    assert caught.value.hint
    load_bytes(word(paragraph("a") * 5), name="made.docx")


def test_a_part_that_nests_too_deeply_is_refused() -> None:
    with pytest.raises(Damaged, match=r"'made\.docx' .* too deeply"):
        load_bytes(word("<w:sdt>" * 300 + "</w:sdt>" * 300), name="made.docx")
