import io
import zipfile

import pytest

from abstrag.documents.detect import Format, detect
from abstrag.errors import Encrypted, UnknownFormat

MARKDOWN = b"# Title\n\nSome [link](https://example.org) and **strong** words.\n"
LATEX = b"% a comment\n\\documentclass{article}\n\\begin{document}\nHi\n\\end{document}\n"
HTML = b"<!-- saved -->\n<!DOCTYPE html><html><body><p>Hi</p></body></html>"


def archive(*names: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as made:
        for name in names:
            made.writestr(name, "x")
    return stream.getvalue()


def ole(*entries: str) -> bytes:
    names = b"".join(entry.encode("utf-16-le") for entry in entries)
    return b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 504 + names


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"%PDF-1.7\nrest", Format.PDF),
        (b"\n\njunk%PDF-1.4\n1 0 obj endobj", Format.PDF),
        (archive("[Content_Types].xml", "word/document.xml"), Format.DOCX),
        (archive("[Content_Types].xml", "xl/workbook.xml"), Format.XLSX),
        (archive("[Content_Types].xml", "ppt/presentation.xml"), Format.PPTX),
        (archive("mimetype", "META-INF/container.xml"), Format.EPUB),
        (b"Message-ID: <1@a>\nMIME-Version: 1.0\nFrom: a@a.example\n\nHi\n", Format.EML),
        (b"From a@a.example Tue May 14 10:00:00 2024\nSubject: x\n\nHi\n", Format.MBOX),
        (HTML, Format.HTML),
        (b"<div><p>One</p><p>Two</p></div>", Format.HTML),
        (LATEX, Format.LATEX),
        (b"\\section{One}\nText.\n\n\\section{Two}\n", Format.LATEX),
        (MARKDOWN, Format.MARKDOWN),
        (b"| a | b |\n|---|---|\n| 1 | 2 |\n\n## More\n\ntext\n", Format.MARKDOWN),
        (b'{"title": "x", "blocks": []}', Format.JSON),
        (b"Just some words.\n", Format.TEXT),
        (b"# a comment in a script\nx = 1\n", Format.TEXT),
    ],
)
def test_content_tells_the_format_whatever_the_name_says(data: bytes, expected: Format) -> None:
    assert detect(data, "unknown") is expected
    assert detect(data, "lying.txt") is expected


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_content_is_seen_through_wide_encodings(encoding: str) -> None:
    assert detect(HTML.decode().encode(encoding), "page") is Format.HTML


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.md", Format.MARKDOWN),
        ("a.txt", Format.TEXT),
        ("a.tex", Format.LATEX),
        ("a.html", Format.HTML),
        ("a.csv", Format.CSV),
        ("a.TSV", Format.CSV),
        ("a.eml", Format.EML),
        ("a.mbox", Format.MBOX),
        ("a", Format.TEXT),
    ],
)
def test_the_name_settles_what_content_leaves_open(name: str, expected: Format) -> None:
    assert detect(b"Only words here.\n", name) is expected


def test_latex_inside_a_code_fence_is_still_markdown() -> None:
    text = b"# How to\n\n```latex\n\\documentclass{article}\n\\begin{document}\n```\n"
    assert detect(text, "howto.md") is Format.MARKDOWN


@pytest.mark.parametrize(
    ("data", "what", "hint"),
    [
        (b"GIF89a\x01\0\x01\0", "GIF", "text recognition"),
        (b"\x7fELF\x02\x01", "ELF", "give a text"),
        (b"MZ\x90\0\x03\0", "Windows program", "give a text"),
        (b"\x1f\x8b\x08\0", "gzip", "unpack"),
        (b"{\\rtf1\\ansi hi}", "RTF", "docx"),
        (archive("a.txt"), "zip archive", "unpack"),
        (archive("xl/workbook.bin"), "binary Excel", "save"),
        (archive("content.xml"), "OpenDocument", "save"),
        (ole("WordDocument"), r"\.doc", "save it as .docx"),
        (ole("Workbook"), r"\.xls", "save it as .xlsx"),
        (ole("PowerPoint Document"), r"\.ppt", "save it as .pptx"),
        (ole("Something"), "old Office file", "save it as .docx, .xlsx"),
        (b"<?xml version='1.0'?><note/>", "XML", "convert"),
        (b"some \0 bytes", "binary", "give a text"),
    ],
)
def test_a_foreign_format_is_named_and_refused(data: bytes, what: str, hint: str) -> None:
    with pytest.raises(UnknownFormat, match=what) as caught:
        detect(data, "file.txt")
    assert hint in (caught.value.hint or "")


def test_an_office_file_with_a_password_is_encrypted() -> None:
    with pytest.raises(Encrypted, match="password"):
        detect(ole("EncryptedPackage"), "secret.docx")


def test_prose_that_begins_like_magic_bytes_is_prose() -> None:
    assert detect(b"BMW sold more cars than MZ made motorcycles.", "a.txt") is Format.TEXT


@pytest.mark.parametrize(
    ("part", "name", "expected"),
    [
        ("word/document.xml", "cut.docx", Format.DOCX),
        ("xl/workbook.xml", "cut.xlsx", Format.XLSX),
        ("ppt/presentation.xml", "cut.pptx", Format.PPTX),
        ("META-INF/container.xml", "cut.epub", Format.EPUB),
    ],
)
def test_a_cut_off_office_file_or_book_is_still_one(part: str, name: str, expected: Format) -> None:
    data = archive("[Content_Types].xml", part)
    assert detect(data[: len(data) // 2], name) is expected
    assert detect(data[:60], name) is expected
    assert detect(data[:6], name) is expected


def test_a_memo_with_header_lines_is_a_text_and_a_page_named_csv_is_a_page() -> None:
    memo = b"From: the board\nTo: all staff\nDate: 14 May 2024\n\nThe plant closes.\n"
    assert detect(memo, "memo.txt") is Format.TEXT
    assert detect(b"From Bergen to Oslo it takes 7 hours in 2024.\nNo: more.\n", "a") is Format.TEXT
    assert detect(HTML, "export.csv") is Format.HTML
    assert detect(MARKDOWN, "links.csv") is Format.CSV


def test_json_of_another_kind_is_refused() -> None:
    with pytest.raises(UnknownFormat, match="JSON"):
        detect(b"[1, 2, 3]", "data.json")
