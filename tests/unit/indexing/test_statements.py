import pytest

from abstrag.indexing.lift import extract_statements, profile_of
from abstrag.language.parser import parse
from abstrag.model.index import Profile, StatementKind


@pytest.mark.parametrize(
    ("text", "profile"),
    [
        ("It is well known that water boils.", Profile.ESTABLISHED),
        ("We show that the drug works.", Profile.STRONG_CLAIM),
        ("The drug works.", Profile.STRONG_CLAIM),
        ("The drug may work.", Profile.HYPOTHESIS),
        ("The drug works [12].", Profile.CITED_EXTERNAL),
        ("The drug works (Miller and Chen, 2019).", Profile.CITED_EXTERNAL),
        ("According to the agency, the drug works.", Profile.CITED_EXTERNAL),
        ("The effect of the drug is controversial.", Profile.DISPUTED),
        ("The original report was retracted.", Profile.DEFEATED),
        ("The retracted report [3] may be wrong.", Profile.DEFEATED),
    ],
)
def test_cues_give_the_profile_away(text: str, profile: Profile) -> None:
    assert profile_of(text)[0] is profile


def test_without_a_cue_the_claim_is_less_sure() -> None:
    assert profile_of("We show that it works.")[1] > profile_of("It works.")[1]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("The drug works.", {StatementKind.CLAIM}),
        ("The drug reduced mortality by 12%.", {StatementKind.CLAIM, StatementKind.PROPERTY}),
        ("Does the drug work?", set()),
        ("A trial is defined as a test.", {StatementKind.CLAIM, StatementKind.CONCEPT}),
        ("The drug works [3, 4].", {StatementKind.CLAIM, StatementKind.EVIDENCE}),
        ("Revenue | 1,234 | 1,100", {StatementKind.PROPERTY}),
    ],
)
def test_what_a_sentence_states(text: str, kinds: set[StatementKind]) -> None:
    (doc,) = parse([text])
    assert {s.kind for s in extract_statements(doc[:], [(0, len(text))])} == kinds
