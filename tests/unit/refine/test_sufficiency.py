"""The critic: what the first hits look like says whether the evidence is there."""

from pathlib import Path

import pytest

from abstrag.model.record import from_json, to_json
from abstrag.neural.aligner import default_aligner
from abstrag.neural.judge import default_judge
from abstrag.refine.critic import CalibratedCritic
from abstrag.refine.evaluator import Evaluator, reach_of
from abstrag.refine.feedback import Episode
from abstrag.refine.sufficiency import (
    ANY_GENRE,
    FEATURES,
    Calibrations,
    CriticCalibration,
    Logistic,
    features,
    packaged_calibrations,
    sufficiency,
)
from abstrag.search.relevance import ALIGNED, DEFAULT_PRESET, FAST
from tests.unit.refine.harbour import SEWAGE, searcher
from tests.unit.refine.test_feedback import opened

ASKED = "Who paid for the new lock?"
STRANGE = "What is the boiling point of tungsten under reduced pressure?"


def test_what_is_not_in_a_document_is_told_from_what_is(tmp_path: Path) -> None:
    with opened(tmp_path) as workspace:
        document = workspace.document("harbour")
        there, not_there = document.search(ASKED).absent, document.search(STRANGE).absent
        assert there is not None
        assert not_there is not None
        assert there < 0.5 < not_there


def test_a_preset_that_was_not_fitted_has_no_opinion(tmp_path: Path) -> None:
    with opened(tmp_path, FAST) as workspace:
        assert workspace.document("harbour").search(STRANGE).absent is None


def test_what_is_expected_does_not_depend_on_how_many_hits_are_asked_for(tmp_path: Path) -> None:
    with opened(tmp_path) as workspace:
        document = workspace.document("harbour")
        one, five, ten = (document.search(STRANGE, k=k) for k in (1, 5, 10))
        assert one.absent == five.absent == ten.absent is not None
        assert one.hits == ten.hits[:1]


def test_a_patch_cannot_talk_the_critic_into_keeping_it() -> None:
    """Suff is the evaluator's word on raw text: the critic, which reads prices, has no say."""
    scoring = searcher().scoring(SEWAGE)
    ranking = scoring.ranking(3)
    certain = Logistic((0.0,) * len(FEATURES), (1.0,) * len(FEATURES), (0.0,) * len(FEATURES), -9.0)
    known = Calibrations((CriticCalibration(ranking.preset, ANY_GENRE, certain, certain, 1),))
    nothing = Evaluator(lambda _query, segments: [0.0] * len(segments), k=3)
    critic = CalibratedCritic(nothing, "plain", known)
    episode = Episode("harbour", SEWAGE)
    assert critic(episode, scoring, ranking).accepted
    assert not nothing.signals(episode, ranking, scoring.document.segments).sufficient


def test_gold_decides_over_what_was_fitted() -> None:
    scoring = searcher().scoring(SEWAGE)
    ranking = scoring.ranking(3)
    sure = Logistic((0.0,) * len(FEATURES), (1.0,) * len(FEATURES), (0.0,) * len(FEATURES), 9.0)
    known = Calibrations((CriticCalibration(ranking.preset, ANY_GENRE, sure, sure, 1),))
    critic = CalibratedCritic(Evaluator(lambda _q, s: [0.0] * len(s), k=3), "plain", known)
    first = Episode("harbour", SEWAGE, (ranking.hits[0].segment,))
    assert critic(first, scoring, ranking).accepted


@pytest.mark.parametrize(("segments", "k"), [(1, 3), (9, 3), (12, 3), (13, 4), (39, 10), (900, 10)])
def test_the_critic_looks_at_a_quarter_of_a_small_document(segments: int, k: int) -> None:
    assert reach_of(segments) == k


def test_what_ships_has_one_number_for_each_feature() -> None:
    known = packaged_calibrations()
    assert {ALIGNED.name, DEFAULT_PRESET.name} <= {one.preset for one in known.fitted}
    for one in known.fitted:
        for model in (one.absent, one.missed):
            assert len(model.weights) == len(model.means) == len(model.scales) == len(FEATURES)
    assert from_json(Calibrations, to_json(known)) == known


def test_features_are_numbers_for_any_preset() -> None:
    ranking = searcher().scoring(SEWAGE).ranking(3)
    assert len(features(ranking)) == len(FEATURES)
    assert sufficiency(ranking, "plain") is None


def test_the_critic_was_fitted_to_the_models_that_ship() -> None:
    """A model that is replaced makes it a stranger's opinion: fit it again (tools.fit_critic)."""
    fitted = packaged_calibrations().models
    assert fitted == {
        "aligner": default_aligner().fingerprint,
        "judge": default_judge().fingerprint,
    }
