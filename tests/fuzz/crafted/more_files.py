"""Packages, mail, tables of text and pictures that lie about what is inside them."""

import base64
import bz2
import io
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable

from tests.fuzz.crafted.family import SMALL, Family
from tests.fuzz.crafted.mail import _HEAD
from tests.fuzz.crafted.packages import _cell, _replaced
from tests.fuzz.crafted.tables import _png
from tests.unit.documents.test_docx_hostile import paragraph, word
from tests.unit.documents.zip_maker import book, presentation, shape, sheet_rows, workbook

_PLAIN = "The port leased Pier 4 to Lind Shipping."
_SAYS = paragraph(_PLAIN)
FEW = (10, 100, 1_000)


def _each(piece: Callable[[int], str]) -> Callable[[int], str]:
    return lambda n: "".join(map(piece, range(n)))


def _docx(name: str, piece: Callable[[int], str], sizes: tuple[int, ...] = FEW) -> Family:
    return Family(name, "docx", lambda n: word(_SAYS + _each(piece)(n)), sizes)


def _wrapped(name: str, opens: str, closes: str, sizes: tuple[int, ...] = FEW) -> Family:
    return Family(
        name, "docx", lambda n: word(_SAYS + opens * n + paragraph("a") + closes * n), sizes
    )


def _stood_in(n: int) -> bytes:
    """A box in a box, and beside each what stands in for it."""
    opens = "<w:p><w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:txbxContent>"
    closes = (
        "</w:txbxContent></mc:Choice><mc:Fallback><w:pict><w:txbxContent>"
        f"{paragraph('b')}</w:txbxContent></w:pict></mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    return word(_SAYS + opens * n + paragraph("a") + closes * n)


def _merged_down(n: int) -> bytes:
    cell = "<w:tc><w:tcPr><w:vMerge/><w:gridSpan w:val='3'/></w:tcPr><w:p/></w:tc>"
    return word(f"{_SAYS}<w:tbl>{f'<w:tr>{cell * 4}</w:tr>' * n}</w:tbl>")


def _zip(parts: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(made, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that come again, which is what is wanted
        for name, content in parts:
            archive.writestr(zipfile.ZipInfo(name), content, method)
    return made.getvalue()


def _parts(data: bytes) -> list[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def _again(data: bytes, n: int) -> bytes:
    """A package with every part several times."""
    return _zip(_parts(data) * n)


def _packed_by(method: int) -> Callable[[int], bytes]:
    return lambda n: _zip(_parts(word(_SAYS * n)), method)


def _lying(offset: int) -> Callable[[int], bytes]:
    """A package whose directory tells another size, method or place than there is."""

    def make(n: int) -> bytes:
        data = bytearray(word(_SAYS))
        at = data.rfind(b"PK\x01\x02")
        data[at + offset : at + offset + 4] = struct.pack("<I", n & 0xFFFFFFFF)
        return bytes(data)

    return make


def _xlsx(name: str, make: Callable[[int], str], sizes: tuple[int, ...] = FEW) -> Family:
    return Family(name, "xlsx", lambda n: workbook({"Cargo": make(n)}), sizes)


def _shared(n: int) -> bytes:
    runs = "<r><t>a</t></r>" * n
    strings = f"<sst><si>{runs}</si></sst>"
    rows = f'<row r="1">{"".join(_cell(" t=" + chr(34) + "s" + chr(34) + "><v>0</v>")[13:-6] for _ in range(1))}</row>'
    return workbook(
        {"Cargo": rows + sheet_rows({2: {"A": _PLAIN}})}, more={"xl/sharedStrings.xml": strings}
    )


def _formats(n: int) -> bytes:
    made = "".join(f'<numFmt numFmtId="{164 + i}" formatCode="{"[h]:mm;" * i}"/>' for i in range(n))
    rows = sheet_rows({1: {"A": _PLAIN}})
    return workbook(
        {"Cargo": rows},
        more={"xl/styles.xml": f"<styleSheet><numFmts>{made}</numFmts></styleSheet>"},
    )


def _pptx(name: str, piece: Callable[[int], str], sizes: tuple[int, ...] = FEW) -> Family:
    return Family(name, "pptx", lambda n: presentation(shape(_PLAIN) + _each(piece)(n)), sizes)


def _chapter(body: str) -> str:
    return f"<html><body><h1>One</h1><p>{_PLAIN}</p>{body}</body></html>"


def _epub(name: str, piece: Callable[[int], str], sizes: tuple[int, ...] = FEW) -> Family:
    return Family(name, "epub", lambda n: book({"a.xhtml": _chapter(_each(piece)(n))}), sizes)


def _linked(n: int) -> bytes:
    return book(
        {f"c{i}.xhtml": _chapter(f"<a href='c{(i + 1) % n}.xhtml#x'>next</a>") for i in range(n)}
    )


def _contents(n: int) -> bytes:
    point = "<navPoint><navLabel><text>a</text></navLabel><content src='text/a.xhtml#{}'/>"
    made = "".join(point.format(i) for i in range(n)) + "</navPoint>" * n
    return _replaced(
        book({"a.xhtml": _chapter("")}), "OEBPS/toc.ncx", f"<ncx><navMap>{made}</navMap></ncx>"
    )


def _eml(name: str, make: Callable[[int], str | bytes], sizes: tuple[int, ...] = FEW) -> Family:
    return Family(name, "eml", make, sizes)


def _said_in(charset: str) -> Family:
    return _eml(
        f"the charset {charset}",
        lambda n: (
            f"{_HEAD}Content-Type: text/plain; charset={charset}\n\n{_PLAIN * n} +AGE- \\x41\n"
        ),
        (1, 100),
    )


def _attached(name: str, data: Callable[[int], bytes], sizes: tuple[int, ...]) -> Family:
    def make(n: int) -> str:
        coded = base64.encodebytes(data(n)).decode()
        return (
            f'{_HEAD}Content-Type: multipart/mixed; boundary="x"\n\n--x\n\n{_PLAIN}\n--x\n'
            f"Content-Type: application/octet-stream\nContent-Disposition: attachment; filename={name}\n"
            f"Content-Transfer-Encoding: base64\n\n{coded}--x--\n"
        )

    return _eml(f"attached {name}", make, sizes)


def _csv(name: str, make: Callable[[int], str | bytes], sizes: tuple[int, ...] = FEW) -> Family:
    return Family(name, "csv", make, sizes)


def _chunk(kind: bytes, held: bytes) -> bytes:
    return struct.pack(">I", len(held)) + kind + held + struct.pack(">I", zlib.crc32(kind + held))


def _with_chunk(kind: bytes, head: bytes, n: int) -> bytes:
    made = _png(8, 8, zlib.compress(b"\0" * 72))
    return made[:33] + _chunk(kind, head + zlib.compress(b"a" * n)) + made[33:]


_WORD = (
    Family("what stands in for a box", "docx", _stood_in, (2, 20, 100, 300)),
    Family("cells merged down", "docx", _merged_down, FEW),
    _wrapped("controls in controls", "<w:sdt><w:sdtContent>", "</w:sdtContent></w:sdt>"),
    _wrapped("insertions in deletions", "<w:ins><w:del>", "</w:del></w:ins>"),
    _wrapped("tags in tags", "<w:smartTag><w:customXml>", "</w:customXml></w:smartTag>"),
    _wrapped("tables in cells", "<w:tbl><w:tr><w:tc>", "</w:tc></w:tr></w:tbl>"),
    _wrapped(
        "links in fields", "<w:p><w:hyperlink><w:fldSimple>", "</w:fldSimple></w:hyperlink></w:p>"
    ),
    _wrapped("formulas", "<w:p><m:oMath><m:f><m:num>", "</m:num></m:f></m:oMath></w:p>"),
    _docx("notes", lambda i: f"<w:p><w:r><w:footnoteReference w:id='{i}'/></w:r></w:p>"),
    _docx(
        "numbers",
        lambda i: (
            f"<w:p><w:pPr><w:numPr><w:ilvl w:val='{i}'/><w:numId w:val='{i}'/></w:numPr></w:pPr><w:r><w:t>a{i}</w:t></w:r></w:p>"
        ),
    ),
    _docx(
        "bookmarks",
        lambda i: f"<w:bookmarkStart w:id='{i}' w:name='a'/><w:bookmarkEnd w:id='{i + 1}'/>",
    ),
    _docx(
        "headings",
        lambda i: (
            f"<w:p><w:pPr><w:pStyle w:val='Heading{i % 12}'/></w:pPr><w:r><w:t>a{i}</w:t></w:r></w:p>"
        ),
    ),
    _docx(
        "runs",
        lambda i: (
            f"<w:p><w:r><w:t xml:space='preserve'> a{i}</w:t><w:sym w:char='F0{i % 100:02}'/></w:r></w:p>"
        ),
    ),
    Family("every part again", "docx", lambda n: _again(word(_SAYS), n), (2, 50, 500)),
    Family("packed by bzip2", "docx", _packed_by(zipfile.ZIP_BZIP2), (1, 500)),
    Family("packed by LZMA", "docx", _packed_by(zipfile.ZIP_LZMA), (1, 500)),
    Family("a size that is a lie", "docx", _lying(24), (0, 1, 10**6, 2**32 - 1)),
    Family("a packed size that is a lie", "docx", _lying(20), (0, 1, 2**31)),
    Family("a place that is a lie", "docx", _lying(42), (0, 1, 2**31, 2**32 - 1)),
    Family("a method that is a lie", "docx", _lying(10), (1, 8, 14, 93)),
)
_BOOKS = (
    _xlsx(
        "rows backwards",
        _each(lambda i: f'<row r="{10**6 - i}"><c r="A{10**6 - i}"><v>{i}</v></c></row>'),
    ),
    _xlsx("the same row", _each(lambda i: f'<row r="1"><c r="A1"><v>{i}</v></c></row>')),
    _xlsx(
        "corners",
        lambda n: "".join(
            f'<row r="{1 + i * 1048575 // n}"><c r="XFD{1 + i * 1048575 // n}"><v>1</v></c></row>'
            for i in range(n)
        ),
        (2, 100, 1_000),
    ),
    _xlsx(
        "days",
        _each(
            lambda i: (
                f'<row r="{i + 1}"><c r="A{i + 1}" s="1"><v>{(-1) ** i * 10**i if i < 300 else "NaN"}</v></c></row>'
            )
        ),
    ),
    _xlsx(
        "errors",
        _each(
            lambda i: f'<row r="{i + 1}"><c r="A{i + 1}" t="{"eb"[i % 2]}"><v>#REF!</v></c></row>'
        ),
    ),
    _xlsx(
        "places without letters",
        _each(lambda i: f'<row r="-{i}"><c r="$A$-{i}"><v>1</v></c></row>'),
    ),
    Family("runs of a shared text", "xlsx", _shared, FEW),
    Family("formats", "xlsx", _formats, (1, 50, 300)),
    Family(
        "every part again",
        "xlsx",
        lambda n: _again(workbook({"Cargo": sheet_rows({1: {"A": _PLAIN}})}), n),
        (2, 200),
    ),
    _pptx("shapes that differ", lambda i: shape(f"Pier {i} was leased.")),
    _pptx("groups side by side", lambda i: f"<grpSp>{shape(f'a{i}')}</grpSp>"),
    _pptx(
        "cells merged",
        lambda i: (
            '<graphicFrame><graphic><graphicData><tbl><tr><tc rowSpan="9" hMerge="1" vMerge="1"><txBody><p><r><t>a</t></r></p></txBody></tc></tr></tbl></graphicData></graphic></graphicFrame>'
        ),
    ),
    _pptx(
        "levels",
        lambda i: f'<sp><txBody><p><pPr lvl="{i}"/><r><t>a{i}</t></r><fld/><br/></p></txBody></sp>',
    ),
    Family("every part again", "pptx", lambda n: _again(presentation(shape(_PLAIN)), n), (2, 200)),
    Family("chapters in a ring", "epub", _linked, (1, 50, 400)),
    Family("a deep table of contents", "epub", _contents, FEW),
    _epub("anchors", lambda i: f'<p id="a{i}"><a href="#a{i + 1}">a{i}</a></p>'),
    _epub("parts of a book", lambda i: f'<section epub:type="chapter"><h2>a{i}</h2></section>'),
    _epub("pages of print", lambda i: f'<span epub:type="pagebreak" title="{i}"/>a{i} '),
    _epub("entities that are none", lambda i: f"&a{i};&nbsp;&lt"),
    Family(
        "every part again", "epub", lambda n: _again(book({"a.xhtml": _chapter("")}), n), (2, 200)
    ),
)
_MAIL = (
    *(
        _said_in(each)
        for each in (
            "utf-7",
            "utf-16",
            "idna",
            "punycode",
            "unicode_escape",
            "base64",
            "zlib",
            "rot13",
            "undefined",
            "mbcs",
            "../a",
            "utf-8-sig",
        )
    ),
    _eml(
        "the same boundary",
        lambda n: (
            f'{_HEAD}Content-Type: multipart/mixed; boundary="x"\n\n'
            + '--x\nContent-Type: multipart/mixed; boundary="x"\n\n' * n
            + f"--x\n\n{_PLAIN}\n"
        ),
    ),
    _eml(
        "alternatives",
        lambda n: (
            f'{_HEAD}Content-Type: multipart/alternative; boundary="x"\n\n'
            + _each(
                lambda i: f"--x\nContent-Type: text/{('plain', 'html')[i % 2]}\n\n<p>{_PLAIN}\n"
            )(n)
            + "--x--\n"
        ),
    ),
    _eml(
        "replies in replies",
        lambda n: f"{_HEAD}\n" + _each(lambda i: ">" * (i % 200) + f" On day {i} Ann wrote:\n")(n),
    ),
    _eml(
        "heads in the body",
        lambda n: f"{_HEAD}\n" + "-----Original Message-----\nFrom: a\nSent: b\n" * n,
    ),
    _eml(
        "a subject that goes on", lambda n: "Subject: =?utf-8?b?" + "w6k" * n + f"?=\n\n{_PLAIN}\n"
    ),
    _eml(
        "parameters out of order",
        lambda n: (
            f"{_HEAD}Content-Type: text/plain; "
            + _each(lambda i: f"charset*{n - i}*=utf-8''a; ")(n)
            + f"\n\n{_PLAIN}\n"
        ),
    ),
    _eml(
        "dates",
        lambda n: f"From: a@b.example\nDate: {n} Foo {n} 99:99:99 +9999\n\n{_PLAIN}\n",
        (0, 1, 10**4, 10**30),
    ),
    _eml("zero bytes", lambda n: b"Subject: a\0b\r\n" * n + b"\r\n" + _PLAIN.encode()),
    _attached("a.docx", lambda n: word(_SAYS * n), (1, 50)),
    _attached("a.eml", lambda n: f"{_HEAD}\n{_PLAIN * n}\n".encode(), (1, 50)),
    _attached("a.zip", lambda n: _zip([("a.txt", b"\0" * n)]), (10, 10**7)),
    _attached("a.bz2", lambda n: bz2.compress(b"\0" * n), (10, 10**7)),
    Family(
        "messages that differ",
        "mbox",
        _each(
            lambda i: (
                f"From a@b Wed May 15 10:00:00 2024\nFrom: a{i}@b\nSubject: Re: {i}\nMessage-ID: <{i}>\nIn-Reply-To: <{i - 1}>\n\n{_PLAIN}\n\n"
            )
        ),
        (10, 100, 400),
    ),
)
_TABLES = (
    _csv(
        "names of columns", lambda n: ",".join(["a"] * n) + "\n" + ",".join(["1"] * n) + "\n", FEW
    ),
    _csv("values that differ", lambda n: "a,b\n" + _each(lambda i: f"Pier {i},{i * 37}\n")(n), FEW),
    _csv("carriage returns", lambda n: "a,b\r" + "1,2\r" * n),
    _csv("UTF-16", lambda n: ("a,b\n" + "1,2\n" * n).encode("utf-16")),
    _csv("quotes in quotes", lambda n: "a,b\n" + '"a""b,",' * n + "\n"),
    _csv("one line", lambda n: "a;" * n + "b" + ",c" * n, SMALL),
    _csv("lines in a cell", lambda n: 'a,b\n"' + "x\n" * n + '",1\n', SMALL),
    _csv("dates", lambda n: "a,b\n" + _each(lambda i: f"{i}/13/99999,12:{i}\n")(n), FEW),
    _csv(
        "numbers of all kinds",
        lambda n: "a,b\n" + _each(lambda i: f'"1,{i:03}.{i}",({i})-%\n')(n),
        FEW,
    ),
    _csv("heads of several rows", lambda n: ",A,,B\n" * n + "1,2,3,4\n", FEW),
    Family(
        "a colour profile that unpacks",
        "png",
        lambda n: _with_chunk(b"iCCP", b"a\0\0", n),
        (100, 10**8),
    ),
    Family("a text that unpacks", "png", lambda n: _with_chunk(b"zTXt", b"a\0\0", n), (100, 10**8)),
    Family("a long picture", "png", lambda n: _png(1, n, zlib.compress(b"\0\0" * n)), (10, 10**6)),
    Family(
        "a bitmap",
        "bmp",
        lambda n: (
            b"BM"
            + struct.pack("<IHHIIiiHHIIiiII", 60, 0, 0, 54, 40, n, -n, 1, 24, 0, 0, 0, 0, 0, 0)
            + b"\0" * 6
        ),
        (1, 10**5, 2**31 - 1),
    ),
    Family(
        "frames",
        "gif",
        lambda n: (
            b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\xff\xff\xff"
            + b",\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0" * n
            + b";"
        ),
        (1, 200),
    ),
    Family(
        "a directory of itself",
        "tiff",
        lambda n: (
            b"II*\0\x08\0\0\0"
            + struct.pack("<H", 1)
            + struct.pack("<HHII", 256, 4, 1, n)
            + struct.pack("<I", 8)
        ),
        (1, 10**6),
    ),
)
FAMILIES = (*_WORD, *_BOOKS, *_MAIL, *_TABLES)
