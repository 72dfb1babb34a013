import pytest

from abstrag.documents.load import load_bytes
from abstrag.documents.reading import Hyphens, reading_text
from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.segment import SegmentLayout
from abstrag.model.document import (
    Block,
    BlockKind,
    Cell,
    Document,
    Genre,
    OffsetMap,
    Quote,
    Span,
    Table,
)
from abstrag.model.segment import Granularity, Segment, SegmentKind, SegmentRole


def document(text: str, *blocks: tuple[BlockKind, str, tuple[str, ...]]) -> Document:
    """Return a document whose blocks are pieces of its text, given verbatim."""
    made = []
    for kind, piece, section in blocks:
        at = text.index(piece)
        reading, alignment = reading_text(text, [(at, at + len(piece))], Hyphens(text))
        made.append(Block(kind, reading, Span(at, at + len(piece)), alignment, section))
    return Document("d", "A title", text, tuple(made))


def cut(doc: Document, granularity: Granularity, genre: Genre = Genre.PLAIN) -> tuple[Segment, ...]:
    return SegmentLayout(granularity, genre)(IndexDraft(doc)).segments


PROSE = "The first sen-\ntence is here. See Fig. 3 for the\nsecond one. A third follows!"


def test_sentences_quote_the_source_with_its_hyphens_and_line_breaks() -> None:
    doc = document(PROSE, (BlockKind.PARAGRAPH, PROSE, ()))
    segments = cut(doc, Granularity.SENTENCE)
    assert [s.text for s in segments] == [
        "The first sentence is here.",
        "See Fig. 3 for the second one.",
        "A third follows!",
    ]
    assert [doc.quote(s.span) for s in segments] == [
        "The first sen-\ntence is here.",
        "See Fig. 3 for the\nsecond one.",
        "A third follows!",
    ]


def test_a_paragraph_stays_whole_when_asked() -> None:
    doc = document(PROSE, (BlockKind.PARAGRAPH, PROSE, ()))
    (whole,) = cut(doc, Granularity.PARAGRAPH)
    assert whole.kind is SegmentKind.PARAGRAPH
    assert doc.quote(whole.span) == PROSE


def test_a_heading_is_no_segment_and_gives_the_role() -> None:
    text = "Results\n\nIt works.\n\nReferences\n\nA book."
    doc = document(
        text,
        (BlockKind.HEADING, "Results", ()),
        (BlockKind.PARAGRAPH, "It works.", ("Results",)),
        (BlockKind.PARAGRAPH, "A book.", ("References",)),
    )
    segments = cut(doc, Granularity.SENTENCE, Genre.SCIENTIFIC)
    assert [s.role for s in segments] == [SegmentRole.RESULTS, SegmentRole.REFERENCES]
    assert [s.id for s in segments] == ["s1", "s2"]


def test_the_labels_of_a_structured_abstract_hold_until_the_next() -> None:
    text = "METHODS: We asked people. They answered. RESULTS: It works."
    doc = document(text, (BlockKind.PARAGRAPH, text, ("Abstract",)))
    roles = [s.role for s in cut(doc, Granularity.SENTENCE, Genre.ABSTRACT_ONLY)]
    assert roles == [SegmentRole.METHODS, SegmentRole.METHODS, SegmentRole.RESULTS]


TABLE_TEXT = "Company\tFounded\nTSMC\t1987\nSamsung\t1969\nTable 1: Makers"


def table() -> Document:
    cells = []
    for row, line in enumerate(TABLE_TEXT.split("\n")[:3]):
        for column, word in enumerate(line.split("\t")):
            at = TABLE_TEXT.index(word)
            header = row == 0 or column == 0
            cells.append(Cell(row, column, word, Span(at, at + len(word)), header))
    caption = Quote("Table 1: Makers", Span(TABLE_TEXT.index("Table"), len(TABLE_TEXT)))
    block = Block(
        BlockKind.TABLE,
        TABLE_TEXT,
        Span(0, len(TABLE_TEXT)),
        OffsetMap(((0, 0),)),
        table=Table(tuple(cells), caption),
    )
    return Document("d", "", TABLE_TEXT, (block,))


def test_a_row_carries_the_headers_above_it() -> None:
    doc = table()
    rows = cut(doc, Granularity.SENTENCE)
    assert [r.text for r in rows] == ["TSMC | 1987", "Samsung | 1969"]
    assert [doc.quote(r.span) for r in rows] == ["TSMC\t1987", "Samsung\t1969"]
    assert [h.text for h in rows[0].headers] == ["Company", "Founded"]


