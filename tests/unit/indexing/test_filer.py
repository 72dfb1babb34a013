"""In a filing "the Company", "we" and "our" are the filer, and quotes stay as they are printed."""

from abstrag.documents.load import load_bytes
from abstrag.indexing.pipeline import index
from abstrag.model.index import DocumentIndex, SegmentRecord

COVER = """UNITED STATES SECURITIES AND EXCHANGE COMMISSION

FORM 10-K

For the fiscal year ended May 31, 2021

HARBOR TOYS, INC.

(Exact name of registrant as specified in its charter)

"""
BODY = """Harbor Toys, Inc. makes toys in Denver. Harbor Toys, Inc. was founded in 1990.

We opened two plants. Our sales rose by 4%.

The Company repurchased shares.

"We love what the team did for us this year," said Mary Jones.

References to "we", "our" and "the Company" mean what they say.
"""


def filing(text: str) -> DocumentIndex:
    return index(load_bytes(text.encode(), name="filing.txt"))


def record_with(made: DocumentIndex, words: str) -> SegmentRecord:
    return next(r for r in made.records if words in r.segment.text)


def test_the_canonical_text_names_the_filer_and_the_quote_does_not() -> None:
    made = filing(COVER + BODY)
    opened = record_with(made, "opened two plants")
    assert opened.canonical.startswith("Harbor Toys, Inc. opened two plants.")
    assert "Harbor Toys, Inc.'s sales rose" in opened.canonical
    assert made.document.quote(opened.segment.span).startswith("We opened two plants. Our sales")
    bought = record_with(made, "repurchased shares")
    assert bought.canonical == "Harbor Toys, Inc. repurchased shares."
    assert made.document.quote(bought.segment.span) == "The Company repurchased shares."


def test_whoever_is_quoted_speaks_for_somebody_else() -> None:
    said = record_with(filing(COVER + BODY), "love what the team")
    assert said.canonical.startswith('"We love')
    assert "for us" in said.canonical


def test_words_whose_meaning_is_being_said_stay() -> None:
    assert (
        '"we", "our" and "the Company"' in record_with(filing(COVER + BODY), "References").canonical
    )


def test_the_filer_is_found_where_only_a_pronoun_stands() -> None:
    made = filing(COVER + BODY)
    (position,) = (i for i, r in enumerate(made.records) if "opened two plants" in r.segment.text)
    named = {m.term for m in made.mentions if m.segment == position and m.header is None}
    assert any(term.startswith("entity:harbor toys") for term in named)


def test_without_a_cover_nobody_knows_who_we_are() -> None:
    made = filing(BODY)
    assert record_with(made, "opened two plants").canonical.startswith("We opened")
    assert record_with(made, "repurchased shares").canonical == "The Company repurchased shares."
