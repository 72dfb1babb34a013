"""PDF files whose fonts, trees and streams lead round, and streams that are packed otherwise."""

import zlib

from tests.fuzz.crafted.family import Family
from tests.fuzz.crafted.pdfs import _FONT, _SAYS, _page
from tests.unit.documents.test_pdf_hostile import file_of, stream

FEW = (10, 100, 1_000)


def _said_by(font: bytes, *more: bytes, content: bytes = b"") -> bytes:
    """A page in a font that needs further objects, the first of which is number 6."""
    return _page(content or b"BT /F 12 Tf 60 600 Td (AAAA) Tj ET\n", font=font, more=more)


def _drawn_by_itself(n: int) -> bytes:
    """Letters that are drawn by text in the same font, so often."""
    glyph = stream(b"", b"500 0 d0 BT /T 1 Tf " + b"(a) Tj " * n + b"ET")
    font = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 750 750] /FontMatrix [.001 0 0 .001 0 0]"
        b" /CharProcs << /a 6 0 R >> /Encoding << /Differences [97 /a] >> /FirstChar 97"
        b" /LastChar 97 /Widths [1000] /Resources << /Font << /T 5 0 R >> >> >>"
    )
    return _said_by(font, glyph, content=b"BT /F 12 Tf 60 600 Td (aaaa) Tj ET\n")


def _mapped(n: int) -> bytes:
    """Each letter stands for so many."""
    cmap = b"begincmap 1 beginbfchar <41> <%b> endbfchar endcmap" % (b"0061" * n)
    font = _FONT.replace(b">>", b"/ToUnicode 6 0 R >>")
    return _said_by(font, stream(b"", cmap))


def _ranges(n: int) -> bytes:
    cmap = (
        b"begincmap 1 begincodespacerange <0000> <FFFFFFFF> endcodespacerange %d beginbfrange " % n
    )
    cmap += b"<00000000> <FFFFFFFF> <0041> " * n + b"endbfrange endcmap"
    return _said_by(_FONT.replace(b">>", b"/ToUnicode 6 0 R >>"), stream(b"", cmap))


def _differences(n: int) -> bytes:
    named = b" ".join(b"%d /a%d" % (i, i) for i in range(n))
    return _said_by(_FONT.replace(b">>", b"/Encoding << /Differences [%b] >> >>" % named))


def _widths(n: int) -> bytes:
    return _said_by(
        _FONT.replace(b">>", b"/FirstChar 0 /LastChar %d /Widths [%b] >>" % (n, b"1e9 " * n))
    )


def _contents(n: int) -> bytes:
    return _page(b"").replace(b"/Contents 4 0 R", b"/Contents [%b]" % (b"4 0 R " * n))


def _notes(n: int) -> bytes:
    note = b"<< /Type /Annot /Subtype /Link /Rect [0 0 9 9] /A << /S /URI /URI (http://a) >> >>"
    return _page(b"", page=b"/Annots [%b]" % (note * n))


def _fields(n: int) -> bytes:
    ring = (
        _FONT,
        b"<< /Fields [8 0 R] >>",
        b"<< /T (a) /Kids [%b] /Parent 8 0 R >>" % (b"8 0 R " * n),
    )
    return _page(b"", catalog=b"/AcroForm 7 0 R", more=ring)


def _structure(n: int) -> bytes:
    ring = (
        _FONT,
        b"<< /Type /StructTreeRoot /K 8 0 R >>",
        b"<< /S /P /P 8 0 R /K [%b] >>" % (b"8 0 R " * n),
    )
    return _page(b"", catalog=b"/StructTreeRoot 7 0 R /MarkInfo << /Marked true >>", more=ring)


def _names(n: int) -> bytes:
    ring = (_FONT, b"<< /Dests 8 0 R >>", b"<< /Kids [%b] /Limits [(a) (z)] >>" % (b"8 0 R " * n))
    return _page(b"", catalog=b"/Names 7 0 R", more=ring)


def _labels(n: int) -> bytes:
    return _page(
        b"", catalog=b"/PageLabels << /Nums [%b] >>" % (b"0 << /S /R /St 999999999 >> " * n)
    )


def _earlier(n: int) -> bytes:
    """A table of places that is its own earlier version."""
    made = _page(b"")
    at = made.rfind(b"xref\n0")
    return made.replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev %d" % (at if n == 1 else n))


def _versions(n: int) -> bytes:
    made = _page(b"")
    at = int(made.rsplit(b"startxref\n", 1)[1].split()[0])
    for _ in range(n):
        place = len(made)
        made += (
            b"xref\n0 0\ntrailer\n<< /Size 7 /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n"
            % (at, place)
        )
        at = place
    return made


def _filtered(name: bytes, data: bytes) -> bytes:
    made = _page(b"").replace(b"4 0 obj", b"9 0 obj", 1)
    held = b"4 0 obj\n<< /Filter %b /Length %d >>\nstream\n%b\nendstream\nendobj\n5 0 obj"
    return made.replace(b"5 0 obj", held % (name, len(data), data), 1)


