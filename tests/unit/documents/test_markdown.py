import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents.markdown import load_markdown
from abstrag.errors import AbstragError
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.soundness import check_document, decoded, rows, table, texts, tree


def read(text: str) -> Document:
    return check_document(load_markdown(text.encode(), "note.md"))


def test_headings_of_both_kinds_make_section_paths() -> None:
    document = read("# One ##\n\na\n\nTwo\n---\n\nb\n\n# Three\n\nc\n")
    assert tree(document) == [(1, "One"), (2, "Two"), (1, "Three")]
    assert [b.section for b in document.blocks if b.kind is BlockKind.PARAGRAPH] == [
        ("One",),
        ("One", "Two"),
        ("Three",),
    ]
    assert document.title == "One"


@pytest.mark.parametrize(
    ("source", "reading"),
    [
        ("a **b** _c_ ~~d~~ e", "a b c d e"),
        ('go [here](http://x.org "a here b") here', "go here here"),
        ("go [here][1] now\n\n[1]: http://x.org", "go here now"),
        ("go to <http://x.org/a> now", "go to http://x.org/a now"),
        ("a `co  de` and ``b`c`` end", "a co de and b`c end"),
        ("a \\* b &amp; c &copy; d", "a * b & c © d"),
        ("one  \ntwo\\\nthree\n   four", "one two three four"),
        ("pic ![alt text](x.png) in text", "pic in text"),
        ("x <b>bold</b> <!-- no --> y", "x bold y"),
        ("a note[^1] here", "a note[1] here"),
        ("snake_case and 2*3*4 and a ** b", "snake_case and 234 and a ** b"),
        ("nested **a [b *c*](d) e** f", "nested a b c e f"),
    ],
)
def test_inline_marks_are_dropped_and_words_point_at_the_source(source: str, reading: str) -> None:
    document = read(source)
    block = document.blocks[0]
    assert block.text == reading
    for word in reading.split():
        at = block.text.index(word)
        quoted = document.quote(block.alignment.locate(at, at + len(word)))
        assert quoted[0] == word[0] or word[0] in "&©"


def test_only_entities_differ_from_the_source() -> None:
    document = read("a **b** &copy; c \\[ `d`\n")
    assert decoded(document, document.blocks[0]) == ["©"]


def test_lists_nest_and_quotes_are_read_through() -> None:
    document = read(
        "1. one\n\n   still one\n   - deep\n     * deeper\n2. two\n\n> said *so*\nlazily\n"
    )
    items = [(b.text, b.level) for b in document.blocks if b.kind is BlockKind.LIST_ITEM]
    assert items == [("one", 1), ("still one", 1), ("deep", 2), ("deeper", 3), ("two", 1)]
    assert texts(document, BlockKind.PARAGRAPH) == ["said so lazily"]


def test_code_is_kept_line_by_line() -> None:
    document = read("- item\n\n  ```python\n  def f():\n      return 1\n  ```\n\n      indented\n")
    assert texts(document, BlockKind.CODE)[0] == "def f():\n    return 1"
    code = next(b for b in document.blocks if b.kind is BlockKind.CODE)
    at = code.text.index("return")
    assert document.quote(code.alignment.locate(at, at + 8)) == "return 1"


def test_a_table_has_header_cells_and_the_caption_beside_it() -> None:
    document = read(
        "**Table 1.** Scores of models\n\n"
        "| Model | BLEU \\| dev |\n|---|---:|\n| base | **27.3** |\n| big | `28.4` |\n"
    )
    assert rows(document) == [["#Model", "#BLEU | dev"], ["#base", "27.3"], ["#big", "28.4"]]
    found = table(document)
    assert found.caption is not None
    assert found.caption.text == "Table 1. Scores of models"
    assert texts(document, BlockKind.CAPTION) == ["Table 1. Scores of models"]
    value = next(cell for cell in found.cells if cell.text == "27.3")
    assert document.quote(value.span) == "27.3"
    assert [header.text for header in found.headers(value)] == ["BLEU | dev", "base"]


def test_tables_in_quotes_and_with_missing_cells_are_found() -> None:
    document = read("> | a | b |\n> |---|---|\n> | 1 |\n> x | `y\\|z`\n")
    assert rows(document) == [["#a", "#b"], ["1", ""], ["x", "y|z"]]
    for cell in table(document).cells:
        assert document.quote(cell.span).replace("\\", "") == cell.text


def test_footnotes_are_read_where_they_stand_even_if_they_look_like_links() -> None:
    document = read("Text[^1] and[^b].\n\n[^1]: word\n[^b]: A longer note\n    going on.\n")
    assert texts(document, BlockKind.FOOTNOTE) == ["word", "A longer note going on."]


def test_a_lone_image_is_a_figure_with_its_caption() -> None:
    document = read("Before.\n\n![Figure 1: A *duck*](duck.png)\n\nAfter.")
    assert [b.kind.value for b in document.blocks] == ["paragraph", "caption", "paragraph"]


@pytest.mark.parametrize(
    "front",
    [
        "---\ntitle: 'On Ducks'\ndate: 2024-05-15\ntags:\n  - a\n---\n",
        '+++\ntitle = "On Ducks"\ndate = 2024-05-15T10:00:00Z\n+++\n',
    ],
)
def test_front_matter_gives_title_and_date_and_is_no_text(front: str) -> None:
    document = read(front + "# Other\n\nText.\n")
    assert document.title == "On Ducks"
    assert document.metadata.date == "2024-05-15"
    assert document.metadata.date_span is not None
    assert document.quote(document.metadata.date_span).startswith("2024-05-15")
    assert document.blocks[0].text == "Other"


def test_html_blocks_show_their_text() -> None:
    document = read(
        "<div>\n<p>One <b>two</b></p><p>three &amp; four</p>\n<script>no()</script>\n</div>\n"
    )
    assert texts(document, BlockKind.PARAGRAPH) == ["One two three & four"]


def test_line_breaks_of_every_kind_give_the_same_reading() -> None:
    source = "# A\n\nb *c*\nd\n\n- e\n- f\n\n| g | h |\n|---|---|\n| 1 | 2 |\n"
    plain = [(b.kind, b.text, b.section) for b in read(source).blocks]
    for line_break in ("\r\n", "\r"):
        document = read(source.replace("\n", line_break))
        assert [(b.kind, b.text, b.section) for b in document.blocks] == plain


MARKS = st.sampled_from(
    "a¦b c¦ ¦\n¦\n\n¦*¦**¦_¦`¦[¦](x)¦\\¦# ¦- ¦1. ¦> ¦    ¦\t¦```\n¦<b>¦&lt;¦![i](j)¦[^1]¦[^1]: "
    "¦<a:b>¦\r\n¦é¦~~¦==\n¦  \n¦---\n¦|¦|--|--|\n".split("¦")
)


@given(st.lists(MARKS, max_size=30).map("".join))
def test_any_markdown_is_read_with_exact_spans(source: str) -> None:
    try:
        document = read(source)
    except AbstragError:
        return
    assert document.text == source
    for block in document.blocks:
        assert set(decoded(document, block)) <= {"<"}


def test_odd_white_space_shifts_nothing() -> None:
    document = read("\f\n~~a~~\u00a0b\n\n>\u2028\n> c\n\n|\u00a0|\v1|\n|---|---|\n|\x85x|2|\n")
    assert texts(document, BlockKind.PARAGRAPH) == ["a b", "c"]
    assert rows(document) == [["#", "#1"], ["x", "2"]]
    assert all(document.quote(cell.span) == cell.text for cell in table(document).cells)
