"""PDF files that cost more than they say."""

from tests.fuzz.crafted.family import SMALL, Family
from tests.unit.documents.test_pdf_hostile import doubling, drawn, file_of, stream

_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
_SAYS = b"BT /F 12 Tf 60 700 Td (The port leased Pier 4 to Lind Shipping.) Tj ET\n"


def _page(
    content: bytes,
    *,
    page: bytes = b"",
    media: bytes = b"0 0 600 800",
    more: tuple[bytes, ...] = (),
    catalog: bytes = b"",
    font: bytes = _FONT,
    packed: bool = False,
) -> bytes:
    return file_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R %b >>" % catalog,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [%b] /Contents 4 0 R %b"
            b" /Resources << /Font << /F 5 0 R >> /XObject << /X 6 0 R >> >> >>" % (media, page),
            stream(b"", _SAYS + content, packed=packed),
            font,
            *more,
        ]
    )


def _pdf(name: str, unit: bytes, sizes: tuple[int, ...] = SMALL, *, packed: bool = False) -> Family:
    return Family(name, "pdf", lambda n: _page(unit * n, packed=packed), sizes)


def _pages(n: int, kid: str = "{}") -> bytes:
    kids = " ".join(f"{kid.format(3)} 0 R" for _ in range(n)).encode()
    return file_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [%b] /Count %d >>" % (kids, n),
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R"
            b" /Resources << /Font << /F 5 0 R >> >> >>",
            stream(b"", _SAYS),
            _FONT,
        ]
    )


def _claims(n: int) -> bytes:
    return _page(b"").replace(b"/Count 1", b"/Count %d" % n)


def _tree(n: int) -> bytes:
    """A tree of pages that is as deep as it may be."""
    inner = [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (7 + i) for i in range(n)]
    last = b"<< /Type /Page /Parent %d 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>"
    return file_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [6 0 R] /Count 1 >>",
            b"<< >>",
            stream(b"", _SAYS),
            _FONT,
            *inner,
            last % (5 + n),
        ]
    )


def _outlines(n: int) -> bytes:
    more = (
        _FONT,
        b"<< /First 8 0 R /Last 8 0 R /Count %d >>" % n,
        b"<< /Title (a) /Next 8 0 R /First 7 0 R >>",
    )
    return _page(b"", catalog=b"/Outlines 7 0 R", more=more)


def _encoded(n: int) -> bytes:
    """A page that was packed many times."""
    import zlib

    content = _SAYS
    for _ in range(n):
        content = zlib.compress(content)
    filters = b" ".join([b"/FlateDecode"] * n)
    made = _page(b"").replace(b"4 0 obj", b"9 0 obj", 1)
    return made.replace(
        b"5 0 obj",
        b"4 0 obj\n<< /Filter [%b] /Length %d >>\nstream\n%b\nendstream\nendobj\n5 0 obj"
        % (filters, len(content), content),
        1,
    )


