import pytest

from abstrag.indexing.abstraction.passage import passages
from abstrag.indexing.abstraction.patterns import find_stated
from tests.unit.indexing.readied import readied

NAMES = ("Anthropic", "TSMC", "Samsung", "Naringenin", "Ada Brown")


def stated(text: str) -> list[tuple[str, str]]:
    """Return what a text states: member and class, as keys."""
    found = []
    for passage in passages(readied(text, names=NAMES)):
        words = passage.words
        for each in find_stated(passage):
            name = passage.names.get(each.member)
            member = words.phrase_key(words.phrase(each.member)[-1], each.member)
            class_ = words.phrase_key(words.phrase(each.class_)[-1], each.class_)
            found.append((name.term if name else member, class_))
    return sorted(found)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "They talked to chip suppliers such as TSMC and Samsung.",
            [("entity:samsung", "chip supplier"), ("entity:tsmc", "chip supplier")],
        ),
        (
            "Common diseases, such as asthma, gout and cancer, were studied.",
            [
                ("asthma", "common disease"),
                ("cancer", "common disease"),
                ("gout", "common disease"),
            ],
        ),
        ("A protected attribute such as gender is removed.", [("gender", "protected attribute")]),
        ("All vertebrates, including humans, need oxygen.", [("human", "vertebrate")]),
        (
            "They visited chip suppliers, especially TSMC.",
            [("entity:tsmc", "chip supplier")],
        ),
        (
            "TSMC, Samsung and other chip suppliers raised prices.",
            [("entity:samsung", "chip supplier"), ("entity:tsmc", "chip supplier")],
        ),
        ("A transformer is a neural network.", [("transformer", "neural network")]),
        ("Proteasomes are cylindrical structures.", [("proteasome", "cylindrical structure")]),
        ("TSMC was a chip supplier.", [("entity:tsmc", "chip supplier")]),
        ("TSMC is one of the chip suppliers.", [("entity:tsmc", "chip supplier")]),
        ("Glioma is a type of brain tumor.", [("glioma", "brain tumor")]),
        ("TSMC, which is a chip supplier, raised prices.", [("entity:tsmc", "chip supplier")]),
        ("A canary, that is a small group of servers, failed.", [("canary", "small group")]),
        ("Recall is defined as the share of relevant items.", [("recall", "share")]),
        ("We use a method called Naringenin.", [("entity:naringenin", "method")]),
        ("“Affiliate” means any entity that controls a party.", [("affiliate", "entity")]),
        ('The term "Information" shall mean all data.', [("information", "datum")]),
        ("Anthropic, an AI company, raised money.", [("entity:anthropic", "ai company")]),
        ("Naringenin, a kind of flavonoid, was given.", [("entity:naringenin", "flavonoid")]),
        (
            "The biggest chip supplier, TSMC, raised prices.",
            [("entity:tsmc", "biggest chip supplier")],
        ),
        ("They met engineers of chipmaker TSMC.", [("entity:tsmc", "chipmaker")]),
    ],
)
def test_what_a_text_states_is_found(text: str, expected: list[tuple[str, str]]) -> None:
    assert stated(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "TSMC is not a chip supplier.",
        "TSMC may be a chip supplier.",
        "If TSMC is a chip supplier, prices rise.",
        "Is TSMC a chip supplier?",
        "They doubt that TSMC is a chip supplier.",
        "TSMC is a former chip supplier.",
        "TSMC is big.",
        "TSMC is a problem.",
        "TSMC is usually a chip supplier.",
        "The result is a network.",  # this one result, not results as such
        "The use of networks is a method.",
        "A transformer was a network.",  # a story, no definition
        "No companies such as TSMC were found.",
        "They found abnormalities in mice, such as deafness.",  # deafness is no mouse
        "They kept metadata about restaurants, including their names and tags.",
        "“Affiliate” means (i) the subsidiary or (ii) the parent.",  # one of several cases
        "Anthropic (the “Developer”) signed.",  # a name, not a class
        "TSMC (a) During the period, the following rules apply.",
        "Send it by fax or other similar electronic means.",
        "“Notice” “Permitted has the meaning given here; “Recipient” means the party.",
        "“Representatives” means directors, officers and agents.",  # a union, not a class
        "A named entity is tagged.",
        "They sold laptops, phones and cars.",
        "chipmaker TSMC shares fell.",
        "This region, TSMC, was studied.",
        "It beats the best Samsung-based design, Samsung with a fan.",  # what beats is more
        "They compared Samsung with TSMC, the strongest design.",  # which of the two?
        "In our first test, TSMC failed early.",
        "They bought from TSMC, the assets of a division.",
        "TSMC, 12 Mill Road, Attention: President",
        "TSMC is a necessity.",
    ],
)
def test_what_a_text_does_not_state_is_not_found(text: str) -> None:
    assert stated(text) == []
