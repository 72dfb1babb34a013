"""Clauses of contracts have numbers and headings, and what follows them belongs to them."""

from abstrag.documents.clauses import clauses_of
from abstrag.documents.load import load_bytes
from abstrag.model.document import Document

AGREEMENT = """MUTUAL NON-DISCLOSURE AGREEMENT

This Agreement is made between Acme Inc. and Birch Ltd. (each a party).

Registration/Identity Number:
12-345

1. Definitions. "Confidential Information" means any information that a party shall disclose.

2. Obligations

2.1 Use. The Receiving Party shall use the information for the purpose of this Agreement only.

2.2 Degree of Care. The Receiving Party shall protect it as its own.

It shall do so at its own cost.

(a) Each party shall name a person in charge.

(b) Each party shall keep a list.

3. This Agreement shall be governed by the laws of Norway, and the parties agree hereto.

4. Term and Termination. This Agreement shall end after two years.

SCHEDULE 1 - Fees

1. Payment. The parties shall pay in advance.
"""


def agreement() -> Document:
    return load_bytes(AGREEMENT.encode(), name="nda.txt")


def section(document: Document, begins: str) -> tuple[str, ...]:
    return next(b.section for b in document.blocks if begins in b.text)


def test_a_clause_has_its_number_and_the_heading_that_its_line_begins_with() -> None:
    found = {clause.number: clause.heading for clause in clauses_of(agreement()) if not clause.part}
    assert found == {
        "1": "Definitions",
        "2": "Obligations",
        "2.1": "Use",
        "2.2": "Degree of Care",
        "2.2(a)": "",
        "2.2(b)": "",
        "3": "",
        "4": "Term and Termination",
    }


def test_text_stands_under_its_clause_and_the_clauses_around_it() -> None:
    document = agreement()
    inside = ("2 Obligations", "2.2 Degree of Care")
    assert section(document, "protect it as its own")[-2:] == inside
    assert section(document, "at its own cost")[-2:] == inside
    assert section(document, "keep a list")[-2:] == inside
    assert section(document, "Each party shall name")[-2:] == inside


def test_no_clause_stands_under_a_label_or_the_clause_before_it() -> None:
    document = agreement()
    duties = [block for block in document.blocks if "shall" in block.text]
    assert duties
    for block in duties:
        assert not any("Registration" in name for name in block.section)
    assert not any(name[:1].isdigit() for name in section(document, "laws of Norway"))


def test_a_schedule_counts_its_clauses_anew() -> None:
    document = agreement()
    assert section(document, "pay in advance")[-2:] == ("Schedule 1 Fees", "1 Payment")
    assert [c.number for c in clauses_of(document) if c.part == "schedule 1"] == ["", "1"]


def test_quotes_stay_exact() -> None:
    document = agreement()
    for block in document.blocks:
        assert block.alignment.locate(0, len(block.text)).of(document.text)
    assert document.text == AGREEMENT


def test_a_text_with_numbers_that_is_no_contract_stays_as_it_is() -> None:
    steps = "Bread\n\n" + "".join(f"{n}. Knead. Knead the dough again.\n\n" for n in range(1, 9))
    document = load_bytes(steps.encode(), name="bread.txt")
    assert clauses_of(document) == ()
    assert all(not block.section for block in document.blocks)


def test_numbers_that_cannot_come_next_begin_no_clause() -> None:
    text = AGREEMENT.replace(
        "It shall do so at its own cost.", "12. March shall be the last month."
    )
    found = clauses_of(load_bytes(text.encode(), name="nda.txt"))
    assert "12" not in {clause.number for clause in found}


def test_a_heading_may_name_two_things_or_hold_small_words() -> None:
    text = AGREEMENT.replace("Term and Termination.", "Term; Duties with respect to Information.")
    found = {c.number: c.heading for c in clauses_of(load_bytes(text.encode(), name="nda.txt"))}
    assert found["4"] == "Term; Duties with respect to Information"
