import pytest

from abstrag.errors import ResourceMissing
from abstrag.lexicon.roles import OfficeRole, Roles, broader_people, roles


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("cto", "cto"),
        ("chief technology officer", "cto"),
        ("chief executive", "ceo"),
        ("chairwoman", "chair"),
        ("secretary of state", "secretary of state"),
        ("claimant", "plaintiff"),
        ("turtle", None),
    ],
)
def test_full_forms_and_acronyms_are_one_role(name: str, key: str | None) -> None:
    found = roles().find(name)
    assert (found and found.key) == key


def test_general_roles_are_found_all_the_way_up_nearest_first() -> None:
    up = roles().general("cto")
    assert up[0] == "executive"
    assert {"manager", "representative"} <= set(up)
    assert "cto" not in up


def test_only_offices_speak_for_an_organization() -> None:
    known = roles().by_key
    assert known["cto"].of == "company"
    assert known["minister"].of == "government"
    assert known["judge"].of == "court"
    for role in ("plaintiff", "professor", "principal investigator", "patient", "employee"):
        assert known[role].of is None


def test_a_role_learned_elsewhere_is_a_role_of_its_own() -> None:
    more = roles().with_names(["site angel", "cto"])
    assert more.find("site angel") == OfficeRole("site angel")
    assert more.find("cto") == roles().find("cto")
    assert "angel" in more.heads
    assert roles().find("site angel") is None


def test_one_name_for_two_roles_is_refused() -> None:
    with pytest.raises(ResourceMissing, match="'boss' twice"):
        Roles([OfficeRole("chief", ("boss",)), OfficeRole("head", ("boss",))])


@pytest.mark.parametrize(
    ("name", "general"),
    [
        ("chief nursing officer", "executive"),
        ("deputy minister", "official"),
        ("vice provost", "leader"),
        ("sheriff", "official"),
    ],
)
def test_an_office_that_is_not_listed_is_told_by_its_shape(name: str, general: str) -> None:
    found = roles().find(name)
    assert found is not None
    assert general in roles().general(found.key)


@pytest.mark.parametrize("name", ["table", "deputy table", "chief complaint", "mother"])
def test_not_every_shape_is_an_office(name: str) -> None:
    assert roles().find(name) is None


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("technical director", {"manager", "official"}),
        ("accessibility lead", {"manager", "leader"}),
        ("school cook", {"cook", "employee"}),
        ("district surveyor", {"surveyor", "employee", "official"}),
        ("clerk of the court", {"official"}),
    ],
)
def test_whoever_leads_is_a_manager_and_whoever_is_hired_an_employee(
    name: str, kinds: set[str]
) -> None:
    found = roles().find(name)
    assert found is not None
    assert kinds <= set(roles().general(found.key))


@pytest.mark.parametrize("name", ["team captain", "founder", "plaintiff", "head boy"])
def test_players_parties_and_founders_are_no_officials(name: str) -> None:
    found = roles().find(name)
    assert found is not None
    assert "official" not in roles().general(found.key)


def test_of_a_kind_of_people_the_first_sense_counts() -> None:
    assert "sailor" not in broader_people("cook")
    assert "actuary" not in broader_people("surveyor")


@pytest.mark.parametrize(
    ("name", "general"),
    [
        ("mediator", "arbitrator"),
        ("expert witness", "witness"),
        ("referee", "official"),
        ("technical writer", "writer"),
        ("docs lead", "writer"),
        ("translator", "employee"),
        ("ux designer", "designer"),
        ("hydrographer", "scientist"),
        ("berthing master", "official"),
        ("head of science", "teacher"),
        ("lollipop lady", "employee"),
        ("archbishop", "clergyman"),
        ("sapper", "soldier"),
        ("war correspondent", "journalist"),
        ("theatre director", "artist"),
        ("minister of health", "politician"),
        ("consul general", "diplomat"),
        ("chief accounting officer", "executive"),
        ("co-captain", "captain"),
    ],
)
def test_an_office_has_its_broader_kinds(name: str, general: str) -> None:
    found = roles().find(name)
    assert found is not None
    assert general in roles().general(found.key)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("health minister", "finance minister"),
        ("chef", "porter"),
        ("abbot", "vicar"),
        ("customs officer", "stationmaster"),
        ("goalkeeping coach", "fitness coach"),
        ("winger", "quarterback"),
    ],
)
def test_roles_of_the_same_kinds_are_not_one(one: str, other: str) -> None:
    assert roles().find(one) != roles().find(other)
