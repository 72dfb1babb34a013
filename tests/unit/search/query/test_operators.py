"""The six query operators: what each offers, what it costs, and that it can be left out."""

from functools import cache

import pytest

from abstrag.engine.searcher import Searcher
from abstrag.errors import InputError
from abstrag.model.term import Edge, Family, Interval, Licence, LicenceKind, Relation
from abstrag.search.query.operators import (
    OPERATORS,
    ExpandAlias,
    ExpandSynonym,
    ExpandTime,
    admitted,
    interval_of,
    standard_operators,
    time_id,
)
from abstrag.search.query.vocabulary import Vocabulary
from abstrag.search.relevance import FAST
from abstrag.workspace.tour import DEMO_QUERY, DEMO_SENTENCE, demo_index


@cache
def vocabulary() -> Vocabulary:
    return Vocabulary.of(demo_index())


def test_every_operator_has_its_name_and_the_first_six_are_the_papers() -> None:
    assert tuple(op.name for op in standard_operators(vocabulary())) == OPERATORS
    assert OPERATORS[:6] == ("alias", "synonym", "hypernym", "role", "event", "time")


def test_every_costed_edge_of_the_map_belongs_to_exactly_one_operator() -> None:
    operators = standard_operators(vocabulary())
    for edge in demo_index().map.edges:
        if not edge.truth_preserving:
            assert sum(op.admits(edge) for op in operators) == 1, edge


def test_without_operators_only_premises_are_left() -> None:
    edges = admitted(demo_index().map.edges, ())
    assert edges
    assert all(e.truth_preserving for e in edges)


def test_a_misspelt_name_is_a_guess_that_pays() -> None:
    (edge,) = ExpandAlias({"anthropic": "entity:anthropic"}).edges_into("entity:antropic")
    assert (edge.source, edge.family) == ("entity:anthropic", Family.EXPRESSION)
    assert edge.cost == pytest.approx(0.35 + 1 / 9 + 0.05, abs=1e-4)


def test_initials_find_the_long_name() -> None:
    names = {"world health organization": "entity:world health organization"}
    (edge,) = ExpandAlias(names).edges_into("entity:who")
    assert edge.source == "entity:world health organization"
    assert 0.35 < edge.cost <= 1.5


@pytest.mark.parametrize("term", ["entity:tsmc", "entity:ab", "concept:antropic"])
def test_names_that_are_known_short_or_no_names_get_no_guesses(term: str) -> None:
    names = {"tsmc": "entity:tsmc", "ac": "entity:ac", "anthropic": "entity:anthropic"}
    assert not list(ExpandAlias(names).edges_into(term))


def test_words_of_one_root_are_offered_when_the_document_has_them() -> None:
    offer = ExpandSynonym(frozenset({"concept:economy", "event:marriage"}))
    (edge,) = offer.edges_into("concept:economic")
    assert edge.source == "concept:economy"
    assert edge.cost == pytest.approx(0.95)
    assert not list(ExpandSynonym(frozenset()).edges_into("concept:economic"))


def test_a_time_that_overlaps_pays_for_what_lies_outside() -> None:
    asked = time_id(Interval("2024-01-01", "2024-12-31"))
    times = {
        "time:2023-01-01/2024-12-31": Interval("2023-01-01", "2024-12-31"),
        "time:2024-05-14": Interval("2024-05-14", "2024-05-14"),
        "time:1999-01-01/1999-12-31": Interval("1999-01-01", "1999-12-31"),
    }
    (edge,) = ExpandTime(times).edges_into(asked)
    assert edge.source == "time:2023-01-01/2024-12-31"
    assert edge.cost == pytest.approx(0.35 + 365 / 731, abs=1e-3)


def test_a_period_of_the_same_length_that_only_half_overlaps_is_another_one() -> None:
    times = {"time:2015-01-01/2016-12-31": Interval("2015-01-01", "2016-12-31")}
    asked = time_id(Interval("2016-01-01", "2017-12-31"))
    assert not list(ExpandTime(times).edges_into(asked))


def test_a_time_id_reads_back() -> None:
    for interval in (Interval("2024-05-14", "2024-05-14"), Interval("2024-01-01", "2024-12-31")):
        assert interval_of(time_id(interval)) == interval
    assert interval_of("concept:time") is None


def test_leaving_the_event_operator_out_loses_the_visit() -> None:
    whole = Searcher(demo_index(), preset=FAST)
    without = Searcher(demo_index(), preset=FAST, without=frozenset({"event"}))
    best = next(h for h in whole.search(DEMO_QUERY, k=3).hits if h.quote == DEMO_SENTENCE)
    assert best.trace.reachable
    again = without.explain(DEMO_QUERY, best.segment)
    assert not again.trace.reachable
    assert again.gap > best.gap


def test_an_unknown_operator_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no query operator is called 'magic'"):
        Searcher(demo_index(), preset=FAST, without=frozenset({"magic"}))


def test_a_free_edge_is_admitted_whatever_its_family() -> None:
    edge = Edge(
        source="a",
        target="b",
        relation=Relation.IMPLIES,
        family=Family.EVENT,
        operator="x",
        weight=0.9,
        distance=0.0,
        truth_preserving=True,
        confidence=1.0,
        licence=Licence(LicenceKind.BACKGROUND, "x"),
    )
    assert admitted([edge], ()) == (edge,)
