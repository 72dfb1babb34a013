"""Web pages made to cost more than they weigh."""

from pathlib import Path

import pytest

from abstrag.config import MAX_NESTING
from abstrag.documents import html, visible
from abstrag.documents.html import load_html
from abstrag.documents.load import load_bytes
from abstrag.errors import Damaged, FileTooLarge
from tests.unit.documents.limited import calls, read_limited


def page(body: str) -> bytes:
    return f"<html><body>{body}</body></html>".encode()


@pytest.mark.parametrize(
    "opening",
    [
        "<div class=toc>",
        "<figure>",
        "<table><tr><td>a<tr><td>b<td>",
        "<sup>x<span>",
        "<article><header><h1>a</h1>",
    ],
)
def test_the_work_for_nested_elements_grows_with_the_text_in_them(opening: str) -> None:
    def work(depth: int) -> int:
        data = page(opening * depth + "<p>one <a>link</a> and words of the text</p>" * 1000)
        return calls(lambda: load_html(data, "made.html"))

    work(1)
    assert work(160) < 2.5 * work(5)  # each looks at a few words, none at all of them


def test_contents_in_contents_are_read_within_the_limits(tmp_path: Path) -> None:
    file = tmp_path / "contents.html"
    file.write_bytes(page("<div class=toc>a " * 1500 + "<p>word</p>" * 20_000))
    assert read_limited(file).texts[-1] == "word"


def test_a_page_of_too_many_elements_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(html, "MAX_ELEMENTS", 100)
    with pytest.raises(FileTooLarge, match=r"'made\.html' .* MAX_ELEMENTS") as caught:
        load_bytes(page("<p>a</p>" * 101), name="made.html")
    assert caught.value.hint
    load_bytes(page("<p>a</p>" * 90), name="made.html")


def table(rows: int, columns: int, **reach: int) -> bytes:
    spans = "".join(f" {name}={value}" for name, value in reach.items())
    row = "<tr>" + f"<td{spans}>1" * columns
    return page("<table><tr><th>a<th>b" + row * rows + "</table>")


def test_a_table_of_too_many_cells_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visible, "MAX_TABLE_CELLS", 500)
    load_bytes(table(20, 20), name="made.html")
    with pytest.raises(FileTooLarge, match=r"'made\.html' .* MAX_TABLE_CELLS"):
        load_bytes(table(30, 20), name="made.html")
    with pytest.raises(FileTooLarge, match="MAX_TABLE_CELLS"):  # each reaches down to the end
        load_bytes(table(40, 1, rowspan=9999), name="made.html")


def test_a_table_of_too_many_columns_is_refused() -> None:
    load_bytes(table(2, 160, colspan=100), name="made.html")
    with pytest.raises(FileTooLarge, match=r"'made\.html' .* MAX_TABLE_COLUMNS"):
        load_bytes(table(2, 170, colspan=100), name="made.html")


def test_elements_may_nest_as_deeply_as_the_limit_says() -> None:
    assert load_bytes(page("<div>" * (MAX_NESTING - 10) + "words"), name="made.html").blocks
    with pytest.raises(Damaged, match=r"'made\.html' .* MAX_NESTING"):
        load_bytes(page("<div>" * (MAX_NESTING + 10) + "words"), name="made.html")
