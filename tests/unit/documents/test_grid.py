from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents.visible import (
    GridCell,
    as_header,
    is_name,
    is_value,
    label_rows,
    place,
    table_block,
)
from abstrag.model.document import OffsetMap, Span


def cell(text: str, **reach: int) -> GridCell:
    return GridCell(text, Span(0, len(text)), OffsetMap(((0, 0),)), **reach)  # type: ignore[arg-type]


def test_cells_go_around_what_reaches_down_from_above() -> None:
    cells = place([[cell("a", row_span=2), cell("b")], [cell("c"), cell("d")]])
    assert [(c.text, c.row, c.column) for c in cells] == [
        ("a", 0, 0),
        ("b", 0, 1),
        ("c", 1, 1),
        ("d", 1, 2),
    ]


def test_a_cell_never_reaches_below_the_last_row() -> None:
    (only,) = place([[cell("a", row_span=9, column_span=2)]])
    assert (only.row_span, only.column_span) == (1, 2)


def test_numbers_and_amounts_are_values_and_years_can_be_names() -> None:
    assert all(is_value(text) for text in ("41.8", "$1,200", "-3%", "10^20", "65M", "2024"))
    assert not any(is_value(text) for text in ("Model", "BM25 baseline", "(A)", ""))
    assert is_name("2024")
    assert is_name("Q1 2024")
    assert not is_name("12.5")


def test_a_column_of_names_beside_values_heads_its_rows() -> None:
    rows = [
        as_header([cell("Model"), cell("BLEU")]),
        [cell("base"), cell("27.3")],
        [cell("big"), cell("28.4")],
    ]
    labelled = label_rows(place(rows))
    assert [c.text for c in labelled if c.header] == ["Model", "BLEU", "base", "big"]


def test_a_column_of_names_beside_names_heads_nothing() -> None:
    rows = [
        as_header([cell("Who"), cell("Where")]),
        [cell("Ann"), cell("Bern")],
        [cell("Bob"), cell("Rome")],
    ]
    assert [c.text for c in label_rows(place(rows)) if c.header] == ["Who", "Where"]


def test_an_empty_corner_makes_the_first_column_headers() -> None:
    rows = [
        as_header([cell(""), cell("Food")]),
        [cell("Ducks"), cell("grass")],
        [cell("Geese"), cell("corn")],
    ]
    assert [c.text for c in label_rows(place(rows)) if c.header and c.row] == ["Ducks", "Geese"]


def test_a_table_without_any_text_is_no_table() -> None:
    assert table_block([[cell(""), cell("")]], Span(0, 0)) is None


@given(st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=4), max_size=5))
def test_no_two_cells_share_a_place(shapes: list[list[tuple[int, int]]]) -> None:
    rows = [[cell("x", row_span=down, column_span=right) for down, right in row] for row in shapes]
    taken = [
        (row, column)
        for c in place(rows)
        for row in range(c.row, c.row + c.row_span)
        for column in range(c.column, c.column + c.column_span)
    ]
    assert len(taken) == len(set(taken))
