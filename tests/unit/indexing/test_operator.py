from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import pytest

from abstrag.errors import ChainError
from abstrag.indexing.operator import Chain, IndexDraft, Layer, Operator
from abstrag.indexing.pipeline import standard_chain
from abstrag.model.background import Background, EventRule

OPERATORS = standard_chain().operators


def test_the_standard_chain_has_the_papers_order() -> None:
    papers = (
        "segment >> resolve_coreference >> normalize_entities >> normalize_times >> "
        "lift_context >> abstract_concepts >> abstract_events >> build_map"
    )
    own = set(papers.split(" >> "))
    assert " >> ".join(op.name for op in OPERATORS if op.name in own) == papers
    assert repr(standard_chain()) == " >> ".join(op.name for op in OPERATORS)


def accepted(order: tuple[Operator, ...] = ()) -> Iterator[tuple[Operator, ...]]:
    """Go through the orders of all operators that a chain accepts, from a beginning on."""
    if len(order) == len(OPERATORS):
        yield order
    for op in OPERATORS:
        try:
            Chain(*order, op)
        except ChainError:
            continue
        yield from accepted((*order, op))


def test_any_other_order_is_refused_when_the_chain_is_built() -> None:
    assert list(accepted()) == [OPERATORS]


@dataclass(frozen=True)
class MakeAtOnce:
    """Makes a map of nothing, so that something may be put after it."""

    name: ClassVar[str] = "make_at_once"
    requires: ClassVar[Layer | None] = None
    provides: ClassVar[Layer] = Layer.MAP
    conservative: ClassVar[bool] = False
    version: ClassVar[int] = 1

    def __call__(self, draft: IndexDraft) -> IndexDraft:
        return draft


def test_nothing_may_come_after_the_map() -> None:
    with pytest.raises(ChainError, match="'segment' comes after the map"):
        Chain(MakeAtOnce(), OPERATORS[0])


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
