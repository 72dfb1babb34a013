from contextlib import suppress

import pytest

from abstrag.documents.html import load_html
from abstrag.errors import AbstragError, Damaged, EmptyDocument
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.soundness import check_document, decoded, rows, table, texts, tree


def read(body: str, head: str = "") -> Document:
    page = f"<!doctype html><html><head>{head}</head><body>{body}</body></html>"
    document = check_document(load_html(page.encode(), "page.html"))
    for block in document.blocks:
        assert decoded(document, block) == []
    return document


def test_the_text_is_what_a_reader_sees_block_by_block() -> None:
    document = read("<h1>Ducks</h1><p>They <b>swim</b>\n  &amp; fly.<br>Far.</p><p>Yes.</p>")
    assert document.text == "Ducks\n\nThey swim & fly.\nFar.\n\nYes."
    assert document.blocks[1].text == "They swim & fly. Far."


def test_headings_make_section_paths_and_the_title_is_on_none() -> None:
    document = read("<h1>A</h1><h2>B</h2><p>x</p><div role=heading aria-level=3>C</div><p>y</p>")
    assert tree(document) == [(0, "A"), (2, "B"), (3, "C")]
    assert [b.section for b in document.blocks if b.kind is BlockKind.PARAGRAPH] == [
        ("B",),
        ("B", "C"),
    ]


@pytest.mark.parametrize(
    "noise",
    [
        "<script>var x = 1</script>",
        "<style>p {}</style>",
        "<nav><a href=/>Home</a></nav>",
        "<header><a href=/a>A</a><a href=/b>B</a></header>",
        "<footer>All rights reserved</footer>",
        "<aside>Read more</aside>",
        "<div hidden>secret</div>",
        "<p style='display: none'>secret</p>",
        "<span aria-hidden=true>icon</span>",
        "<div class='cookie-banner'>We use cookies</div>",
        "<ul class='breadcrumbs'><li>Home</li></ul>",
        "<div role=navigation>Menu</div>",
        "<button>Buy</button>",
    ],
)
def test_what_surrounds_the_text_is_dropped(noise: str) -> None:
    document = read(f"{noise}<p>A long enough text about ducks that swim.</p>{noise}")
    assert document.text == "A long enough text about ducks that swim."


def test_the_main_part_is_preferred_when_it_holds_most_of_the_text() -> None:
    text = "Ducks swim on ponds and lakes. " * 5
    document = read(f"<div>Menu of the site</div><main><p>{text}</p></main><div>Contact</div>")
    assert document.text == text.strip()
    short = read(f"<main><p>Short.</p></main><p>{text}</p>")
    assert short.text.endswith(text.strip())


def test_a_page_wrapped_in_a_suspicious_class_is_still_read() -> None:
    assert read("<div class=sidebar><p>All there is.</p></div>").text == "All there is."


def test_the_header_of_an_article_keeps_its_heading() -> None:
    document = read("<article><header><h1>Ducks</h1></header><p>They swim.</p></article>")
    assert tree(document) == [(0, "Ducks")]


def test_lists_nest() -> None:
    document = read("<ul><li>a<ul><li>b</li></ul></li><li><p>c</p><p>d</p></li></ul>")
    items = [(b.text, b.level) for b in document.blocks if b.kind is BlockKind.LIST_ITEM]
    assert items == [("a", 1), ("b", 2), ("c", 1), ("d", 1)]


def test_a_term_and_what_it_means_are_one_block() -> None:
    page = read(
        "<dl><dt><b>--fast</b><dd><dt><b>--quick <i>n</i></b><dd>Run <b>without</b> checks."
        "<dt>--slow</dt>\n<dd>\n<p>Check everything.</p><p>Twice.</p></dd>"
        "<dt>--list</dt><dd><ul><li>the files</li></ul></dd></dl><p>The end.</p>"
    )
    assert [(block.kind, block.text) for block in page.blocks] == [
        (BlockKind.LIST_ITEM, "--fast --quick n Run without checks."),
        (BlockKind.LIST_ITEM, "--slow Check everything."),
        (BlockKind.LIST_ITEM, "Twice."),
        (BlockKind.LIST_ITEM, "--list"),
        (BlockKind.LIST_ITEM, "the files"),
        (BlockKind.PARAGRAPH, "The end."),
    ]


def test_code_keeps_its_lines() -> None:
    document = read("<p>See <code>f()</code>:</p><pre><code>def f():\n    pass</code></pre>")
    assert texts(document, BlockKind.CODE) == ["def f():\n    pass"]
    assert document.blocks[0].text == "See f():"


def test_a_table_keeps_headers_spans_and_caption() -> None:
    document = read(
        "<table><caption>Scores <i>by model</i></caption><thead>"
        "<tr><td rowspan=2></td><th colspan=2>BLEU</th></tr><tr><th>de</th><th>fr</th></tr></thead>"
        "<tr><th scope=row>base</th><td>27.3</td><td>38.1</td></tr></table>"
    )
    assert rows(document) == [["#", "#BLEU"], ["#de", "#fr"], ["#base", "27.3", "38.1"]]
    found = table(document)
    assert found.caption is not None
    assert document.quote(found.caption.span) == "Scores by model"
    value = next(cell for cell in found.cells if cell.text == "38.1")
    assert [header.text for header in found.headers(value)] == ["BLEU", "fr", "base"]
    assert all(document.quote(cell.span) == cell.text for cell in found.cells)


