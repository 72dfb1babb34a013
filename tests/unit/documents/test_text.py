import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.documents.text import load_text
from abstrag.errors import EmptyDocument
from abstrag.model.document import BlockKind, Document
from tests.unit.documents.soundness import check_document, decoded, texts, tree


def read(text: str) -> Document:
    return check_document(load_text(text.encode(), "note.txt"))


def test_hard_wrapped_lines_are_joined_and_blank_lines_part_paragraphs() -> None:
    document = read("One line\r\nand its rest.\r\n\r\nAnother paragraph.\r\n")
    assert texts(document, BlockKind.PARAGRAPH) == ["One line and its rest.", "Another paragraph."]
    assert document.quote(document.blocks[0].span) == "One line\r\nand its rest."


def test_a_word_broken_at_a_line_end_is_healed_and_still_quoted_exactly() -> None:
    document = read(
        "They visited the fabri-\ncation division of a well-\nknown firm, well-known here."
    )
    (block,) = document.blocks
    assert block.text == (
        "They visited the fabrication division of a well-known firm, well-known here."
    )
    at = block.text.index("fabrication")
    assert document.quote(block.alignment.locate(at, at + 11)) == "fabri-\ncation"


def test_header_lines_give_title_and_date() -> None:
    document = read(
        "Chip talks continue\nDate: 2024-05-15\nBy Jane Roe\n\n"
        "The CTO visited the fab this Tuesday."
    )
    assert document.title == "Chip talks continue"
    assert document.metadata.date == "2024-05-15"
    assert document.metadata.date_span is not None
    assert document.quote(document.metadata.date_span) == "2024-05-15"
    assert [b.text for b in document.blocks][1:] == [
        "Date: 2024-05-15",
        "By Jane Roe",
        "The CTO visited the fab this Tuesday.",
    ]


@pytest.mark.parametrize(
    "line",
    [
        "Date: 2024-05-15",
        "Published: May 15, 2024",
        "Posted on 15 May 2024",
        "Wednesday, May 15, 2024",
    ],
)
def test_a_date_line_needs_no_blank_line_behind_it(line: str) -> None:
    document = read(f"{line}\nThe CTO visited the fab.")
    assert document.metadata.date == "2024-05-15"
    assert [block.text for block in document.blocks] == [line, "The CTO visited the fab."]


def test_an_email_is_titled_by_its_subject() -> None:
    document = read(
        "From: a@example.org\nTo: b@example.org\nSubject: Lunch on Friday\n"
        "Date: Wed, 15 May 2024 10:00:00 +0000\n\nShall we meet?"
    )
    assert (document.title, document.metadata.date) == ("Lunch on Friday", "2024-05-15")


def test_a_date_inside_a_sentence_dates_nothing() -> None:
    document = read(
        "Published on 15 May 2024 by a court in Bern, the ruling that everybody had waited for says"
        " nothing new about the matter."
    )
    assert document.metadata.date is None


def test_numbered_capital_and_underlined_lines_are_headings() -> None:
    document = read(
        "A Study of Ducks\n\nABSTRACT\nWe looked at ducks.\n\n1. Introduction\n\nDucks swim.\n\n"
        "1.1 Earlier work\n\nMany looked before.\n\nFindings\n========\nDucks float.\n\n"
        "Details\n-------\n\nThey do.\n"
    )
    assert tree(document) == [
        (0, "A Study of Ducks"),
        (1, "ABSTRACT"),
        (1, "1. Introduction"),
        (2, "1.1 Earlier work"),
        (1, "Findings"),
        (2, "Details"),
    ]
    assert document.blocks[-1].section == ("Findings", "Details")
    assert document.title == "A Study of Ducks"


def test_a_numbered_list_is_no_row_of_headings() -> None:
    document = read("Do this first of all.\n\n1. Buy milk\n\n2. Drink milk\n\n3. Buy more\n")
    assert texts(document, BlockKind.LIST_ITEM) == ["Buy milk", "Drink milk", "Buy more"]
    assert tree(document) == []


