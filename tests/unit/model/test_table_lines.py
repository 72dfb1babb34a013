"""Lines of a table that name what the rows below them belong to."""

import pytest

from abstrag.model.document import Cell, Grid, Span, Table, lines_over


def over(text: str) -> list[list[str]]:
    """Lay out lines of cells cut by `|`; return the names of the lines over each row."""
    rows = [line.split("|") for line in text.strip().splitlines()]
    return [[rows[line][0].strip() for line in lines] for lines in lines_over(rows)]


def test_rows_stand_under_the_last_title_line() -> None:
    found = over("""
        Shares | 9 | 8
        Loss per share: | |
        Basic | 0.07 | 0.67
        Diluted | 0.07 | 0.66
        Dividends: | |
        Paid | 1 | 2
    """)
    per_share = ["Loss per share:"]
    assert found == [[], [], per_share, per_share, [], ["Dividends:"]]


@pytest.mark.parametrize("last", ["Total assets", "Subtotal", "Assets", ""])
def test_a_sum_or_a_repeated_title_is_the_last_row_under_it(last: str) -> None:
    found = over(f"""
        Assets: | |
        Cash | 1 | 2
        | |
        {last} | 3 | 4
        Net income | 5 | 6
    """)
    assert found == [[], ["Assets:"], ["Assets:"], ["Assets:"], []]


def test_what_comes_first_under_a_title_is_no_sum_of_it() -> None:
    found = over("""
        Denominator | |
        Total debt | 12 | 8
        Equity | 10 | 9
    """)
    assert found == [[], ["Denominator"], ["Denominator"]]


def test_a_name_in_two_lines_is_that_of_one_row() -> None:
    found = over("""
        Shares issued under the dividend | |
        reinvestment plan | 114 | 482
        Paid in cash | 1,267 | 724
    """)
    assert found == [[], ["Shares issued under the dividend"], []]


def test_rows_of_one_name_stand_under_the_row_above() -> None:
    found = over("""
        Wireless | 697 | 664
        % of revenue | 7.6% | 7.5%
        Media | 108 | 114
        % of revenue | 3.4% | 3.7%
        Margin | 1 | 2
    """)
    assert found == [[], ["Wireless"], [], ["Media"], []]


def test_a_name_that_goes_on_in_the_next_row_needs_no_more() -> None:
    assert over("Base | 1\nLarge | 2\nLarge | 3") == [[], [], []]


def test_a_row_called_like_a_title_is_no_namesake() -> None:
    found = over("""
        Costs | 9
        Revenue |
        Sales | 1
        Total | 1
        Revenue | 2
    """)
    assert found[4] == []


def test_one_name_under_two_titles_needs_no_more() -> None:
    found = over("""
        Assets | |
        Deferred | 1 | 2
        Other | 3 | 4
        Liabilities | |
        Credits | 5 | 6
        Other | 7 | 8
    """)
    assert found[2] == ["Assets"]
    assert found[5] == ["Liabilities"]


def test_a_title_comes_before_the_row_that_tells_namesakes_apart() -> None:
    found = over("""
        Service revenue: | |
        Americas | 8 | 7
        Share | 63% | 62%
        EMEA | 2 | 2
        Share | 22% | 21%
    """)
    assert found[2] == ["Service revenue:", "Americas"]
    assert found[4] == ["Service revenue:", "EMEA"]


@pytest.mark.parametrize(
    "line", ["(1) Restated.", "[a] See note 4", "* In thousands", "—", "x" * 91]
)
def test_a_remark_is_no_title(line: str) -> None:
    assert over(f"{line} | |\nCash | 1 | 2") == [[], []]


def test_a_table_of_one_column_has_no_titles() -> None:
    assert lines_over([["Assets"], ["Cash"]]) == ((), ())
    assert lines_over([]) == ()


def cell(row: int, column: int, text: str, *, header: bool = False, wide: int = 1) -> Cell:
    at = 100 * row + 10 * column
    return Cell(row, column, text, Span(at, at + len(text)), header, column_span=wide)


def test_a_title_across_the_body_heads_its_rows_and_no_column() -> None:
    grid = Grid(
        Table(
            (
                cell(0, 0, "", header=True),
                cell(0, 1, "2019", header=True),
                cell(1, 0, "Assets", header=True, wide=2),
                cell(2, 0, "Cash", header=True),
                value := cell(2, 1, "7"),
                cell(3, 0, "Debts", header=True, wide=2),
                cell(4, 0, "Loans", header=True),
                loan := cell(4, 1, "9"),
            )
        )
    )
    assert [quote.text for quote in grid.headers(value)] == ["2019", "Assets", "Cash"]
    assert [quote.text for quote in grid.headers(loan)] == ["2019", "Debts", "Loans"]
    assert [(q.text, q.span) for q in grid.over(4)] == [("Debts", Span(300, 305))]


def test_a_name_that_reaches_down_names_every_row_it_covers() -> None:
    tall = Cell(1, 0, "Cash", Span(0, 4), header=True, row_span=2)
    grid = Grid(
        Table(
            (
                cell(0, 0, "Assets"),
                cell(0, 1, ""),
                tall,
                cell(1, 1, "1"),
                cell(2, 1, "2"),
                cell(3, 0, "Loans"),
                cell(3, 1, "3"),
            )
        )
    )
    assert [[q.text for q in grid.over(row)] for row in (1, 2, 3)] == [
        ["Assets"],
        ["Assets"],
        ["Assets"],
    ]


def test_rows_of_one_cell_stand_under_nothing() -> None:
    grid = Grid(Table(tuple(cell(row, 0, text) for row, text in enumerate(("a", "b", "c")))))
    assert [grid.over(row) for row in range(3)] == [(), (), ()]
