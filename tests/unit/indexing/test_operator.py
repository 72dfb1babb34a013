from itertools import permutations

import pytest

from abstrag.errors import ChainError
from abstrag.indexing.operator import Chain
from abstrag.indexing.pipeline import standard_chain
from abstrag.model.background import Background, EventRule

OPERATORS = standard_chain().operators


def test_the_standard_chain_has_the_papers_order() -> None:
    assert repr(standard_chain()) == (
        "segment >> resolve_coreference >> normalize_entities >> normalize_times >> "
        "lift_context >> abstract_concepts >> abstract_events >> build_map"
    )


def test_any_other_order_is_refused_when_the_chain_is_built() -> None:
    accepted = 0
    for order in permutations(OPERATORS):
        try:
            Chain(*order)
        except ChainError:
            continue
        accepted += 1
        assert order == OPERATORS
    assert accepted == 1


def test_an_operator_cannot_run_twice() -> None:
    with pytest.raises(ChainError, match="'segment' would run twice"):
        Chain(OPERATORS[0], OPERATORS[0])


def test_a_missing_predecessor_is_named() -> None:
    with pytest.raises(ChainError, match="'build_map' needs the layer 'events'"):
        Chain(*OPERATORS[:3]) >> OPERATORS[-1]


def test_only_zero_cost_operators_call_themselves_conservative() -> None:
    assert [op.name for op in OPERATORS if op.conservative] == [
        "segment",
        "resolve_coreference",
        "normalize_entities",
        "normalize_times",
    ]


def test_a_fingerprint_changes_for_the_operator_that_changed_and_those_after_it() -> None:
    rule = EventRule("visit", "collaboration")
    before = standard_chain().fingerprints()
    after = standard_chain(Background(events=(rule,))).fingerprints()
    assert before[:6] == after[:6]
    assert before[6] != after[6]
    assert before[7] != after[7]
