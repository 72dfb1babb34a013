"""Word files, workbooks, presentations and books that cost more than they say."""

import io
import zipfile

from tests.fuzz.crafted.family import MIDDLE, SMALL, Family
from tests.unit.documents.test_docx_hostile import boxes, paragraph, word
from tests.unit.documents.zip_maker import (
    book,
    locked,
    packed,
    presentation,
    shape,
    sheet_rows,
    workbook,
)

_PLAIN = "The port leased Pier 4 to Lind Shipping."
_SAYS = paragraph(_PLAIN)


def _docx(name: str, unit: str, sizes: tuple[int, ...] = SMALL, after: str = "") -> Family:
    return Family(name, "docx", lambda n: word(_SAYS + unit * n + after * n), sizes)


def _xlsx(name: str, make: object, sizes: tuple[int, ...] = SMALL) -> Family:
    return Family(name, "xlsx", lambda n: workbook({"Cargo": make(n)}), sizes)  # type: ignore[operator]


def _pptx(name: str, unit: str, sizes: tuple[int, ...] = SMALL, after: str = "") -> Family:
    made = shape("Harbour", kind="title") + shape(_PLAIN)
    return Family(name, "pptx", lambda n: presentation(made + unit * n + after * n), sizes)


def _epub(name: str, unit: str, sizes: tuple[int, ...] = SMALL, after: str = "") -> Family:
    def make(n: int) -> bytes:
        body = f"<html><body><h1>One</h1><p>{_PLAIN}</p>{unit * n}{after * n}</body></html>"
        return book({"one.xhtml": body})

    return Family(name, "epub", make, sizes)