def test_a_row_carries_the_title_it_stands_under() -> None:
    page = "| | 2019 |\n|---|---|\n| Loss per share: | |\n| Basic | 0.07 |\n"
    doc = load_bytes(page.encode(), name="d.md")
    (basic,) = cut(doc, Granularity.SENTENCE)
    assert basic.text == "Basic | 0.07"
    assert [(h.text, doc.quote(h.span)) for h in basic.headers] == [
        ("2019", "2019"),
        ("Loss per share:", "Loss per share:"),
    ]
    cells = cut(doc, Granularity.ELEMENT, Genre.PAGE_LOCAL)
    value = next(c for c in cells if c.text == "0.07")
    assert [h.text for h in value.headers] == ["2019", "Loss per share:", "Basic"]


def test_a_cell_carries_its_row_and_column_headers() -> None:
    cells = cut(table(), Granularity.ELEMENT, Genre.PAGE_LOCAL)
    year = next(c for c in cells if c.text == "1969")
    assert (year.kind, year.role) == (SegmentKind.TABLE_CELL, SegmentRole.CELL)
    assert [h.text for h in year.headers] == ["Founded", "Samsung"]


@pytest.mark.parametrize("size", [45_000])
def test_a_block_too_long_to_parse_at_once_loses_nothing(size: int) -> None:
    text = ("The committee met again and said nothing new. " * (size // 46)).strip()
    doc = document(text, (BlockKind.PARAGRAPH, text, ()))
    segments = cut(doc, Granularity.PARAGRAPH)
    assert len(segments) > 1
    assert " ".join(s.text for s in segments) == text
    assert all(doc.quote(s.span) == s.text for s in segments)


CLAUSE = "The receiving party shall keep item {} secret. "


@pytest.mark.parametrize(
    ("clauses", "granularity", "segments"),
    [
        (2, Granularity.SENTENCE, 1),  # short enough to be one thing
        (10, Granularity.SENTENCE, 10),
        (10, Granularity.PARAGRAPH, 1),
    ],
)
def test_a_long_item_of_a_list_is_cut_where_sentences_are(
    clauses: int, granularity: Granularity, segments: int
) -> None:
    text = "".join(CLAUSE.format(i) for i in range(clauses)).strip()
    doc = document(text, (BlockKind.LIST_ITEM, text, ()))
    assert len(cut(doc, granularity, Genre.LEGAL)) == segments


@pytest.mark.parametrize("kind", [BlockKind.PARAGRAPH, BlockKind.LIST_ITEM, BlockKind.CAPTION])
def test_what_is_too_long_to_be_read_at_once_is_cut_into_like_pieces(kind: BlockKind) -> None:
    text = "".join(CLAUSE.format(i) for i in range(100)).strip()
    doc = document(text, (kind, text, ()))
    found = cut(doc, Granularity.PARAGRAPH)
    assert " ".join(s.text for s in found) == text
    assert [doc.quote(s.span) for s in found] == [s.text for s in found]
    sizes = [len(s.text) for s in found]
    assert max(sizes) <= 1_600
    assert min(sizes) > 0.7 * max(sizes)
    assert all(s.text.startswith("The") and s.text.endswith("secret.") for s in found)


def test_code_and_short_paragraphs_stay_whole() -> None:
    text = "".join(CLAUSE.format(i) for i in range(100)).strip()
    assert len(cut(document(text, (BlockKind.CODE, text, ())), Granularity.PARAGRAPH)) == 1
    short = text[:2_300]
    assert len(cut(document(short, (BlockKind.PARAGRAPH, short, ())), Granularity.PARAGRAPH)) == 1


STATEMENTS = b"""# Accounts

## Consolidated Statements of Cash Flows

| | 2018 |
|---|---|
| Purchases of property | 1,577 |

## Other matters

| | 2018 |
|---|---|
| Employees | 12 |
"""


def test_rows_of_a_statement_stand_under_its_title_and_other_rows_do_not() -> None:
    made = SegmentLayout()(IndexDraft(load_bytes(STATEMENTS, name="accounts.md"))).segments
    rows = [[h.text for h in s.headers] for s in made if s.kind is SegmentKind.TABLE_ROW]
    assert rows == [["Consolidated Statements of Cash Flows", "2018"], ["2018"]]
