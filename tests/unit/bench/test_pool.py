from abstrag.indexing.operator import IndexDraft
from abstrag.indexing.segment import SegmentLayout
from abstrag.model.document import BlockKind, Genre
from abstrag.model.segment import Granularity
from abstrag_bench.abstrag_system import to_document
from abstrag_bench.baselines.system import Element, ElementKind, Pool

POOL = Pool(
    "p",
    "A page",
    (
        Element("a", "First sentence. And a second one.", ElementKind.SENTENCE, ("Intro",)),
        Element("b", "A paragraph\nin two lines.", section=("Methods", "Data")),
        Element("c", "An item", ElementKind.LIST_ITEM, ("Methods", "Data")),
        Element("cap", "Owners by year", ElementKind.CAPTION, ("Methods",)),
        Element(
            "r",
            "Sales | 10 | 9",
            ElementKind.TABLE_ROW,
            ("Methods",),
            ("2019", "2018"),
            "Owners by year",
        ),
        Element("x", "1910", ElementKind.TABLE_CELL, ("Methods",), ("To", "Ada"), "Owners by year"),
        Element("h", "2019 | 2018", ElementKind.TABLE_ROW, ("Methods",)),
    ),
    Genre.PAGE_LOCAL,
)


def segments(pool: Pool, granularity: Granularity):  # type: ignore[no-untyped-def]
    pooled = to_document(pool)
    draft = SegmentLayout(granularity)(IndexDraft(pooled.document))
    assert draft.segmented is not None
    return pooled, draft.segmented.segments


def test_every_element_is_one_segment_that_quotes_it() -> None:
    pooled, made = segments(POOL, Granularity.PARAGRAPH)
    assert [pooled.elements[s.block] for s in made] == list(POOL.ids)
    for segment, element in zip(made, POOL.elements, strict=True):
        assert segment.text == element.text.replace("\n", " ")
        assert pooled.document.quote(segment.span) == segment.text
        assert segment.section == element.section
        assert tuple(h.text for h in segment.headers) == element.headers
        assert all(pooled.document.quote(h.span) == h.text for h in segment.headers)


def test_at_element_granularity_a_cell_is_a_cell_and_every_segment_has_its_element() -> None:
    pooled, made = segments(POOL, Granularity.ELEMENT)
    kinds = {pooled.elements[s.block]: s.kind.value for s in made}
    assert kinds["x"] == "table_cell"
    assert [pooled.elements[s.block] for s in made][:3] == ["a", "a", "b"]
    assert set(kinds) == set(POOL.ids)


def test_headings_headers_and_captions_are_written_once() -> None:
    document = to_document(POOL).document
    assert document.text.count("Methods") == 1
    assert document.text.count("Owners by year") == 1
    headings = [b.text for b in document.blocks if b.kind is BlockKind.HEADING]
    assert headings == ["A page", "Intro", "Methods", "Data"]
    table = document.blocks[-3].table
    assert table is not None
    assert table.caption is not None
    assert document.quote(table.caption.span) == "Owners by year"


def test_two_elements_of_one_name_are_refused() -> None:
    import pytest

    from abstrag.errors import InputError

    with pytest.raises(InputError, match="two elements called 'a'"):
        Pool("p", "x", (Element("a", "1"), Element("a", "2")))
