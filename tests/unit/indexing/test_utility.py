import json
from pathlib import Path

import pytest

from abstrag.config import W_ASRT, W_L, W_TRUST
from abstrag.errors import InputError
from abstrag.indexing.pipeline import fingerprint
from abstrag.indexing.utility import calibrate, layout_weight, rhetoric, utilities
from abstrag.model.document import Genre, OffsetMap, Span
from abstrag.model.index import Profile, Statement, StatementKind
from abstrag.model.segment import Segment, SegmentKind, SegmentRole

TEXT = "We show that it works."


def segment(role: SegmentRole, kind: SegmentKind = SegmentKind.SENTENCE) -> Segment:
    span = Span(0, len(TEXT))
    return Segment("s1", kind, role, TEXT, span, OffsetMap(((0, 0),)), 0)


def claim(profile: Profile) -> Statement:
    return Statement(StatementKind.CLAIM, profile, 1.0, 0, len(TEXT))


def test_the_papers_weights_are_the_papers() -> None:
    assert set(W_TRUST) == set(W_ASRT) == {p.value for p in Profile}
    order = ["established", "strong_claim", "cited_external", "hypothesis", "disputed"]
    assert [W_TRUST[p] for p in (*order, "defeated")] == [1.0, 0.9, 0.7, 0.5, 0.4, 0.0]
    assert [W_ASRT[p] for p in (*order, "defeated")] == [1.0, 1.0, 0.6, 0.5, 0.3, 0.2]
    science = W_L["scientific"]
    roles = ("results", "methods", "discussion", "introduction", "background", "conclusion")
    assert [science[r] for r in roles] == [0.91, 0.87, 0.73, 0.53, 0.24, 0.20]
    assert (W_L["engineering"]["methods"], W_L["engineering"]["results"]) == (0.90, 0.75)


@pytest.mark.parametrize(
    ("role", "genre", "weight"),
    [
        (SegmentRole.RESULTS, Genre.SCIENTIFIC, 0.91),
        (SegmentRole.APPENDIX, Genre.SCIENTIFIC, 0.40),
        (SegmentRole.CAPTION, Genre.ENGINEERING, 0.60),
        (SegmentRole.RESULTS, Genre.ABSTRACT_ONLY, 0.75),
        (SegmentRole.CELL, Genre.PAGE_LOCAL, 0.70),
        (SegmentRole.TEXT, Genre.PAGE_LOCAL, 0.60),
        (SegmentRole.OTHER, Genre.NEWS, 0.50),
        (SegmentRole.TABLE, Genre.REPORT, 1.00),  # its figures are what a report is read for
        (SegmentRole.OTHER, Genre.REPORT, 0.50),
    ],
)
def test_a_role_weighs_what_its_genre_says(role: SegmentRole, genre: Genre, weight: float) -> None:
    assert layout_weight(role, genre) == weight


def test_utility_is_layout_plus_novelty_times_assertedness() -> None:
    strong, weak = claim(Profile.STRONG_CLAIM), claim(Profile.HYPOTHESIS)
    found = utilities([segment(SegmentRole.RESULTS)] * 2, [(strong,), (weak,)], Genre.SCIENTIFIC)
    assert found[0].value == pytest.approx(0.91 + 1.0)
    novelty, assertedness = 0.5 / 0.9, (0.5 * 0.5) / (1.0 * 0.9)
    assert found[1].value == pytest.approx(0.91 + novelty * assertedness, abs=1e-5)


def test_what_the_background_knows_is_no_news() -> None:
    known = utilities(
        [segment(SegmentRole.RESULTS)],
        [(claim(Profile.STRONG_CLAIM),)],
        Genre.SCIENTIFIC,
        known=["we show that it works"],
    )
    assert known[0].novelty == 0.0
    assert known[0].value == pytest.approx(0.91)


def test_a_defeated_claim_adds_nothing() -> None:
    found = utilities(
        [segment(SegmentRole.RESULTS)], [(claim(Profile.DEFEATED),)], Genre.SCIENTIFIC
    )
    assert found[0].value == 0.91


def test_what_opens_an_abstract_sets_the_scene_and_is_worth_less() -> None:
    same = (claim(Profile.STRONG_CLAIM),)
    found = utilities([segment(SegmentRole.ABSTRACT)] * 11, [same] * 11, Genre.ABSTRACT_ONLY)
    values = [u.value for u in found]
    assert values == sorted(values)
    assert values[0] == values[3] == pytest.approx(0.02 * (0.75 + 1.0))
    assert values[3] < values[4] < values[5] < values[6]
    assert values[6] == values[10] == pytest.approx(0.75 + 1.0)
    for u in found:  # Eq. 1 holds for what is shown of it
        assert u.value == pytest.approx(u.layout + u.novelty * u.assertedness, abs=1e-5)


@pytest.mark.parametrize("genre", [genre for genre in Genre if genre is not Genre.ABSTRACT_ONLY])
def test_outside_of_abstracts_the_place_of_a_sentence_says_nothing(genre: Genre) -> None:
    assert rhetoric([segment(SegmentRole.ABSTRACT)] * 8, genre) == (1.0,) * 8


def test_three_sentences_have_no_order_to_go_by() -> None:
    assert rhetoric([segment(SegmentRole.ABSTRACT)] * 3, Genre.ABSTRACT_ONLY) == (1.0, 1.0, 1.0)


def test_a_table_under_an_abstract_is_no_part_of_its_order() -> None:
    prose = [segment(SegmentRole.ABSTRACT, SegmentKind.PARAGRAPH)] * 6
    rows = [segment(SegmentRole.TABLE, SegmentKind.TABLE_ROW)] * 3
    found = rhetoric([*rows, *prose], Genre.ABSTRACT_ONLY)
    assert found[:3] == (1.0, 1.0, 1.0)
    assert found[3:] == rhetoric(prose, Genre.ABSTRACT_ONLY)
    assert found[3] < found[-1] == 1.0


def test_an_index_with_another_prior_is_not_taken_for_this_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = fingerprint()
    monkeypatch.setattr("abstrag.indexing.utility.VERSION", 1)
    assert fingerprint() != before


def test_ratings_are_averaged_by_section_then_paper_then_role(tmp_path: Path) -> None:
    rows = [
        ("a", "3.1", "methods", 1.0),
        ("a", "3.1", "methods", 0.8),
        ("a", "3.2", "methods", 0.5),
        ("b", "2", "methods", 0.9),
        ("b", "1", "introduction", 0.4),
    ]
    file = tmp_path / "ratings.jsonl"
    names = ("paper", "section", "role", "rating")
    file.write_text("\n".join(json.dumps(dict(zip(names, r, strict=True))) for r in rows))
    schedule = calibrate(file)
    assert schedule == {"introduction": 0.4, "methods": pytest.approx(((0.9 + 0.5) / 2 + 0.9) / 2)}
    assert layout_weight(SegmentRole.METHODS, Genre.LEGAL, schedule) == schedule["methods"]


def test_a_bad_rating_is_named_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "ratings.jsonl"
    file.write_text('\n{"paper": "a", "section": "1", "role": "methods", "rating": 3}\n')
    with pytest.raises(InputError, match=r"line 2: rating 3\.0 is not in 0 to 1"):
        calibrate(file)
