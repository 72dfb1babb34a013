"""A clause that another one refers to is context of the sentence that does."""

from abstrag.documents.load import load_bytes
from abstrag.indexing.lift import CrossReferences
from abstrag.indexing.pipeline import index
from abstrag.model.document import Document
from abstrag.model.index import SegmentRecord

AGREEMENT = """SUPPLY AGREEMENT

1. Delivery. The Supplier shall deliver the goods to the parties subject to Section 4.2 hereof.

2. Payment. The Buyer shall pay under Clauses 1 and 3(b), and under Section 7 of the Sales Act.

3. Warranty. The parties agree that this Section 3 shall survive this Agreement.

(a) The Supplier shall repair the goods.

(b) The Supplier shall bear the freight.

4. Liability. The parties hereto shall be liable as listed in Schedule 1.

4.1 Cap. No party shall owe more than the price.

4.2 Force Majeure. No party shall be liable hereunder for war or flood.

SCHEDULE 1 - Rates

1. Rates. The parties shall pay ten dollars.
"""


def agreement() -> Document:
    return load_bytes(AGREEMENT.encode(), name="supply.txt")


def names(begins: str) -> list[str]:
    document = agreement()
    found = CrossReferences.of(document)
    segments = index(document).segments
    segment = next(s for s in segments if begins in s.text)
    return [reference.name for reference in found.of_segment(segment)]


def record(begins: str) -> SegmentRecord:
    return next(r for r in index(agreement()).records if begins in r.segment.text)


def test_a_reference_leads_to_the_clause_of_that_number() -> None:
    assert names("deliver the goods") == ["4.2 Force Majeure"]
    assert names("liable as listed") == ["Schedule 1 Rates"]


def test_several_numbers_are_several_references_and_letters_are_clauses() -> None:
    said = names("The Buyer shall pay")
    assert said == ["1 Delivery", "3(b) The Supplier shall bear the freight."]


def test_a_section_of_an_act_and_the_clause_itself_are_no_references() -> None:
    assert names("shall survive") == []


def test_the_terms_of_the_clause_referred_to_are_context_of_the_sentence() -> None:
    found = record("deliver the goods").context.scope
    values = [value for value in found if value.name == "reference"]
    assert {value.value for value in values} == {"4.2 Force Majeure"}
    assert any(value.term and "majeure" in value.term for value in values)
    assert all(value.span is not None for value in values)


def test_a_text_without_clauses_has_no_references() -> None:
    document = load_bytes(b"Section 4.2 is dull.\n\nSee Section 1.", name="note.txt")
    found = CrossReferences.of(document)
    assert [list(found.of_segment(s)) for s in index(document).segments] == [[], []]
