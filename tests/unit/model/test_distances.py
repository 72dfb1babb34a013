from __future__ import annotations

import math

import pytest

from abstrag.errors import InputError
from abstrag.model.distances import (
    abstraction_distance,
    event_distance,
    expression_distance,
    intent_distance,
)


def test_expression_distance_is_the_edits_over_the_longer_surface() -> None:
    assert expression_distance("colour", "color", guessed=False) == pytest.approx(1 / 6)
    assert expression_distance("same", "same", guessed=False) == 0.0
    assert expression_distance("", "abc", guessed=False) == 1.0


def test_a_guessed_alias_pays_a_little_more() -> None:
    sure = expression_distance("TSMC", "Taiwan Semiconductor", guessed=False)
    assert expression_distance("TSMC", "Taiwan Semiconductor", guessed=True) == sure + 0.05


def test_a_taxonomy_is_asked_before_an_embedding_and_an_embedding_before_the_baseline() -> None:
    assert abstraction_distance(0.9, 0.2, one_way=False) == pytest.approx(0.1)
    assert abstraction_distance(None, 0.2, one_way=False) == pytest.approx(0.8)
    assert abstraction_distance(None, None, one_way=False) == pytest.approx(0.3)


def test_a_one_way_abstraction_pays_more() -> None:
    assert abstraction_distance(0.9, one_way=True) == pytest.approx(0.25)


def test_a_cosine_a_hair_over_one_is_no_distance() -> None:
    assert abstraction_distance(cosine=1.0000001, one_way=False) == 0.0


def test_intent_distance_is_the_surprisal() -> None:
    assert intent_distance(0.5, context_sensitive=False) == pytest.approx(math.log(2))
    assert intent_distance(1.0, context_sensitive=False) == 0.0


@pytest.mark.parametrize("probability", [0.0, 1e-300, 0.1])
def test_surprisal_is_capped(probability: float) -> None:
    assert intent_distance(probability, context_sensitive=False) == 2.0


def test_without_anyone_to_ask_the_intent_distance_is_a_baseline() -> None:
    assert intent_distance(context_sensitive=False) == pytest.approx(0.4)
    assert intent_distance(context_sensitive=True) == pytest.approx(0.6)


def test_slots_and_artifacts_add_up() -> None:
    assert event_distance(unfilled=1, coerced=2, artifact=True) == pytest.approx(0.6)
    assert event_distance(unfilled=0, coerced=0, artifact=False) == 0.0


@pytest.mark.parametrize("value", [-0.1, 1.5, math.nan])
def test_what_is_no_probability_is_refused(value: float) -> None:
    with pytest.raises(InputError, match="probability is"):
        intent_distance(value, context_sensitive=False)
    with pytest.raises(InputError, match="Wu–Palmer similarity is"):
        abstraction_distance(value, one_way=False)
