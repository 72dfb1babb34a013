"""Rules see where evidence contradicts a claim, and where it only says it otherwise."""

import pytest

from abstrag.answers.contradictions.find import differences
from abstrag.model.answer import DifferenceKind

K = DifferenceKind


@pytest.mark.parametrize(
    ("claim", "evidence", "kind", "text"),
    [
        (
            "The big models were trained for one week.",
            "The big models were trained for 300,000 steps (3.5 days).",
            K.FIGURE,
            "3.5 days, not one week",
        ),
        (
            "The big models were trained for a week.",
            "The big models were trained for 3.5 days.",
            K.FIGURE,
            "3.5 days, not a week",
        ),
        (
            "The trial enrolled 214 patients.",
            "The trial enrolled 412 patients at nine hospitals.",
            K.FIGURE,
            "412 patients, not 214 patients",
        ),
        (
            "Patients received 50 g of the drug.",
            "Patients received 50 mg of the drug once a day.",
            K.UNIT,
            "50 mg, not 50 g",
        ),
        (
            "The fee for a renewal is $48,000.",
            "The fee for a renewal is €48,000.",
            K.UNIT,
            "€48,000, not $48,000",
        ),
        (
            "The library was renovated in 2008.",
            "The library was renovated in 1998.",
            K.DATE,
            "1998, not 2008",
        ),
        (
            "Revenue grew in Q3.",
            "Revenue grew in the second quarter.",
            K.DATE,
            "the second quarter, not Q3",
        ),
        (
            "Either party may cancel the order.",
            "Neither party shall be entitled to cancel the order.",
            K.NEGATION,
            "“Neither party shall be entitled to cancel the order”, "
            "not “Either party may cancel the order”",
        ),
        (
            "The licence is exclusive.",
            "The licence is non-exclusive and may be revoked.",
            K.NEGATION,
            "“non-exclusive”, not “exclusive”",
        ),
        (
            "Operating expenses increased.",
            "Operating expenses decreased because of freight costs.",
            K.COMPARISON,
            "decreased, not increased",
        ),
        (
            "The Disclosing Party shall return the documents.",
            "The Receiving Party shall return the documents on request.",
            K.PARTY,
            "Receiving Party, not Disclosing Party",
        ),
        (
            "Norwick sued Halden over the patent.",
            "Halden sued Norwick over the patent.",
            K.PARTY,
            "Halden sued Norwick, not Norwick sued Halden",
        ),
    ],
)
def test_a_contradiction_is_seen_and_told_in_plain_words(
    claim: str, evidence: str, kind: DifferenceKind, text: str
) -> None:
    found = differences(claim, [evidence])
    assert [(one.kind, one.text, one.certain) for one in found] == [(kind, text, True)]


@pytest.mark.parametrize(
    ("claim", "evidence"),
    [
        ("Training took seven days.", "Training took one week."),
        ("Training took about 50 hours.", "Training took 52 hours."),
        ("At least 100 people came to the fair.", "260 people came to the fair."),
        ("Fever occurred in 8% of the children.", "Fever occurred in 8.2% of the children."),
        ("The pipe is 1.5 km long.", "The pipe is 1,500 metres long."),
        ("Total liability shall not exceed $2 million.", "Total liability is at most $2,000,000."),
        ("The plant closed in 2022.", "The plant closed in March 2022."),
        ("The Licensee pays the Licensor.", "The Licensor is paid by the Licensee."),
        ("Neither party may cancel the order.", "Neither party shall cancel the order."),
        ("Payment is not due before June.", "Payment shall be due no earlier than June."),
        ("The drug reduced mortality.", "The drug decreased mortality."),
        (
            "Gross profit increased 20.1% in fiscal 2022.",
            "Gross profit increased 20.1% to $4.0 billion compared to $3.4 billion in fiscal 2021.",
        ),
        ("Sales rose by 12% in Europe.", "In Asia, the weather was cold for 30 days."),
    ],
)
def test_what_says_the_same_or_something_else_is_no_difference(claim: str, evidence: str) -> None:
    assert differences(claim, [evidence]) == ()


def test_what_one_passage_says_as_the_claim_does_is_no_difference() -> None:
    claim = "The base model was trained for 12 hours."
    other = "The base model was trained for 3.5 days."
    same = "The base model was trained for 12 hours."
    assert [one.passage for one in differences(claim, ["Nothing.", other])] == [2]
    assert differences(claim, [other, same]) == ()


def test_another_bound_is_a_difference_that_is_not_certain() -> None:
    found = differences(
        "The total liability shall not exceed $20 million.",
        ["The total liability shall not exceed $2 million."],
    )
    assert [(one.kind, one.certain) for one in found] == [(K.FIGURE, False)]


def test_an_exception_makes_a_negation_uncertain() -> None:
    found = differences(
        "The Recipient may disclose the information.",
        ["The Recipient may not disclose the information unless a court orders it."],
    )
    assert [(one.kind, one.certain) for one in found] == [(K.NEGATION, False)]


def test_without_words_nothing_differs() -> None:
    assert differences("", ["A text."]) == ()
    assert differences("A claim.", []) == ()
    assert differences("A claim.", ["", " "]) == ()
