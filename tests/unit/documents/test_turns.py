import pytest

from abstrag.documents.text import load_text, speaker_of, speakers
from abstrag.model.document import BlockKind
from tests.unit.documents.soundness import check_document, texts

MEETING = """Design review

Project Manager: Let us decide on the energy source
and on the casing.
Designer: A battery is cheap. Solar cells
are not, and people keep the thing
under a cushion.
Marketing: Yeah.
Project Manager: Battery then. Everyone agree?
Designer: Yes: fine.
Marketing: Mm-hmm.
"""


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Ann: I agree.", "Ann"),
        ("Project Manager: Right.", "Project Manager"),
        ("[00:01:05] Dr. O'Neil: Right.", "Dr. O'Neil"),
        ("SPEAKER_01 (00:12): Right.", "SPEAKER_01"),
        ("Minister of the Interior: No.", "Minister of the Interior"),
        ("Q:", "Q"),
        ("there are two: one and two", None),
        ("See http://example.org", None),
        ("At 10:30 we met.", None),
        ("The one thing that nobody has ever said in here: no", None),
    ],
)
def test_a_name_and_a_colon_begin_a_turn(text: str, speaker: str | None) -> None:
    assert speaker_of(text) == speaker


def test_every_turn_of_a_transcript_is_a_paragraph_and_is_quoted_exactly() -> None:
    document = check_document(load_text(MEETING.encode(), "meeting.txt"))
    turns = texts(document, BlockKind.PARAGRAPH)
    assert turns == [
        "Project Manager: Let us decide on the energy source and on the casing.",
        "Designer: A battery is cheap. Solar cells are not, and people keep the thing "
        "under a cushion.",
        "Marketing: Yeah.",
        "Project Manager: Battery then. Everyone agree?",
        "Designer: Yes: fine.",
        "Marketing: Mm-hmm.",
    ]
    assert document.title == "Design review"
    second = next(b for b in document.blocks if b.text == turns[1])
    assert document.quote(second.span).startswith("Designer: A battery is cheap. Solar cells\nare")


@pytest.mark.parametrize(
    "said",
    [
        ["Ann: Hello.", "Bob: Hello.", "Ann: Well."],  # too few
        [f"Term {c}: what it means." for c in "ABCDEFGH"],  # a glossary: nobody speaks twice
        ["Note: one.", "Note: two.", "Note: three."] * 3,  # a monologue
        ["Athlete: A | Nation: B.", "Athlete: C | Nation: D."] * 4 + ["Rank: 4 | Athlete: E."] * 4,
        ["Name: Ann", "Age: 40", "Name: Bob", "Age: 41"] * 3,  # a form filled in again and again
        ["Nobody speaks here."] * 9,
    ],
)
def test_labels_alone_are_no_conversation(said: list[str]) -> None:
    assert not speakers(said)


def test_a_conversation_counts_its_guests_too() -> None:
    said = ["Ann: One.", "Bob: Two."] * 3 + ["Guest: Three."]
    assert speakers(said) == {"Ann": 3, "Bob": 3, "Guest": 1}
