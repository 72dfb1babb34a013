"""The verdict model: three probabilities for a claim and its evidence."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from abstrag.errors import InputError, ResourceMissing
from abstrag.model.record import to_json
from abstrag.neural.bundle import MANIFEST, Bundle, Deciding
from abstrag.neural.verdict import VerdictModel, VerdictProbabilities
from tests.unit.neural import tiny


@pytest.fixture
def model(verdict_folder: Path) -> VerdictModel:
    return VerdictModel.load(verdict_folder, threads=1)


def resettled(folder: Path, **settings: object) -> VerdictModel:
    """Return the model of a folder under other settings."""
    bundle = Bundle.open(folder)
    deciding = replace(bundle.manifest.deciding or Deciding(), **settings)  # type: ignore[arg-type]
    text = to_json(replace(bundle.manifest, deciding=deciding))
    (folder / MANIFEST).write_text(text, "utf-8")
    return VerdictModel.load(folder, threads=1)


def test_a_verdict_is_the_softmax_of_the_network(model: VerdictModel) -> None:
    weights = {**tiny.tensors(), **tiny.head("tanh", 3)}
    words = ("[CLS]", "a", "dog", "[SEP]", "hound", ".", "[SEP]", "a", "[SEP]")
    logits = tiny.logits(weights, [tiny.WORDS.index(w) for w in words], [0] * 4 + [1] * 5)
    odds = np.exp(logits / 2.0)  # the temperature
    assert model("a dog", ["hound .", "a"]) == pytest.approx(odds / odds.sum(), abs=1e-5)
    assert sum(model("a dog", ["hound .", "a"])) == pytest.approx(1)


def test_without_words_there_is_not_enough(model: VerdictModel) -> None:
    for claim, evidence in (("", ["a dog"]), ("a dog", []), ("a dog", ["", " "])):
        assert model(claim, evidence) == VerdictProbabilities(0.0, 0.0, 1.0)


def test_of_a_long_piece_the_beginning_is_read_and_the_others_still_count(
    verdict_folder: Path,
) -> None:
    brief = resettled(verdict_folder, piece_tokens=2)
    assert brief("a", ["dog . hound bark", "bark"]) == brief("a", ["dog .", "bark"])
    assert brief("a", ["dog . hound bark", "bark"]) != brief("a", ["dog . hound bark", "hound"])


def test_evidence_too_long_for_one_reading_is_read_as_far_as_it_fits(model: VerdictModel) -> None:
    pieces = ["dog . hound"] * tiny.POSITIONS
    assert model("a", pieces) == model("a", [*pieces, "bark"])


def test_it_says_when_to_stay_silent_and_what_it_is(model: VerdictModel) -> None:
    assert model.threshold == 0.6
    assert model.max_tokens == tiny.POSITIONS
    assert repr(model) == f"VerdictModel({model.fingerprint!r})"
    assert model.fingerprint.startswith("tiny-verdict:")


def test_one_string_is_not_taken_for_its_letters(model: VerdictModel) -> None:
    with pytest.raises(InputError, match="got one string"):
        model("a", "dog")


def test_a_model_that_cannot_decide_is_refused(verdict_folder: Path, judge_folder: Path) -> None:
    with pytest.raises(InputError, match="is for the task 'judge', not 'verdict'"):
        VerdictModel.load(judge_folder)
    manifest = replace(Bundle.open(verdict_folder).manifest, deciding=None)
    (verdict_folder / MANIFEST).write_text(to_json(manifest), "utf-8")
    with pytest.raises(ResourceMissing, match="how to read the verdict"):
        VerdictModel.load(verdict_folder)
