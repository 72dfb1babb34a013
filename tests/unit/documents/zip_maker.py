"""Small zip files of XML parts for tests: workbooks, presentations, books."""

import io
import struct
import zipfile
from collections.abc import Mapping

RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>'


def packed(parts: Mapping[str, str | bytes]) -> bytes:
    """Zip parts by their paths."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for path, content in parts.items():
            made.writestr(path, content)
    return stream.getvalue()


def relations(**targets: tuple[str, str]) -> str:
    """Write a part that says by id what another part points at: its kind and path."""
    made = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONS}/{kind}" Target="{path}"/>'
        for name, (kind, path) in targets.items()
    )
    return f"{_HEAD}<Relationships>{made}</Relationships>"


def locked(data: bytes) -> bytes:
    """Set the bit that says a password is needed, in every entry of a zip file's list."""
    made = bytearray(data)
    at = made.find(b"PK\x01\x02")
    while at >= 0:
        (flags,) = struct.unpack_from("<H", made, at + 8)
        struct.pack_into("<H", made, at + 8, flags | 1)
        at = made.find(b"PK\x01\x02", at + 4)
    return bytes(made)


def workbook(
    sheets: Mapping[str, str],
    *,
    strings: str = "",
    styles: str = "",
    states: Mapping[str, str] | None = None,
    properties: str = "",
    more: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """Make a workbook of sheets, each the XML inside its `sheetData` (and what follows that)."""
    states = states or {}
    entries = "".join(
        f'<sheet name="{name}" sheetId="{i}" r:id="r{i}" state="{states.get(name, "visible")}"/>'
        for i, name in enumerate(sheets, 1)
    )
    targets = {f"r{i}": ("worksheet", f"worksheets/s{i}.xml") for i in range(1, len(sheets) + 1)}
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "xl/workbook.xml": f'{_HEAD}<workbook xmlns:r="{RELATIONS}">{properties}'
        f"<sheets>{entries}</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            **targets,
            strings=("sharedStrings", "sharedStrings.xml"),
            styles=("styles", "/xl/styles.xml"),
            macros=("vbaProject", "vbaProject.bin"),
        ),
        "xl/sharedStrings.xml": f"{_HEAD}<sst>{strings}</sst>",
        "xl/styles.xml": f"{_HEAD}<styleSheet>{styles}</styleSheet>",
    }
    for i, content in enumerate(sheets.values(), 1):
        inside = content if "<sheetData" in content else f"<sheetData>{content}</sheetData>"
        parts[f"xl/worksheets/s{i}.xml"] = f"{_HEAD}<worksheet>{inside}</worksheet>"
    return packed({**parts, **(more or {})})


def sheet_rows(rows: Mapping[int, Mapping[str, str | float]]) -> str:
    """Write rows of cells by row number and column letter: texts and numbers."""

    def cell(at: str, held: str | float) -> str:
        if isinstance(held, str):
            return f'<c r="{at}" t="inlineStr"><is><t>{held}</t></is></c>'
        return f'<c r="{at}"><v>{held}</v></c>'

    return "".join(
        f'<row r="{n}">{"".join(cell(f"{letter}{n}", held) for letter, held in row.items())}</row>'
        for n, row in rows.items()
    )


def presentation(*slides: str, notes: Mapping[int, str] | None = None) -> bytes:
    """Make a presentation of slides and notes, each the XML of its shapes, in reverse files."""
    notes = notes or {}
    count = len(slides)
    entries = "".join(f'<sldId id="{255 + i}" r:id="r{i}"/>' for i in range(1, count + 1))
    targets = {f"r{i}": ("slide", f"slides/slide{count - i}.xml") for i in range(1, count + 1)}
    parts: dict[str, str | bytes] = {
        "[Content_Types].xml": "<Types/>",
        "ppt/presentation.xml": f'{_HEAD}<presentation xmlns:r="{RELATIONS}"><sldIdLst>{entries}'
        "</sldIdLst></presentation>",
        "ppt/_rels/presentation.xml.rels": relations(**targets),
    }
    for i, shapes in enumerate(slides, 1):
        file = f"slide{count - i}.xml"
        show = ' show="0"' if shapes.startswith("hidden") else ""
        parts[f"ppt/slides/{file}"] = _slide("sld", shapes.removeprefix("hidden"), show)
        if i in notes:
            parts[f"ppt/slides/_rels/{file}.rels"] = relations(
                n=("notesSlide", f"../notesSlides/n{i}.xml")
            )
            parts[f"ppt/notesSlides/n{i}.xml"] = _slide("notes", notes[i])
    return packed(parts)


def _slide(name: str, shapes: str, more: str = "") -> str:
    return f"{_HEAD}<{name}{more}><cSld><spTree><grpSpPr/>{shapes}</spTree></cSld></{name}>"


def shape(*paragraphs: str, kind: str | None = None) -> str:
    """Write a shape with text; `kind` makes it a placeholder."""
    holder = "" if kind is None else f'<ph type="{kind}"/>'
    texts = "".join(p if p.startswith("<p>") else f"<p><r><t>{p}</t></r></p>" for p in paragraphs)
    return f"<sp><nvSpPr><nvPr>{holder}</nvPr></nvSpPr><txBody>{texts}</txBody></sp>"


def book(
    chapters: Mapping[str, str],
    *,
    contents: str = "",
    more: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """Make a book of chapters, each a whole page by its file name; the list is in reverse."""
    items = "".join(
        f'<item id="{i}" href="text/{name}" media-type="application/xhtml+xml"/>'
        for i, name in reversed(list(enumerate(chapters)))
    )
    spine = "".join(f'<itemref idref="{i}"/>' for i in range(len(chapters)))
    parts: dict[str, str | bytes] = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": f"{_HEAD}<container><rootfiles>"
        '<rootfile full-path="OEBPS/b.opf"/></rootfiles></container>',
        "OEBPS/b.opf": f"{_HEAD}<package><metadata><title>The Mill</title><date>1931-04-02</date>"
        f'</metadata><manifest><item id="nav" href="nav.xhtml" properties="nav"'
        f' media-type="application/xhtml+xml"/>{items}</manifest>'
        f'<spine><itemref idref="nav"/>{spine}</spine></package>',
        "OEBPS/nav.xhtml": f"{_HEAD}<html><body><nav>{contents}</nav></body></html>",
        **{f"OEBPS/text/{name}": page for name, page in chapters.items()},
        **(more or {}),
    }
    return packed({path: content for path, content in parts.items() if content})