def _replaced(data: bytes, path: str, content: str) -> bytes:
    """Return a zip file with another content of one part, or with one part more."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    return packed({**parts, path: content.encode()})


def _laughs(n: int) -> str:
    """Entities of which each is the one before ten times."""
    made = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(n))
    return f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a0 "ha">{made}]><a>&a{n};</a>'


def _styles(n: int) -> bytes:
    """Styles that are based on one another, the last on the first."""
    made = "".join(
        f'<w:style w:type="paragraph" w:styleId="s{i}"><w:name w:val="s{i}"/>'
        f'<w:basedOn w:val="s{(i + 1) % n}"/></w:style>'
        for i in range(n)
    )
    names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    body = '<w:p><w:pPr><w:pStyle w:val="s0"/></w:pPr><w:r><w:t>a</w:t></w:r></w:p>'
    return _replaced(word(_SAYS + body), "word/styles.xml", f"<w:styles {names}>{made}</w:styles>")


def _merged(n: int) -> str:
    cells = sheet_rows({1: {"A": "Year", "B": _PLAIN}, 2: {"A": 1}})
    merges = "".join(f'<mergeCell ref="A{i}:C{i + 5}"/>' for i in range(1, n))
    return f"<sheetData>{cells}</sheetData><mergeCells>{merges}</mergeCells>"


def _cell(inside: str, at: str = "A2") -> str:
    return f'<row r="1"><c r="A1" t="inlineStr"><is><t>{_PLAIN}</t></is></c></row><row><c r="{at}" {inside}</c></row>'


def _archive(n: int) -> bytes:
    """A Word file with many parts that nobody needs."""
    stream = io.BytesIO(word(_SAYS))
    with zipfile.ZipFile(stream, "a") as archive:
        for i in range(n):
            archive.writestr(f"word/part{i}.xml", "<a/>")
    return stream.getvalue()


FAMILIES = (
    _docx(
        "tables in tables", "<w:tbl><w:tr><w:tc>" + paragraph("a"), SMALL, "</w:tc></w:tr></w:tbl>"
    ),
    _docx("rows", "<w:tbl><w:tr><w:tc><w:p/></w:tc></w:tr></w:tbl>"),
    _docx("paragraphs", paragraph("a"), MIDDLE[:3]),
    _docx("empty paragraphs", "<w:p/>", MIDDLE),
    _docx("runs", "<w:r><w:t>a</w:t></w:r>", MIDDLE),
    _docx("links", "<w:p><w:hyperlink>", SMALL, "</w:hyperlink></w:p>"),
    _docx("controls", "<w:sdt><w:sdtContent>", SMALL, "</w:sdtContent></w:sdt>"),
    _docx("deletions", "<w:p><w:del><w:r><w:delText>a</w:delText></w:r></w:del></w:p>"),
    _docx("tabs", "<w:p><w:r><w:tab/><w:br/></w:r></w:p>"),
    _docx("fields", '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r></w:p>'),
    _docx("unclosed", "<w:p>", SMALL),
    Family("text boxes", "docx", lambda n: word(boxes(n)), (10, 100, 400)),
    Family(
        "wide cells",
        "docx",
        lambda n: word(
            f"{_SAYS}<w:tbl><w:tr><w:tc><w:tcPr><w:gridSpan w:val='{n}'/></w:tcPr>{paragraph('a')}</w:tc></w:tr></w:tbl>"
        ),
        (0, -1, 1_000, 10**9),
    ),
    Family("styles in a ring", "docx", _styles, (1, 2, 1_000)),
    Family(
        "a part of entities",
        "docx",
        lambda n: _replaced(word(_SAYS), "word/styles.xml", _laughs(n)),
        (2, 9),
    ),
    Family(
        "a body of entities",
        "docx",
        lambda n: _replaced(word(_SAYS), "word/document.xml", _laughs(n)),
        (2, 9),
    ),
    Family(
        "an entity elsewhere",
        "docx",
        lambda n: _replaced(
            word(_SAYS),
            "word/document.xml",
            f'<!DOCTYPE a [<!ENTITY x SYSTEM "file://{"/" * n}etc/passwd">]><a>&x;</a>',
        ),
        (1, 2),
    ),
    Family(
        "zeros",
        "docx",
        lambda n: _replaced(word(_SAYS), "word/media.bin", "\0" * n),
        (10**6, 10**8),
    ),
    Family(
        "a body of spaces",
        "docx",
        lambda n: _replaced(word(_SAYS), "word/document.xml", " " * n),
        (10**6, 10**8),
    ),
    Family("parts", "docx", _archive, (10, 1_000)),
    Family("locked", "docx", lambda n: locked(word(_SAYS * n)), (1,)),
    Family(
        "paths that lead out",
        "docx",
        lambda n: _replaced(word(_SAYS), f"{'../' * n}a.xml", "<a/>"),
        (1, 100),
    ),
    Family("cut off", "docx", lambda n: word(_SAYS)[:-n], (1, 22, 100)),
    _xlsx("rows", lambda n: sheet_rows({i: {"A": i, "B": "a"} for i in range(1, n + 1)})),
    _xlsx(
        "columns",
        lambda n: '<row r="1">' + "<c><v>1</v></c>" * n + "</row>" + _cell("><v>1</v>"),
        SMALL,
    ),
    _xlsx("a far row", lambda n: _cell("><v>1</v>", f"A{n}"), (1, 1_048_576, 10**12)),
    _xlsx("a far column", lambda n: _cell("><v>1</v>", "Z" * n + "1"), (1, 3, 4, 50, 5_000)),
    _xlsx("a strange place", lambda n: _cell("><v>1</v>", "1A" * n), (1, 100)),
    _xlsx("merged cells", _merged, (2, 100, 5_000)),
    _xlsx(
        "one merged cell",
        lambda n: (
            f"<sheetData>{_cell('><v>1</v>')}</sheetData><mergeCells><mergeCell ref='A1:XFD{n}'/></mergeCells>"
        ),
        (1, 1_048_576),
    ),
    _xlsx("a shared text", lambda n: _cell(f't="s"><v>{n}</v>'), (0, -1, 10**12)),
    _xlsx("a style", lambda n: _cell(f's="{n}"><v>1</v>'), (0, -1, 10**12)),
    _xlsx("a date", lambda n: _cell(f't="d"><v>{n}</v>'), (0, -1, 10**12)),
    _xlsx("a number", lambda n: _cell(f"><v>{'9' * n}</v>"), (1, 400, 5_000)),
    _xlsx("exponents", lambda n: _cell(f"><v>1e{n}</v>"), (1, 400, 10**9)),
    _xlsx("a formula", lambda n: _cell(f"><f>{'SUM(' * n}</f><v>1</v>"), SMALL),
    _xlsx("a long text", lambda n: _cell(f't="inlineStr"><is><t>{"word " * n}</t></is>'), MIDDLE),
    _xlsx("unclosed", lambda n: "<row>" * n, SMALL),
    Family(
        "sheets",
        "xlsx",
        lambda n: workbook({f"S{i}": sheet_rows({1: {"A": "a", "B": 1}}) for i in range(n)}),
        (1, 100, 1_000),
    ),
    Family(
        "entities",
        "xlsx",
        lambda n: workbook(
            {"Cargo": sheet_rows({1: {"A": _PLAIN}})}, more={"xl/sharedStrings.xml": _laughs(n)}
        ),
        (2, 9),
    ),
    _pptx("groups", "<grpSp>", SMALL, "</grpSp>"),
    _pptx("shapes", shape("a")),
    _pptx("paragraphs", shape(*["a"] * 50), (10, 100)),
    _pptx(
        "tables",
        "<graphicFrame><graphic><graphicData><tbl><tr><tc><txBody><p><r><t>a</t></r></p></txBody></tc></tr></tbl></graphicData></graphic></graphicFrame>",
    ),
    _pptx("titles", shape("a", kind="title")),
    _pptx("unclosed", "<sp>", SMALL),
    Family(
        "wide cells",
        "pptx",
        lambda n: presentation(
            shape(_PLAIN)
            + f'<graphicFrame><graphic><graphicData><tbl><tr><tc gridSpan="{n}" rowSpan="{n}"><txBody><p><r><t>a</t></r></p></txBody></tc></tr></tbl></graphicData></graphic></graphicFrame>'
        ),
        (0, -1, 1_000, 10**9),
    ),
    Family("slides", "pptx", lambda n: presentation(*[shape("a")] * n), (1, 100, 500)),
    Family(
        "notes", "pptx", lambda n: presentation(shape(_PLAIN), notes={1: shape("a") * n}), SMALL
    ),
    Family(
        "entities",
        "pptx",
        lambda n: _replaced(presentation(shape(_PLAIN)), "ppt/presentation.xml", _laughs(n)),
        (2, 9),
    ),
    _epub("divisions", "<div>", SMALL, "</div>"),
    _epub("unclosed", "<p>a", SMALL),
    _epub("sections", "<section><h2>a</h2>", SMALL, "</section>"),
    _epub("notes", '<a href="#n">1</a><aside id="n">a</aside>'),
    Family(
        "chapters",
        "epub",
        lambda n: book(
            {
                f"c{i}.xhtml": f"<html><body><h1>{i}</h1><p>{_PLAIN}</p></body></html>"
                for i in range(n)
            }
        ),
        (1, 100, 500),
    ),
    Family(
        "contents",
        "epub",
        lambda n: book(
            {"a.xhtml": f"<html><body><p>{_PLAIN}</p></body></html>"},
            contents="<ol><li><a href='text/a.xhtml'>a</a>" * n,
        ),
        SMALL,
    ),
    Family(
        "the same chapter",
        "epub",
        lambda n: _replaced(
            book({"a.xhtml": f"<html><body><p>{_PLAIN}</p></body></html>"}),
            "OEBPS/b.opf",
            '<package><manifest><item id="0" href="text/a.xhtml" media-type="application/xhtml+xml"/></manifest><spine>'
            + '<itemref idref="0"/>' * n
            + "</spine></package>",
        ),
        (1, 100, 2_000),
    ),
    Family(
        "a list elsewhere",
        "epub",
        lambda n: _replaced(
            book({"a.xhtml": f"<html><body><p>{_PLAIN}</p></body></html>"}),
            "META-INF/container.xml",
            f'<container><rootfiles><rootfile full-path="{"../" * n}b.opf"/></rootfiles></container>',
        ),
        (1, 100),
    ),
    Family(
        "entities",
        "epub",
        lambda n: _replaced(
            book({"a.xhtml": f"<html><body><p>{_PLAIN}</p></body></html>"}),
            "OEBPS/text/a.xhtml",
            _laughs(n),
        ),
        (2, 9),
    ),
)