def test_prose_is_never_taken_for_a_heading() -> None:
    document = read("This is a sentence.\n\nNASA flew.\n\nIBM\n\n12 Monkeys is a film.\n\nThe end.")
    assert tree(document) == []


def test_list_items_carry_their_depth_and_lose_their_marks() -> None:
    document = read("We need:\n- eggs\n  and more eggs\n- flour\n    - white\n* salt\n")
    items = [b for b in document.blocks if b.kind is BlockKind.LIST_ITEM]
    assert [(b.text, b.level) for b in items] == [
        ("eggs and more eggs", 1),
        ("flour", 1),
        ("white", 2),
        ("salt", 1),
    ]
    assert document.quote(items[0].span) == "- eggs\n  and more eggs"


def test_a_number_at_a_line_start_inside_prose_begins_no_item() -> None:
    document = read(
        "The session took place on March\n12. It was long and nobody\nleft before noon."
    )
    assert texts(document, BlockKind.LIST_ITEM) == []


def test_columns_keep_their_layout() -> None:
    table = "Name      Age\nAnn        41\nBob        38"
    document = read(f"The staff is listed below.\n\n{table}\n")
    assert texts(document, BlockKind.CODE) == [table]


def test_footnotes_and_captions_are_told_apart() -> None:
    document = read("Ducks swim [1].\n\nTable 2: Ducks by pond\n\n[1] See the pond\nregister.\n")
    assert texts(document, BlockKind.FOOTNOTE) == ["See the pond register."]
    assert texts(document, BlockKind.CAPTION) == ["Table 2: Ducks by pond"]


def test_long_lines_are_paragraphs_of_their_own() -> None:
    one, two = "Ducks swim far. " * 12, "Geese fly far. " * 12
    document = read(f"{one}\n{two}\n")
    assert texts(document, BlockKind.PARAGRAPH) == [one.strip(), two.strip()]


WORDS = st.text("ab-.,:1A \n\r\t*•[]()=é\u00ad", max_size=120)


@given(WORDS)
def test_every_character_of_any_text_is_quoted_exactly(text: str) -> None:
    try:
        document = read(text)
    except EmptyDocument:
        return
    assert document.text == text
    for block in document.blocks:
        assert decoded(document, block) == []


TRIAL = """A trial of lapatinib

Participants received the drug or a placebo once a day for twelve weeks, then had
surgery, and were seen again a year later by people who did not know which.

Inclusion Criteria:
  Female aged 18 years or older
  Histologically confirmed invasive breast carcinoma with HER2 overexpression
Exclusion Criteria:
  Pregnant or lactating women
  Known heart failure

A paragraph behind the list.
"""


def test_lines_that_end_early_are_not_wrapped_and_labels_head_them() -> None:
    document = read(TRIAL)
    assert [(b.section, b.text) for b in document.blocks[2:]] == [
        ((), "Inclusion Criteria"),
        (("Inclusion Criteria",), "Female aged 18 years or older"),
        (
            ("Inclusion Criteria",),
            "Histologically confirmed invasive breast carcinoma with HER2 overexpression",
        ),
        ((), "Exclusion Criteria"),
        (("Exclusion Criteria",), "Pregnant or lactating women"),
        (("Exclusion Criteria",), "Known heart failure"),
        ((), "A paragraph behind the list."),
    ]
    assert texts(document, BlockKind.HEADING)[1:] == ["Inclusion Criteria", "Exclusion Criteria"]


def test_a_wrapped_paragraph_with_one_short_line_stays_whole() -> None:
    document = read(
        "The committee met on Monday, heard the report of the auditors, and thanked them\n"
        "for it.\n"
        "Nobody else had asked to speak, so the chair closed the meeting a little after\n"
        "ten and everybody went home.\n"
    )
    assert len(texts(document, BlockKind.PARAGRAPH)) == 1
