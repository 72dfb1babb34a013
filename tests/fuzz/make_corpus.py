"""Write the corpus of small files that mutants are made from: `python -m tests.fuzz.make_corpus`.

Each file says a little in a format's usual means. What comes out is kept in the repository, for a
mutant is known by its seed and the bytes it is made from.
"""

import base64
import struct
import zlib
from pathlib import Path

from abstrag.documents.json_form import load_json
from abstrag.model.record import to_json
from tests.unit.documents.pdf_maker import Page, pdf
from tests.unit.documents.test_docx_hostile import boxes, paragraph, word
from tests.unit.documents.zip_maker import (
    book,
    presentation,
    shape,
    sheet_rows,
    workbook,
)

CORPUS = Path(__file__).parent / "corpus"
_TEXT = """THE HARBOUR REPORT

1. Introduction

On 15 May 2024 the Port Authority (the “Authority”) leased Pier 4 to Lind Shipping Ltd for
EUR 2.4 million a year. Its director, Maria Holt, said she would not renew the lease. It ends in
2031.

2. Findings

2.1 Cargo fell by 12 % between 2022 and 2023; see Section 1.
(a) Containers: 1,204 in Q1 2023, down from 1,377.
(b) Bulk: 88 t.

Q: Did the Authority inspect the pier?
A: They did, in July.
"""
_MARKDOWN = """---
title: Harbour
date: 2024-05-15
---
# Harbour

The *Port Authority* leased **Pier 4** to [Lind Shipping](https://lind.example).[^1]

> She said: "It's over."

- one
  - two `code`

| Year | Cargo |
|------|------:|
| 2022 | 1,377 |
| 2023 | 1,204 |

```py
x = 1
```

[^1]: For ten years.
"""
_HTML = """<!doctype html><html><head><title>Harbour</title><meta name="date" content="2024-05-15">
</head><body><nav><ul><li><a href="#a">A</a></ul></nav><h1 id=a>Harbour</h1>
<p>The <b>Port&nbsp;Authority</b> leased Pier&#160;4 to Lind Shipping.<br>It ended in 2031.
<table><caption>Cargo</caption><tr><th>Year<th>t</tr><tr><td rowspan=2>2022<td>1,377</tr>
<tr><td>1,204</tr></table><ol><li>one<li>two<ul><li>three</ul></ol><pre>x = 1</pre>
<dl><dt>Pier<dd>A place for ships.</dl></body></html>"""
_LATEX = r"""\documentclass{article}
\newcommand{\pier}[2][4]{Pier~#1 (#2)}
\title{Harbour}\author{M. Holt}\date{15 May 2024}
\begin{document}\maketitle
\begin{abstract}The port leased a pier.\end{abstract}
\section{Cargo}\label{sec:cargo}
\pier{north} was leased to Lind; see Section~\ref{sec:cargo} and \cite{lind}. % a comment
\begin{itemize}\item one \item $x^2 \le \frac{1}{2}$\end{itemize}
\begin{table}\caption{Cargo}\begin{tabular}{lr}\hline Year & t \\ \hline
\multicolumn{2}{c}{2022} \\ 2023 & 1{,}204 \\ \end{tabular}\end{table}
\verb|a_b| \footnote{For ten years.}
\end{document}
"""
_MAIL = """From: Maria Holt <holt@port.example>
To: Lind <lind@ship.example>
Subject: =?utf-8?q?Pier_4_=E2=80=93_lease?=
Date: Wed, 15 May 2024 10:00:00 +0200
MIME-Version: 1.0
Content-Type: multipart/alternative; boundary="x"

--x
Content-Type: text/plain; charset=utf-8
Content-Transfer-Encoding: quoted-printable

We lease Pier 4 to you for ten years=2E

> Will you renew it?
No.
--x
Content-Type: text/html; charset=utf-8

<p>We lease <b>Pier 4</b> to you.</p>
--x--
"""
_SHORT = """{"title": "Harbour", "date": "2024-05-15", "blocks": [
 {"kind": "heading", "text": "Cargo", "level": 1},
 {"text": "The Port Authority leased Pier 4 to Lind Shipping in 2021.", "page": 1},
 {"kind": "table", "rows": [["Year", "t"], ["2022", "1,377"]], "caption": "Cargo"}]}"""
_CSV = 'Year,Cargo,"Note, if any"\n2022,"1,377",\n2023,"1,204","fell by ""12"" %"\n2024,,\n'


