"""Merges and homonyms: a shared name is not enough, and a clash is kept with its reason."""

import pytest

from abstrag.collection.homonyms import BearerKind, form, is_shouted, is_unique, same_long_form
from abstrag.collection.map import CollectionMap
from abstrag.collection.merge import DocumentTerm, Merge, MergeReason
from abstrag.config import DELTA_EXPR_ALIAS, OMEGA
from tests.unit.collection.things import collection, entries, entry

GUESS = OMEGA["expression"] + DELTA_EXPR_ALIAS


def together(made: CollectionMap, label: str) -> list[set[str]]:
    """Return the documents of each thing of that name."""
    return [set(thing.documents) for thing in made.things(label)]


def merge_of(made: CollectionMap, label: str) -> Merge:
    (found,) = made.merges(label)
    return found


def reasons(made: CollectionMap, label: str) -> list[str]:
    return [refusal.reason for refusal in made.refusals(label)]


def test_a_full_name_joins_and_costs() -> None:
    made = collection(
        a="# A\n\nMary Collins managed the plant until 2015.\n",
        b="# B\n\nThe prize went to Mary Collins.\n",
    )
    merge = merge_of(made, "Mary Collins")
    assert merge.evidence is MergeReason.FULL_NAME
    assert merge.cost == pytest.approx(GUESS)
    assert not merge.truth_preserving
    assert together(made, "Mary Collins") == [{"a", "b"}]


def test_a_bare_name_joins_nothing() -> None:
    made = collection(
        a="# A\n\nTraders met in Paris. Bread was cheap.\n",
        b="# B\n\nThe treaty was signed in Paris. Rain fell.\n",
    )
    assert list(made.merges("Paris")) == []
    assert together(made, "Paris") == [{"a"}, {"b"}]
    assert reasons(made, "Paris") == ["nothing but the name is shared"]


def test_rare_company_joins_a_bare_name() -> None:
    made = collection(
        a="# A\n\nTraders met in Paris. They walked along the Rue Mouffetard.\n",
        b="# B\n\nThe Rue Mouffetard is old. The treaty was signed in Paris.\n",
    )
    merge = merge_of(made, "Paris")
    assert merge.evidence is MergeReason.CONTEXT
    assert merge.shared == "rue mouffetard"
    assert merge.cost == pytest.approx(GUESS)


def test_common_company_joins_nothing() -> None:
    town = entries(entry("Springfield", near=[0]), context=["concept:high street"])
    made = CollectionMap({f"d{i}": town for i in range(4)})
    assert list(made.merges("Springfield")) == []
    del made
    rare = CollectionMap({f"d{i}": town for i in range(3)})
    assert merge_of(rare, "Springfield").evidence is MergeReason.CONTEXT


def test_a_person_and_a_city_of_one_name_stay_apart() -> None:
    made = collection(
        a="# A\n\nParis, the prince of Troy, abducted Helen.\n",
        b="# B\n\nTraders met in Paris.\n",
        c="# C\n\nParis was quiet.\n",
    )
    assert together(made, "Paris") == [{"a"}, {"b"}, {"c"}]
    assert "it is shown to be things of different kinds" in reasons(made, "Paris")
    assert "nothing near it says which of them is meant" in reasons(made, "Paris")


def test_company_decides_between_homonyms() -> None:
    context = ["entity:trojan war", "entity:eiffel tower"]
    made = CollectionMap(
        {
            "prince": entries(entry("Paris", kinds=[BearerKind.PERSON], near=[0]), context=context),
            "city": entries(entry("Paris", kinds=[BearerKind.PLACE], near=[1]), context=context),
            "bare": entries(entry("Paris", near=[1]), context=context),
            "torn": entries(entry("Paris", near=[0, 1]), context=context),
        }
    )
    made.remove("torn")  # with it the company would be in four documents, and not rare
    assert together(made, "Paris") == [{"bare", "city"}, {"prince"}]
    made.remove("bare")
    made.add("torn", entries(entry("Paris", near=[0, 1]), context=context))
    assert together(made, "Paris") == [{"city"}, {"prince"}, {"torn"}]


def test_initials_join_nobody_without_company() -> None:
    made = collection(
        a="# A\n\nThe model was proposed by J. Smith. Bread was cheap.\n",
        b="# B\n\nThe proof is due to J. Smith. Rain fell.\n",
    )
    assert list(made.merges("J. Smith")) == []