def test_an_unmarked_first_row_of_names_over_values_is_a_header() -> None:
    body = "<tr><td>Year</td><td>Sales</td></tr><tr><td>2023</td><td>41.5</td></tr>"
    assert rows(read(f"<table>{body}</table>"))[0] == ["#Year", "#Sales"]


def test_a_layout_table_is_no_table() -> None:
    document = read(
        "<table role=presentation><tr><td><h2>News</h2><p>One.</p></td>"
        "<td><p>Two.</p></td></tr></table>"
    )
    assert [b.kind.value for b in document.blocks] == ["heading", "paragraph", "paragraph"]


def test_a_figure_ties_its_caption_to_its_table() -> None:
    document = read(
        "<figure><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"
        "<figcaption>Numbers</figcaption></figure>"
    )
    caption = table(document).caption
    assert caption is not None
    assert caption.text == "Numbers"


@pytest.mark.parametrize(
    "notes",
    [
        "<aside role=doc-footnote><p>See the register.</p></aside>",
        "<ol class=references><li id=cite_note-1><a href=#r>^</a> See the register.</li></ol>",
        "<section class=footnotes><ol><li>See the register. <a href=#r>↩</a></li></ol></section>",
        "<p id=fn1>See the register.</p>",
    ],
)
def test_footnotes_are_told_from_text(notes: str) -> None:
    document = read(f"<p>Ducks swim.</p>{notes}")
    assert texts(document, BlockKind.FOOTNOTE) == ["See the register."]


def test_superscripts_neither_glue_numbers_nor_vanish() -> None:
    document = read(
        "<p>At 10<sup>20</sup> m<sup>2</sup> the 1<sup>st</sup> duck<sup><a href=#n1>3</a></sup>"
        " swam.<sup>[4]</sup></p>"
    )
    assert document.text == "At 10^20 m^2 the 1st duck swam.[4]"


@pytest.mark.parametrize(
    ("head", "body", "title"),
    [
        ("<title>Ducks - Site</title>", "<h1>Ducks</h1>", "Ducks"),
        ("<title>Ducks</title>", "", "Ducks"),
        ("<meta property=og:title content='On Ducks'><title>x</title>", "", "On Ducks"),
        ("", "<h1>Only heading</h1>", "Only heading"),
    ],
)
def test_the_title_is_the_one_people_use(head: str, body: str, title: str) -> None:
    assert read(body + "<p>Text.</p>", head).title == title


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("<meta property='article:published_time' content='2024-05-15T10:00:00Z'>", ""),
        ("<meta name=date content='May 15, 2024'>", ""),
        (
            '<script type="application/ld+json">'
            '{"@graph": [{"datePublished": "2024-05-15"}]}</script>',
            "",
        ),
        ("", "<time datetime=2024-05-15>Wednesday</time>"),
        ("", "<p>Published: May 15, 2024</p>"),
        ("<script type='application/ld+json'>{broken</script>", "<time>15 May 2024</time>"),
    ],
)
def test_the_date_is_found_wherever_the_page_states_it(head: str, body: str) -> None:
    assert read(f"{body}<p>Text.</p>", head).metadata.date == "2024-05-15"


def test_a_page_rewritten_years_later_speaks_from_its_last_revision() -> None:
    data = '{"datePublished": "2002-02-25", "dateModified": "2024-09-21"}'
    head = f'<script type="application/ld+json">{data}</script>'
    assert read("<p>Text.</p>", head).metadata.date == "2024-09-21"


def test_the_declared_charset_is_respected() -> None:
    page = "<html><head><meta charset=iso-8859-2></head><body><p>Łódź</p></body></html>"
    assert load_html(page.encode("iso-8859-2"), "x.html").text == "Łódź"


def test_a_charset_that_is_none_of_the_web_is_ignored() -> None:
    page = "<html><head><meta charset=unicode_escape></head><body><p>a\\n é</p></body></html>"
    assert load_html(page.encode(), "x.html").text == "a\\n é"


def test_a_page_without_text_is_empty() -> None:
    with pytest.raises(EmptyDocument, match=r"'page\.html'"):
        read("<nav>Menu</nav>")


def test_nesting_beyond_reason_is_refused_rather_than_cut_off() -> None:
    with pytest.raises(Damaged, match="deeply"):
        read("<div>" * 5000 + "x")


def test_deep_nesting_is_read() -> None:
    assert read("<div>" * 900 + "x").text == "x"


def test_tags_in_any_disorder_are_read() -> None:
    for body in ("</p><td>x", "<table><tr><td>a<table><li>b", "<li>x</ul><th>", "<h1>x<p>y</h1>z"):
        with suppress(AbstragError):
            read(body)