def _png(width: int = 24, height: int = 16) -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    rows = b"".join(b"\0" + bytes((x * 9 + y) % 256 for x in range(width)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", head)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def _pdf() -> bytes:
    page = Page()
    page.text(60, 60, "Harbour", size=18, font="bold")
    y = page.justified(60, 100, _TEXT.split("\n\n")[2].replace("\n", " "), 400)
    page.text(60, y + 20, "Table 1. Cargo").rule(60, 300, y + 30)
    page.text(60, y + 45, "Year").text(200, y + 45, "t").rule(60, 300, y + 50)
    page.text(60, y + 65, "2022").text(200, y + 65, "1,377").rule(60, 300, y + 75)
    return pdf(page, Page().text(60, 60, "The lease ends in 2031."), info="/Title (Harbour)")


def _plain_pdf() -> bytes:
    """The same kind of file with nothing packed, so that mutants change what is drawn."""
    content = (
        b"BT /F 12 Tf 60 700 Td (The port leased Pier 4 to Lind.) Tj 0 -14 Td (It ends.) Tj ET\n"
        b"q 1 0 0 1 60 500 cm /X Do Q 0 0 100 50 re f"
    )
    form = b"BT /F 9 Tf 0 0 Td [(A) -200 (form.)] TJ ET"
    font = b"/Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >>"
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << "
        + font
        + b" /XObject << /X 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 200 200] /Resources << %s >> /Length %d >>"
        b"\nstream\n%s\nendstream" % (font, len(form), form),
    ]
    data, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        offsets.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    entries = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(bodies) + 1, entries)
    end += b"trailer\n<< /Size %d /Root 1 0 R >>\n" % (len(bodies) + 1)
    return data + end + b"startxref\n%d\n%%%%EOF\n" % len(data)


def _word() -> bytes:
    cell = "<w:tc><w:tcPr><w:gridSpan w:val='{}'/></w:tcPr>{}</w:tc>"
    table = (
        "<w:tbl><w:tr>"
        + cell.format(2, paragraph("Cargo"))
        + "</w:tr><w:tr>"
        + cell.format(1, paragraph("2022"))
        + cell.format(1, paragraph("1,377"))
        + "</w:tr></w:tbl>"
    )
    heading = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Harbour</w:t></w:r></w:p>'
    return word(heading + paragraph(" ".join(_TEXT.split("\n\n")[2].split())) + table + boxes(2))


def _mbox(mail: str) -> str:
    return "".join(f"From holt@port.example Wed May 15 10:00:00 2024\n{mail}\n" for _ in range(2))


def main() -> None:
    """Write every file."""
    sheet = sheet_rows({1: {"A": "Year", "B": "Cargo"}, 2: {"A": 2022, "B": 1377}, 3: {"A": "all"}})
    files: dict[str, str | bytes] = {
        "harbour.txt": _TEXT,
        "harbour.md": _MARKDOWN,
        "harbour.html": _HTML,
        "harbour.tex": _LATEX,
        "harbour.csv": _CSV,
        "harbour.json": _SHORT,
        "whole.json": to_json(load_json(_SHORT.encode(), "harbour.json")),
        "harbour.eml": _MAIL,
        "attached.eml": _MAIL.replace("alternative", "mixed").replace(
            "--x--",
            "--x\nContent-Type: application/pdf\nContent-Disposition: attachment; filename=a.pdf\n"
            f"Content-Transfer-Encoding: base64\n\n{base64.b64encode(b'%PDF-1.4').decode()}\n--x--",
        ),
        "harbour.mbox": _mbox(_MAIL),
        "harbour.pdf": _pdf(),
        "plain.pdf": _plain_pdf(),
        "harbour.docx": _word(),
        "harbour.xlsx": workbook(
            {
                "Cargo": f"<sheetData>{sheet}</sheetData><mergeCells><mergeCell ref='A3:B3'/></mergeCells>"
            },
            strings="<si><t>Pier</t></si>",
        ),
        "harbour.pptx": presentation(
            shape("Harbour", kind="title") + shape("The port leased Pier 4.", "It ends in 2031."),
            shape("Cargo fell."),
            notes={1: shape("Say why.")},
        ),
        "harbour.epub": book(
            {
                "one.xhtml": "<html><body><h1>One</h1><p>The port leased Pier 4.</p></body></html>",
                "two.xhtml": "<html><body><h1>Two</h1><p>It ends in 2031.</p></body></html>",
            },
            contents='<ol><li><a href="text/one.xhtml">One</a></li></ol>',
        ),
        "picture.png": _png(),
    }
    CORPUS.mkdir(exist_ok=True)
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        (CORPUS / name).write_bytes(data)


if __name__ == "__main__":
    main()
