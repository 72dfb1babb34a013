"""Names that a text gives to what it already named, and sentences that only look like it."""

import pytest

from abstrag.files import read_data_file
from abstrag.indexing.naming.mentions import named_mentions
from abstrag.indexing.naming.stated_aliases import definitions
from tests.unit.indexing.drafts import draft_of

SHAPES = read_data_file("abstrag.indexing.naming", "alias_shapes.toml")["shape"]


def stated(text: str) -> set[frozenset[str]]:
    draft = draft_of(text)
    found = definitions(draft, named_mentions(draft))
    return {frozenset((min(d.alias_surfaces), min(d.name_surfaces))) for d in found}


@pytest.mark.parametrize("sentence", [shape["example"] for shape in SHAPES])
def test_every_shape_reads_its_example(sentence: str) -> None:
    assert len(stated(sentence)) == 1


@pytest.mark.parametrize(
    ("sentence", "alias", "name"),
    [
        ("Brannol, sold as Quietol, is given at night.", "Quietol", "Brannol"),
        (
            "Mount Carrow, whose popular name is the Old Man, is bare.",
            "Old Man",
            "Mount Carrow",
        ),
        ("Mount Carrow, locally the Old Man, is bare.", "Old Man", "Mount Carrow"),
        ("Mount Carrow (Welsh: Kar Uhl) is bare.", "Kar Uhl", "Mount Carrow"),
        ("Mount Carrow, Kar Uhl in the local dialect, is bare.", "Kar Uhl", "Mount Carrow"),
        ("Mount Carrow, lovingly called the Old Man, is bare.", "Old Man", "Mount Carrow"),
        ("Port Selby, once Fort Selby, has two piers.", "Fort Selby", "Port Selby"),
        (
            "In 1950 Welbury Football Club became known as Welbury Rovers.",
            "Welbury Rovers",
            "Welbury Football Club",
        ),
        (
            "Welbury Football Club changed its name to Welbury Rovers.",
            "Welbury Rovers",
            "Welbury Football Club",
        ),
        ("Arthur Crane earned the nickname the Heron.", "Heron", "Arthur Crane"),
        (
            "Arthur Crane, known under his pen name Silas Vane, fished.",
            "Silas Vane",
            "Arthur Crane",
        ),
        ("Silas Vane, born Arthur Crane, fished.", "Silas Vane", "Arthur Crane"),
        ("Arthur Crane, whom the papers christened the Heron, fished.", "Heron", "Arthur Crane"),
        (
            "The Ferry Tolls Act 1951, commonly called the Penny Law, fell.",
            "Penny Law",
            "Ferry Tolls Act 1951",
        ),
        (
            "Nurses at St Brannoc's Hospital, or the Brannoc for short, wear green.",
            "Brannoc",
            "St Brannoc's Hospital",
        ),
        (
            "The Valley Brine and Tramway Company, the Brine for short, pays in tokens.",
            "Brine",
            "Valley Brine and Tramway Company",
        ),
        ("The Tidal Packet Router (or simply Tidal) ships.", "Tidal", "Tidal Packet Router"),
        (
            "The Marsh Lane Clinic – the Lane to its patients – opened.",
            "Lane",
            "Marsh Lane Clinic",
        ),
        ("The old bus, nicknamed Bertha, broke down.", "Bertha", "old bus"),
    ],
)
def test_another_name_is_read(sentence: str, alias: str, name: str) -> None:
    assert stated(sentence) == {frozenset((alias, name))}


@pytest.mark.parametrize(
    "sentence",
    [
        "The river at Lanford is called the Muckle.",
        "The governing body of Germany was called the Allied Council.",
        "In Selby, which was formerly called Fort Oswin, nobody fishes.",
        "A shrub in the family Rutaceae known as Waxflowers is small.",
        "Some wrongly call Mount Carrow the Old Man.",
        "Nobody in Welbury calls Arthur Crane the Heron.",
        "They threatened to rename Welbury Rovers to Lanford Rovers.",
        "Arthur Crane, officially Minister of Fish, was sentenced.",
        "Arthur Crane was named Captain.",
        "Arthur Crane was dubbed Man of the Match.",
        "Arthur Crane, born March 4, 1950, was sentenced.",
        "Arthur Crane, formerly Acme, was sentenced.",
        "Arthur Crane and Silas Vane are called the Herons.",
        "It borders Port Selby to the north, Lanford to the east and Welbury to the west.",
        "Silas Vane is the pen name of American author Arthur Crane.",
        "The Heron is the name of Arthur Crane's boat.",
        'The song about Port Selby, "the Harbour", was sung.',
        "The new patient is called Ann.",
        "The bus, called Monday, came.",
    ],
)
def test_what_gives_nobody_a_name_is_not_read(sentence: str) -> None:
    assert not stated(sentence)
