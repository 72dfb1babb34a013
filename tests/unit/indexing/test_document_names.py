from hypothesis import given
from hypothesis import strategies as st

from abstrag.indexing.naming.alias_rules import AliasReason
from abstrag.indexing.naming.document_names import DocumentNames, build_names, canonical_names
from abstrag.indexing.naming.mentions import PlacedName
from abstrag.indexing.naming.stated_aliases import Definition
from abstrag.language.names import person_name
from abstrag.language.words import key

NAMES = (
    ("Jane Smith", "PERSON"),
    ("Dr. Jane Smith", "PERSON"),
    ("Jane Q. Smith", "PERSON"),
    ("John Smith", "PERSON"),
    ("Mr. Smith", "PERSON"),
    ("Smith", "PERSON"),
    ("J. Smith", "PERSON"),
    ("Acme", "ORG"),
    ("Acme Inc.", "ORG"),
    ("Acme Ltd.", "ORG"),
    ("Acme Corp.", "ORG"),
    ("ACME Corporation", "ORG"),
    ("WHO", "ORG"),
    ("World Health Organization", "ORG"),
    ("World Health Organisation", "ORG"),
    ("Women's Health Office", "ORG"),
)
LONG_FORMS = ("World Health Organization", "Women's Health Office")
BACKGROUND = (("Acme Ropes", ("Acme Inc.",)), ("Acme Boats", ("Acme Ltd.",)))


def named(text: str, label: str, segment: int = 0) -> PlacedName:
    return PlacedName(segment, 0, len(text), text, label, 0, 0, 0)


def defined(long: str) -> Definition:
    return Definition(f"entity:{key('WHO')}", f"entity:{key(long)}", ("WHO",), (long,), 0, 0, 1)


def together(roster: DocumentNames, one: str, other: str) -> bool:
    ids = [f"entity:{key(text)}" for text in (one, other)]
    return all(i in roster.groups for i in ids) and len({roster.groups[i] for i in ids}) == 1


pools = st.lists(st.sampled_from(NAMES), max_size=12)
long_forms = st.lists(st.sampled_from(LONG_FORMS), max_size=2)


@given(pools, long_forms, st.randoms(use_true_random=False))
def test_grouping_does_not_depend_on_order(
    pool: list[tuple[str, str]], longs: list[str], random: object
) -> None:
    mentions = [named(*one) for one in pool]
    definitions = [defined(long) for long in longs]
    first = build_names(mentions, definitions)
    random.shuffle(mentions)  # type: ignore[attr-defined]
    random.shuffle(definitions)  # type: ignore[attr-defined]
    again = build_names(mentions, definitions)
    assert again.groups == first.groups
    assert again.open == first.open
    assert canonical_names(again) == canonical_names(first)


@given(pools, long_forms, st.booleans())
def test_what_was_introduced_apart_is_never_merged(
    pool: list[tuple[str, str]], longs: list[str], with_background: bool
) -> None:
    aliases = BACKGROUND if with_background else ()
    written = [text for text, _ in pool]
    roster = build_names(
        [named(*one) for one in pool], [defined(long) for long in longs], aliases, written
    )
    assert not together(roster, "Jane Smith", "John Smith")
    assert not together(roster, "Mr. Smith", "Jane Smith")
    assert not together(roster, "Acme Inc.", "Acme Ltd.")
    assert not together(roster, "Acme Ltd.", "Acme Corp.")
    assert not together(roster, "Acme Ropes", "Acme Boats")
    assert not together(roster, *LONG_FORMS)


@given(pools, long_forms)
def test_every_group_has_an_id_of_its_own(pool: list[tuple[str, str]], longs: list[str]) -> None:
    roster = build_names([named(*one) for one in pool], [defined(long) for long in longs])
    canonical = canonical_names(roster)
    owners: dict[str, set[str]] = {}
    for one, target in canonical.items():
        owners.setdefault(target.id, set()).add(roster.groups[one])
    assert all(len(groups) == 1 for groups in owners.values())
    for one in canonical:
        if canonical[one].id in roster.groups:
            assert roster.groups[canonical[one].id] == roster.groups[one]


def test_the_strongest_reason_is_kept() -> None:
    mentions = [named("Acme Inc.", "ORG"), named("Acme", "ORG")]
    roster = build_names(mentions, [], (("Acme", ("Acme Inc.",)),), ("Acme",))
    assert roster.evidence["entity:acme inc"].why is AliasReason.BACKGROUND


def test_a_middle_initial_does_not_make_another_person_but_a_middle_name_may() -> None:
    same = build_names([named("Jane Smith", "PERSON"), named("Jane Q. Smith", "PERSON")], [])
    assert together(same, "Jane Smith", "Jane Q. Smith")
    other = build_names([named("John Adams", "PERSON"), named("John Quincy Adams", "PERSON")], [])
    assert not together(other, "John Adams", "John Quincy Adams")
    assert person_name("John Adams") is not None


def test_a_company_named_after_a_country_is_not_the_country() -> None:
    mentions = [named("Egypt", "GPE"), named("Egypt LLC", "ORG"), named("Acme LLC", "ORG")]
    roster = build_names([*mentions, named("Acme", "ORG")], [])
    assert not together(roster, "Egypt", "Egypt LLC")
    assert together(roster, "Acme", "Acme LLC")
    labels = canonical_names(roster)
    assert labels["entity:egypt llc"].label == "Egypt LLC"


def test_a_holding_is_another_company_than_the_one_it_holds() -> None:
    roster = build_names([named("Acme", "ORG"), named("Acme Holding Corp.", "ORG")], [])
    assert not together(roster, "Acme", "Acme Holding Corp.")