def _runs(n: int) -> bytes:
    """Bytes that stand for 128 each."""
    return _filtered(b"/RunLengthDecode", b"\x81 " * n + b"\x80")


def _runs_packed(n: int) -> bytes:
    return _filtered(b"[/FlateDecode /RunLengthDecode]", zlib.compress(b"\x81 " * n + b"\x80"))


def _hexadecimal(n: int) -> bytes:
    return _filtered(b"/ASCIIHexDecode", (_SAYS * n).hex().encode() + b">")


def _letters85(n: int) -> bytes:
    return _filtered(b"/ASCII85Decode", b"z" * n + b"~>")


def _predicted(n: int) -> bytes:
    parms = (
        b"/FlateDecode /DecodeParms << /Predictor 15 /Colors 4 /BitsPerComponent 16 /Columns %d >>"
    )
    return _filtered(parms % n, zlib.compress(_SAYS * 10))


def _packed_objects(n: int) -> bytes:
    """A stream of objects that says it goes on in itself."""
    inside = b" ".join(b"%d 0" % (20 + i) for i in range(n)) + b" << >>"
    head = b"/Type /ObjStm /N %d /First %d /Extends 7 0 R" % (n, len(inside) - 5)
    return _page(b"", more=(_FONT, stream(head, inside, packed=True)))


def _length_of_itself(n: int) -> bytes:
    made = _page(b"")
    return made.replace(b"/Length", b"/Length 4 0 R /Was", n)


def _parents(n: int) -> bytes:
    return file_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 /Parent 2 0 R >>",
            b"<< /Type /Page /Parent 3 0 R /Contents 4 0 R /Resources 3 0 R /MediaBox 3 0 R >>",
            stream(b"", _SAYS * n),
        ]
    )


def _pdf(name: str, unit: bytes, sizes: tuple[int, ...] = FEW, end: bytes = b"") -> Family:
    return Family(name, "pdf", lambda n: _page(unit * n + end * n), sizes)


FAMILIES = (
    Family("letters drawn by themselves", "pdf", _drawn_by_itself, (1, 2, 50)),
    Family("a letter for many", "pdf", _mapped, (10, 500, 20_000)),
    Family("ranges of letters", "pdf", _ranges, FEW),
    Family("names of letters", "pdf", _differences, (10, 300, 20_000)),
    Family("widths", "pdf", _widths, (10, 300, 20_000)),
    Family("the same contents", "pdf", _contents, FEW),
    Family("links", "pdf", _notes, FEW),
    Family("fields in a ring", "pdf", _fields, (1, 2, 50)),
    Family("a structure in a ring", "pdf", _structure, (1, 2, 50)),
    Family("names in a ring", "pdf", _names, (1, 2, 50)),
    Family("labels of pages", "pdf", _labels, FEW),
    Family("an earlier version that is itself", "pdf", _earlier, (1, 0, 10**9)),
    Family("versions", "pdf", _versions, FEW),
    Family("runs of bytes", "pdf", _runs, (100, 100_000)),
    Family("packed runs of bytes", "pdf", _runs_packed, (100, 1_000_000)),
    Family("hexadecimal", "pdf", _hexadecimal, FEW),
    Family("letters for zeros", "pdf", _letters85, (100, 100_000)),
    Family("predicted bytes", "pdf", _predicted, (1, 10_000, 2**31 - 1)),
    Family("objects in a stream", "pdf", _packed_objects, FEW),
    Family("a length that is itself", "pdf", _length_of_itself, (1,)),
    Family("parents that are themselves", "pdf", _parents, (1, 100)),
    _pdf("marks", b"/Span << /ActualText (a) >> BDC BT /F 9 Tf (b) Tj ET ", FEW, b"EMC "),
    _pdf("long marks", b"/Span << /ActualText (" + b"word " * 200 + b") >> BDC EMC ", (1, 300)),
    _pdf("spaces between letters", b"BT /F 12 Tf 99999 Tc 60 600 Td (a b) Tj ET\n"),
    _pdf("narrow letters", b"BT /F 12 Tf 0 Tz 60 600 Td (a b) Tj ET\n"),
    _pdf("unseen letters", b"BT 3 Tr /F 12 Tf 60 600 Td (a b) Tj ET\n"),
    _pdf("steps", b"BT /F 9 Tf [(a) -9999 (b) 9999 (c)] TJ ET\n"),
    _pdf(
        "a grid of words",
        b"".join(
            b"BT /F 4 Tf %d %d Td (ab) Tj ET\n" % (x, y)
            for x in range(20, 580, 140)
            for y in range(20, 780, 200)
        ),
        (1, 20, 400),
    ),
    _pdf("transformations", b"1.01 0 0 1.01 0 0 cm ", FEW, b""),
    _pdf("shadings", b"/P sh /P gs /P cs "),
    _pdf("strings in octal", b"BT /F 9 Tf 60 500 Td (\\101\\777\\8) Tj ET\n"),
    _pdf("strings in brackets", b"BT /F 9 Tf 60 500 Td (" + b"(" * 50 + b")" * 50 + b") Tj ET\n"),
)