def test_company_tells_which_smith_an_initial_means() -> None:
    context = ["entity:ardent steel", "entity:borden mills"]
    made = CollectionMap(
        {
            "jane": entries(
                entry("Jane Smith", kinds=[BearerKind.PERSON], near=[0]), context=context
            ),
            "john": entries(
                entry("John Smith", kinds=[BearerKind.PERSON], near=[1]), context=context
            ),
            "initial": entries(entry("J. Smith", near=[0]), context=context),
        }
    )
    assert together(made, "J. Smith") == [{"initial", "jane"}]
    assert "the given names differ" in reasons(made, "J. Smith")
    merge = next(m for m in made.merges("J. Smith"))
    assert merge.cost > GUESS  # the names differ, and that is paid too


def test_one_acronym_with_two_long_forms_is_two_things() -> None:
    made = collection(
        a="# A\n\nThe hazard ratio (HR) was low. The HR fell.\n",
        b="# B\n\nMean heart rate (HR) rose. The HR was normal.\n",
        c="# C\n\nThe HR was 0.8.\n",
    )
    assert reasons(made, "HR")[0] == "it stands for 2 things"
    (refusal, *_) = made.refusals("HR")
    assert {side.label for side in refusal.sides} == {"hazard ratio", "heart rate"}
    assert together(made, "HR") == [{"a"}, {"b"}, {"c"}]


def test_both_names_stated_by_both_is_the_cheapest_merge() -> None:
    made = collection(
        a="# A\n\nThe World Health Organization (WHO) met.\n",
        b="# B\n\nThe World Health Organization (WHO) agreed.\n",
    )
    path = made.merge_paths(DocumentTerm("a", "entity:world health organization"))
    (found,) = path.values()
    assert found.cost == pytest.approx(OMEGA["expression"])
    assert found.steps[0].evidence is MergeReason.SAME_NAMES
    assert [c.document for c in found.steps[0].licences] == ["a", "b"]


def test_an_undefined_short_form_pays_the_distance_to_its_long_form() -> None:
    made = collection(
        a="# A\n\nThe World Health Organization (WHO) met.\n",
        b="# B\n\nIn 2023 the WHO reported fewer deaths.\n",
    )
    merge = merge_of(made, "WHO")
    assert merge.evidence is MergeReason.ALIAS
    assert merge.cost == pytest.approx(GUESS + 22 / 25)  # edit distance of the two, of 25 letters
    assert merge.licences[0].licence.reference == "World Health Organization (WHO)"


def test_two_letters_are_too_few_to_go_by_one_definition() -> None:
    made = collection(
        a="# A\n\nThe emergency room (ER) was full. The ER closed.\n",
        b="# B\n\nThe ER was intact.\n",
    )
    assert list(made.merges("ER")) == []


def test_other_wording_of_a_long_form_pays_its_distance() -> None:
    made = collection(
        a="# A\n\nWe used RNA interference (RNAi) here.\n",
        b="# B\n\nWe used RNA-mediated interference (RNAi) here.\n",
    )
    merge = merge_of(made, "RNAi")
    assert merge.evidence is MergeReason.WORDING
    assert merge.cost > GUESS


def test_a_stated_class_joins_what_has_one_name() -> None:
    made = CollectionMap(
        {
            "a": entries(entry("Chordin", classes=["protein"])),
            "b": entries(entry("Chordin", classes=["protein"])),
            "c": entries(entry("Chordin", classes=["band"])),
        }
    )
    merge = merge_of(made, "Chordin")
    assert (merge.evidence, merge.shared) == (MergeReason.CLASS, "protein")
    assert together(made, "Chordin") == [{"a", "b"}, {"c"}]


def test_merges_that_meet_do_not_carry_a_clash_across() -> None:
    context = ["entity:ardent steel", "entity:borden mills"]
    made = CollectionMap(
        {
            "a": entries(entry("Heart Rate", short="HRX", near=[0]), context=context),
            "b": entries(entry("HRX", near=[0]), context=context[:1]),
            "c": entries(entry("Hazard Ratio", short="HRX", near=[1]), context=context),
        }
    )
    assert together(made, "HRX") == [{"a", "b"}, {"c"}]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("tumour necrosis factor", "tumor necrosis factor", True),
        ("mesenchymal stem cell", "mesenchymal stromal cell", True),
        ("RNA interference", "RNA-mediated interference", True),
        ("coronary heart disease", "congenital heart disease", False),
        ("interleukin 1", "interleukin 2", False),
        ("hazard ratio", "heart rate", False),
    ],
)
def test_long_forms(one: str, other: str, same: bool) -> None:
    assert same_long_form(one, other) is same
    assert same_long_form(other, one) is same


def test_forms() -> None:
    assert form("WHO") != form("who")
    assert form("LLMs") == form("LLM")
    assert form("COX-2") == form("COX2")
    assert form("Kraków") == form("Krakow")
    assert all(map(is_shouted, ("METHODS", "FINDINGS", "MAIN")))
    assert is_shouted("III")
    assert not is_shouted("DNA")
    assert is_unique("Canada")
    assert not is_unique("Paris")
