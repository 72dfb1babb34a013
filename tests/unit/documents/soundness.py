"""What must hold for every document a loader makes, whatever it was made from."""

from abstrag.model.document import Block, BlockKind, Document, Grid, Span, Table


def check_document(document: Document) -> Document:
    """Assert that blocks, spans and alignments agree with the text, and hand the document on."""
    assert document.id
    assert document.title
    assert any(block.text for block in document.blocks)
    start = 0
    for block in document.blocks:
        assert start <= block.span.start, "blocks stand in reading order"
        start = block.span.start
        _check_block(document, block)
    if document.metadata.date_span is not None:
        assert document.metadata.date is not None
        assert document.metadata.date_span.end <= len(document.text)
    return document


def decoded(document: Document, block: Block) -> list[str]:
    """Return the visible characters of a block that are not what stands in the source."""
    return [
        char
        for i, char in enumerate(block.text)
        if not char.isspace() and document.text[block.alignment.at(i)] != char
    ]


def texts(document: Document, kind: BlockKind) -> list[str]:
    """Return what the blocks of one kind read as."""
    return [block.text for block in document.blocks if block.kind is kind]


def tree(document: Document) -> list[tuple[int | None, str]]:
    """Return the headings with their levels."""
    return [(b.level, b.text) for b in document.blocks if b.kind is BlockKind.HEADING]


def table(document: Document) -> Table:
    """Return the only table of a document."""
    (found,) = [block.table for block in document.blocks if block.table is not None]
    return found


def rows(document: Document) -> list[list[str]]:
    """Return the only table as texts, header cells marked by a number sign."""
    found = table(document)
    grid = Grid(found)
    return [
        [("#" if cell.header else "") + cell.text for cell in grid.rows[i]]
        for i in range(found.rows)
    ]


def _check_block(document: Document, block: Block) -> None:
    assert block.span.end <= len(document.text)
    assert block.text.strip() == block.text or block.kind in (BlockKind.CODE, BlockKind.TABLE)
    assert block.text.strip()
    assert _within(block.alignment.locate(0, len(block.text)), block.span)
    places = [block.alignment.at(i) for i in range(len(block.text))]
    assert places == sorted(places), "an alignment never goes back"
    if block.table is not None:
        for cell in block.table.cells:
            assert _within(cell.span, block.span)
            assert cell.row_span >= 1
            assert cell.column_span >= 1
        taken = [
            (row, column)
            for cell in block.table.cells
            for row in range(cell.row, cell.row + cell.row_span)
            for column in range(cell.column, cell.column + cell.column_span)
        ]
        assert len(taken) == len(set(taken)), "no two cells stand in the same place"


def _within(inner: Span, outer: Span) -> bool:
    return outer.start <= inner.start <= inner.end <= outer.end
