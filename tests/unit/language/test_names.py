import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstrag.language.names import (
    Gender,
    house_form,
    legal_form,
    legal_form_end,
    nameable,
    person_name,
    title_before,
    trim,
    without_titles,
)
from abstrag.language.spelling import american, distance, fold, plain, plural, possessive


@pytest.mark.parametrize(
    ("surface", "name"),
    [
        ("the Acme Corp.'s", "Acme Corp."),
        ("“Claude”", "Claude"),
        ("Anthropic’s", "Anthropic"),
        ("• Acme", "Acme"),
        ("Acme[3]", "Acme"),
        ("Acme.[5", "Acme"),
        ("Acme²", "Acme"),
        ("Jane Doe$^{1,3}$", "Jane Doe"),
        ("Suchanek et al.", "Suchanek"),
        ("Intel.", "Intel"),
        ("U.S.", "U.S."),
        ("ServiceNow, Inc.", "ServiceNow, Inc."),
        ("RESULTS Acme", "Acme"),
        ("the", "the"),
    ],
)
def test_a_surface_is_trimmed_to_the_name_in_it(surface: str, name: str) -> None:
    start, end = trim(surface)
    assert surface[start:end] == name


@given(st.text(max_size=40))
def test_trimming_stays_inside_and_is_done_once(surface: str) -> None:
    start, end = trim(surface)
    assert 0 <= start <= end <= len(surface)
    kept = surface[start:end]
    assert trim(kept) == (0, len(kept))


@pytest.mark.parametrize("name", ["Acme", "U.S.", "3M", "eBay", "World Health Organization"])
def test_names_can_be_names(name: str) -> None:
    assert nameable(name)


@pytest.mark.parametrize(
    "junk",
    [
        "x",
        "acme",
        "Table 3",
        "Figure 2(a)",
        "RESULTS",
        "v_i$",
        "BIBREF3",
        "Inc.",
        "f(N",
        "A, B, C",
        "https://Acme.org",
        "MARK PARKER Mark Parker",
    ],
)
def test_mark_up_layout_words_and_lists_are_no_names(junk: str) -> None:
    assert not nameable(junk)


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("Acme Inc.", ("Acme", "inc")),
        ("Acme, Incorporated", ("Acme", "inc")),
        ("Siemens AG", ("Siemens", "ag")),
        ("Anthropic PBC", ("Anthropic", "pbc")),
        ("Grupo Uno S.A.", ("Grupo Uno", "sa")),
        ("Acme Company Ltd.", ("Acme Company", "ltd")),
        ("Inc.", ("Inc.", "")),
        ("Acme", ("Acme", "")),
    ],
)
def test_a_legal_form_comes_off_a_company_name(name: str, split: tuple[str, str]) -> None:
    assert legal_form(name) == split


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Acme, Inc. grew", "Acme, Inc."),
        ("Acme L.L.C. grew", "Acme L.L.C."),
        ("Acme AG", "Acme AG"),
        ("Acme Incognito grew", "Acme"),
        ("Acme grew", "Acme"),
    ],
)
def test_a_legal_form_that_follows_belongs_to_the_name(text: str, name: str) -> None:
    assert text[: legal_form_end(text, len("Acme"))] == name


def test_a_house_word_comes_off_only_when_asked() -> None:
    assert legal_form("Walt Disney Company") == ("Walt Disney Company", "")
    assert house_form("Walt Disney Company") == ("Walt Disney", "company")
    assert house_form("Acme Company Ltd.") == ("Acme", "company ltd")
    assert house_form("Acme Corp.")[1] == house_form("Acme Corporation")[1]


def test_a_person_has_title_given_names_and_surname() -> None:
    jane = person_name("Dr. Jane Q. Smith Jr.")
    assert jane is not None
    assert (jane.titles, jane.given, jane.surname, jane.suffix) == (
        ("dr",),
        ("jane", "q"),
        "smith",
        "jr",
    )
    beethoven = person_name("Ludwig van Beethoven")
    assert beethoven is not None
    assert (beethoven.given, beethoven.surname) == (("ludwig",), "beethoven")


@pytest.mark.parametrize("surface", ["GPT-3", "3 nm", "", "A.", "smith"])
def test_what_cannot_be_a_person_is_none(surface: str) -> None:
    assert person_name(surface) is None


@pytest.mark.parametrize(
    ("surface", "gender"),
    [
        ("Ms. Smith", Gender.FEMALE),
        ("Jane Smith", Gender.FEMALE),
        ("Mr. Smith", Gender.MALE),
        ("Peter Smith", Gender.MALE),
        ("Mrs. Peter Smith", Gender.FEMALE),
        ("Dr. Smith", None),
        ("Robin Smith", None),
    ],
)
def test_title_and_first_name_tell_the_gender(surface: str, gender: Gender | None) -> None:
    person = person_name(surface)
    assert person is not None
    assert person.gender is gender


@pytest.mark.parametrize(
    ("one", "other", "may_be"),
    [
        ("Smith", "Jane Smith", True),
        ("J. Smith", "Jane Smith", True),
        ("Ms. Smith", "Dr. Jane Smith", True),
        ("Mr. Smith", "Jane Smith", False),
        ("K. Smith", "Jane Smith", False),
        ("Jane Smith", "Jane Miller", False),
        ("Jane Smith Jr.", "Jane Smith Sr.", False),
    ],
)
def test_two_names_may_be_one_persons(one: str, other: str, may_be: bool) -> None:
    a, b = person_name(one), person_name(other)
    assert a is not None
    assert b is not None
    assert a.may_be(b) is may_be
    assert b.may_be(a) is may_be


def test_titles_before_a_name_are_found() -> None:
    text = "He met Vice President Smith."
    assert text[title_before(text, text.index("Smith")) :] == "Vice President Smith."
    assert title_before("Then Smith left.", 5) == 5


def test_a_label_loses_the_form_of_address_but_not_the_office() -> None:
    assert without_titles("Prof. Dr. Jane Smith") == "Jane Smith"
    assert without_titles("President Smith") == "President Smith"
    assert without_titles("Dr.") == "Dr."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("GPT-3", "GPT 3"),
        ("U.S.", "US"),
        ("J. K. Doe", "J.K. Doe"),
        ("Kraków", "Krakow"),
        ("Acme & Sons", "Acme and Sons"),
        ("World Health Organisation", "WORLD HEALTH ORGANIZATION"),
        ("Start-up", "startup"),
        ("Labour Party", "Labor Party"),
    ],
)
def test_spellings_of_one_name_fold_to_the_same_letters(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"), [("GPT-3", "GPT-4"), ("Acme", "Acne"), ("Practice", "Practise")]
)
def test_different_names_fold_to_different_letters(one: str, other: str) -> None:
    assert fold(one) != fold(other)


@given(st.text(max_size=30))
def test_folding_twice_is_folding_once(surface: str) -> None:
    assert fold(fold(surface)) == fold(surface)


def test_american_spelling_of_a_regular_ending() -> None:
    assert american("organisation") == "organization"
    assert american("vision") == "vision"
    assert plain("Łódź") == "Lodz"


def test_distance_is_a_share_of_the_longer_surface() -> None:
    assert distance("TSMC", "tsmc") == 0.0
    assert distance("abcd", "abce") == 0.25
    assert distance("", "abcd") == 1.0


def test_plurals_and_possessives_are_regular() -> None:
    assert [plural(w) for w in ("model", "study", "process", "key")] == [
        "models",
        "studies",
        "processes",
        "keys",
    ]
    assert possessive("Anthropic") == "Anthropic's"
    assert possessive("James") == "James's"
    assert possessive("the authors") == "the authors'"