FAMILIES = (
    Family("a form of itself", "pdf", lambda n: drawn([(0, n)]), (1, 2, 50)),
    Family("doubling forms", "pdf", lambda n: drawn(doubling(n)), (5, 15, 30)),
    Family("packed doubling forms", "pdf", lambda n: drawn(doubling(n), packed=True), (5, 15, 30)),
    Family(
        "a chain of forms",
        "pdf",
        lambda n: drawn([(i + 1, 1) for i in range(n)] + [(0, 0)]),
        (10, 100, 1_000),
    ),
    Family("text upon text", "pdf", lambda n: _page(_SAYS * n), (10, 1_000, 20_000)),
    Family("the same page", "pdf", _pages, (10, 100, 300, 12_000)),
    Family("a page of pages", "pdf", lambda n: _pages(n, "2"), (1, 10, 1_000)),
    Family("pages that are missing", "pdf", lambda n: _pages(n, "99"), (1, 1_000)),
    Family("more pages than there are", "pdf", _claims, (0, 1_000, 100_000, 2**31 - 1)),
    Family("a deep tree of pages", "pdf", _tree, (5, 100, 2_000)),
    Family("outlines that turn round", "pdf", _outlines, (1, 100)),
    Family("packed again", "pdf", _encoded, (2, 50)),
    _pdf("words on words", b"BT /F 12 Tf 60 600 Td (word) Tj ET\n", (10, 1_000, 5_000)),
    _pdf("one letter at a time", b"BT /F 12 Tf 60 600 Td (a) Tj ET\n", (1_000, 5_000)),
    _pdf("words far away", b"BT /F 12 Tf 99999999 600 Td (word) Tj ET\n"),
    _pdf("words off the page", b"BT /F 12 Tf -600 -900 Td (word) Tj ET\n"),
    _pdf("tiny words", b"BT /F 0.0001 Tf 60 600 Td (word) Tj ET\n"),
    _pdf("words without size", b"BT /F 0 Tf 60 600 Td (word) Tj ET\n"),
    _pdf("huge words", b"BT /F 100000 Tf 60 600 Td (word) Tj ET\n"),
    _pdf("odd numbers", b"BT /F 1e400 Tf NaN --5 Td (word) Tj ET\n"),
    _pdf("turned words", b"BT /F 12 Tf 0.7 0.7 -0.7 0.7 60 600 Tm (word) Tj ET\n"),
    _pdf("mirrored words", b"BT /F 12 Tf -1 0 0 1 300 600 Tm (word) Tj ET\n"),
    _pdf("flat words", b"BT /F 12 Tf 1 0 0 0 60 600 Tm (word) Tj ET\n"),
    _pdf("lines of words", b"BT /F 5 Tf 60 600 Td 0 -1 Td (a word of it) Tj ET\n", (100, 3_000)),
    _pdf("states", b"q ", (100, 5_000, 50_000)),
    _pdf("states that end", b"Q ", (100, 5_000)),
    _pdf("rules", b"0 100 m 600 100 l S\n", (100, 5_000)),
    _pdf(
        "many rules",
        b"".join(b"%d 0 m %d 800 l S 0 %d m 600 %d l S\n" % (i, i, i, i) for i in range(0, 600, 6)),
        (1, 10, 100),
    ),
    _pdf("boxes", b"50 50 100 100 re S ", (100, 5_000)),
    _pdf("packed boxes", b"50 50 100 100 re S ", (100, 20_000), packed=True),
    _pdf("curves", b"0 0 m 1 2 3 4 5 6 c f ", (100, 5_000)),
    _pdf("clips", b"0 0 600 800 re W n ", (100, 5_000)),
    _pdf("pictures", b"BI /W 1 /H 1 /BPC 8 /CS /G ID \x80 EI ", (10, 500)),
    _pdf("a huge picture", b"BI /W 99999 /H 99999 /BPC 8 /CS /G ID \x80 EI ", (1, 5)),
    _pdf("brackets", b"[", (100, 50_000)),
    _pdf("dictionaries", b"<<", (100, 50_000)),
    _pdf("open texts", b"BT ", (100, 5_000)),
    _pdf("a long text", b"BT /F 1 Tf 60 500 Td (" + b"word " * 100 + b") Tj ET\n", (10, 300)),
    Family(
        "a wide page",
        "pdf",
        lambda n: _page(b"", media=b"0 0 %d %d" % (n, n)),
        (0, 1, 20_000, 10**9),
    ),
    Family("a page upside down", "pdf", lambda n: _page(b"", media=b"%d 800 0 0" % n), (1, 600)),
    Family(
        "a page far away",
        "pdf",
        lambda n: _page(b"", media=b"%d %d %d %d" % (n, n, n + 600, n + 800)),
        (10**6, 2**31),
    ),
    Family(
        "a turned page", "pdf", lambda n: _page(b"", page=b"/Rotate %d" % n), (90, 45, -90, 10**9)
    ),
    Family(
        "large units", "pdf", lambda n: _page(b"", page=b"/UserUnit %d" % n), (0, 75_000, 10**9)
    ),
    Family(
        "nested arrays",
        "pdf",
        lambda n: _page(b"", page=b"/A " + b"[" * n + b"]" * n),
        (100, 50_000),
    ),
    Family(
        "a font of nothing",
        "pdf",
        lambda n: _page(b"", font=b"<< /Type /Font /Subtype /Type%d >>" % n),
        (0, 1, 3),
    ),
    Family(
        "a font of itself",
        "pdf",
        lambda n: _page(
            b"", font=b"<< /Type /Font /Subtype /Type0 /DescendantFonts [%b] >>" % (b"5 0 R " * n)
        ),
        (1, 100),
    ),
    Family(
        "a script",
        "pdf",
        lambda n: _page(
            b"", catalog=b"/OpenAction << /S /JavaScript /JS (%b) >>" % (b"app.alert(1);" * n)
        ),
        (1, 1_000),
    ),
    Family("cut off", "pdf", lambda n: _page(b"")[:-n], (10, 100, 300)),
    Family("before the head", "pdf", lambda n: b"x" * n + _page(b""), (10, 1_000, 1_100)),
    Family("after the end", "pdf", lambda n: _page(b"") + b"x" * n, (10, 100_000)),
    Family(
        "a wrong table",
        "pdf",
        lambda n: _page(b"").replace(b"startxref\n", b"startxref\n%d" % n),
        (0, 9, 10**15),
    ),
)
