"""Search, explanations and what-ifs agree with each other, because they share one scoring."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from abstrag.documents.text import load_text
from abstrag.engine.searcher import Searcher
from abstrag.errors import InputError, StoreError, UnknownDocument
from abstrag.indexing.pipeline import index as build_index
from abstrag.model.document import Genre
from abstrag.model.query import Query
from abstrag.model.ranking import Cause, Ranking, WhyNot
from abstrag.model.record import from_json, to_json
from abstrag.model.segment import Segment
from abstrag.neural.judge import SegmentJudge, default_judge
from abstrag.search.judging import NeighbourJudge
from abstrag.search.relevance import PRESETS, Preset
from abstrag.workspace.facade import AbstRAG
from abstrag.workspace.tour import (
    DEMO_QUERY,
    DEMO_SENTENCE,
    demo_background,
    demo_document,
    demo_index,
)

QUERIES = (
    DEMO_QUERY,
    "Who visited TSMC?",
    "Which companies were founded before 1990?",
    "executives of AI companies",
    "prices of accelerators in 2024",
)
PRESET_NAMES = tuple(PRESETS)


@cache
def searcher(preset: str = "smooth") -> Searcher:
    return Searcher(demo_index(), preset=PRESETS[preset])


def position(text: str) -> str:
    return next(s.id for s in searcher().index.segments if s.text == text)


def test_the_worked_example_has_the_worked_numbers() -> None:
    hit = searcher().search(DEMO_QUERY, k=1).hits[0]
    assert hit.quote == DEMO_SENTENCE
    assert hit.trace.bridge_cost == pytest.approx(1.10)
    assert hit.gap == pytest.approx(1.10)
    premises = [b for b in hit.trace.bridges if b.truth_preserving]
    assert {b.target for b in premises} == {"concept:llm company", "concept:chip supplier"}
    paid = {b.operator: b.cost for b in hit.trace.bridges if not b.truth_preserving}
    assert sum(paid.values()) == pytest.approx(1.10)
    assert paid["fill_slots"] == pytest.approx(0.20)


def test_without_the_background_the_trace_says_exactly_what_is_unmet() -> None:
    bare = Searcher(demo_index(with_background=False), preset=PRESETS["smooth"])
    hit = bare.explain(DEMO_QUERY, position(DEMO_SENTENCE))
    unmet = [t.literal.label for t in hit.trace.literals if not t.met]
    assert unmet == ["collaboration", "LLM company", "chip supplier"]
    assert not hit.trace.reachable


@pytest.mark.parametrize("preset", PRESET_NAMES)
@pytest.mark.parametrize("query", QUERIES)
def test_why_not_agrees_with_the_ranking_it_explains(query: str, preset: str) -> None:
    asked, k = searcher(preset), 3
    ranked = asked.search(query, k=len(asked.index.records))
    ranks = {hit.segment: n for n, hit in enumerate(ranked.hits, 1)}
    hits = {hit.segment: hit for hit in ranked.hits}
    for segment in asked.index.segments[::3]:
        answer = asked.why_not(query, segment=segment.id, k=k)
        assert answer.rank == ranks.get(segment.id)
        assert (answer.cause is Cause.FOUND) == (ranks.get(segment.id, k + 1) <= k)
        if answer.cause is Cause.FOUND:
            continue
        assert answer.hit is not None
        unmet = [t for t in answer.hit.trace.literals if not t.met]
        if answer.cause is Cause.OUTRANKED:
            assert not unmet
            assert answer.rival is not None
            assert ranks[answer.rival] <= k
            assert hits[answer.rival].relevance >= answer.hit.relevance
        elif answer.cause is Cause.OVER_TOGETHER:
            assert not unmet
            assert answer.by is not None
            assert answer.by > 0
        else:
            assert answer.literal in [t.literal.label for t in unmet]
        change = answer.counterfactual
        if change is not None:
            assert change.rank_after < (change.rank_before or len(asked.index.records) + 1)


def test_a_counterfactual_budget_does_what_it_says() -> None:
    answer = searcher().why_not(DEMO_QUERY, passage=DEMO_SENTENCE, k=1, tau=1.0)
    assert answer.cause is Cause.OVER_TAU
    assert answer.by == pytest.approx(0.10)
    assert answer.counterfactual is not None
    granted = answer.counterfactual.tau
    assert granted is not None
    hits = searcher().search(DEMO_QUERY, k=5, tau=granted).hits
    assert hits[answer.counterfactual.rank_after - 1].quote == DEMO_SENTENCE


@pytest.mark.parametrize(
    ("passage", "cause"),
    [
        ("words that nobody wrote", Cause.NOT_IN_DOCUMENT),
        ("A trip to Hsinchu", Cause.NOT_A_SEGMENT),
        (f"{DEMO_SENTENCE} Neither side said what was discussed.", Cause.NOT_A_SEGMENT),
        ("Neither side said what was discussed", Cause.NO_EDGE),  # but concepts stand over it
        ("The minister of economic affairs met farmers", Cause.NO_EDGE),
        (DEMO_SENTENCE, Cause.FOUND),
    ],
)
def test_a_passage_has_exactly_one_first_cause(passage: str, cause: Cause) -> None:
    assert searcher().why_not(DEMO_QUERY, passage=passage, k=3).cause is cause


def test_a_passage_without_a_number_has_no_counterpart_of_one() -> None:
    answer = searcher().why_not("a visit that cost $5 million", passage="Neither side said what")
    assert answer.cause is Cause.NO_COUNTERPART
    assert answer.detail == "it has no quantity that could stand for “$5 million”"


@pytest.mark.parametrize("query", QUERIES)
def test_a_segment_enters_at_the_budget_the_curve_says(query: str) -> None:
    curve = searcher().budget(query)
    for entry in curve.entries:
        assert searcher().explain(query, entry.segment, tau=entry.tau).trace.reachable
        if entry.tau > 0:
            below = searcher().explain(query, entry.segment, tau=entry.tau - 0.0001)
            assert not below.trace.reachable
    counts = [step.reachable for step in curve.steps]
    assert counts == sorted(counts)


def test_a_scope_keeps_other_sections_out() -> None:
    hits = searcher().search("factories in the trip to Hsinchu section", k=10).hits
    assert hits
    assert all(hit.section[-1] == "A trip to Hsinchu" for hit in hits)
    answer = searcher().why_not(
        "factories in the trip to Hsinchu section", passage="Samsung said its memory business"
    )
    assert answer.cause is Cause.OUT_OF_SCOPE


def test_results_survive_the_trip_through_json() -> None:
    ranking = searcher().search(DEMO_QUERY, k=3)
    assert from_json(Ranking, to_json(ranking)) == ranking
    answer = searcher().why_not(DEMO_QUERY, passage="Neither side said")
    assert from_json(WhyNot, to_json(answer)) == answer


def test_clauses_come_cheapest_first_and_the_query_itself_is_first() -> None:
    clauses = searcher().clauses(DEMO_QUERY, most=10)
    assert clauses[0].cost == 0
    assert clauses[0].terms == (None,) * 4
    assert [c.cost for c in clauses] == sorted(c.cost for c in clauses)


def test_lexical_similarity_has_a_say_in_match_and_meets_no_literal() -> None:
    blended = Searcher(demo_index(), preset=Preset("blend", lexical_weight=1.0))
    plain = searcher().search(DEMO_QUERY, k=1).hits[0]
    mixed = blended.explain(DEMO_QUERY, plain.segment)
    assert mixed.match < plain.match
    assert mixed.trace == plain.trace


def test_the_facade_indexes_asks_and_remembers(tmp_path: Path) -> None:
    file = tmp_path / "chips.md"
    file.write_text(demo_document().text)
    with AbstRAG(tmp_path / "store.db", background=demo_background()) as rag:
        rag.index(file)
        assert DEMO_SENTENCE in [h.quote for h in rag.search(DEMO_QUERY, k=3).hits]
        assert rag.explain(DEMO_QUERY, position(DEMO_SENTENCE)).trace.reachable
        assert rag.why_not(DEMO_QUERY, text=DEMO_SENTENCE).cause is Cause.FOUND
        assert rag.budget(DEMO_QUERY).covers is not None
    with AbstRAG(tmp_path / "store.db") as again:
        assert [d.id for d in again.documents()] == ["chips"]
        hits = again.search(DEMO_QUERY, document="chips", k=3).hits
        assert DEMO_SENTENCE in [h.quote for h in hits]


def test_the_facade_says_what_is_wrong(tmp_path: Path) -> None:
    with AbstRAG(tmp_path / "store.db") as rag:
        with pytest.raises(InputError, match="no document has been indexed yet"):
            rag.search("anything")
        with pytest.raises(UnknownDocument):
            rag.search("anything", document="nobody")
    with pytest.raises(InputError, match="no preset is called 'best'"):
        AbstRAG(tmp_path / "store.db", preset="best")
    (tmp_path / "broken.db").write_bytes(b"no store" * 50)
    with pytest.raises(StoreError):
        AbstRAG(tmp_path / "broken.db")


def test_two_files_of_one_name_are_two_documents(tmp_path: Path) -> None:
    for folder, text in (("a", "The duck swims in the lake."), ("b", "The goose flies south.")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "birds.txt").write_text(text)
    with AbstRAG(tmp_path / "store.db") as rag:
        first, second = (rag.index(tmp_path / f / "birds.txt").document.id for f in "ab")
        assert first != second
        for name, word in ((first, "duck"), (second, "goose")):
            (hit,) = rag.search(word, document=name).hits
            assert hit.document == name
            assert word in hit.quote


MEETING = """Ann: What shall the case of the remote control be made of?
Bob: Rubber.
Ann: Why is that?
Bob: People told us that they like it spongy.
Ann: Is it dear?
Bob: No, it costs less than wood.
Ann: Then let us turn to the budget for the next year.
Bob: It is fixed."""


def test_in_a_transcript_the_judge_hears_a_turn_among_those_around_it() -> None:
    index = build_index(load_text(MEETING.encode(), "meeting.txt"))
    meeting = Searcher(index, preset=PRESETS["general"])
    assert index.genre is Genre.TRANSCRIPT
    assert isinstance(meeting.judge, NeighbourJudge)
    asked = "What is the case of the remote control made of?"
    hit = meeting.explain(asked, "s2")
    own = default_judge()(meeting.normalize(asked), index.segments[:4])
    weights = [0.6, 1.0, 0.6, 0.36]
    assert hit.quote == "Bob: Rubber."
    assert hit.judgement == pytest.approx(np.average(own, weights=weights), abs=1e-9)
    assert "who has read the turns around it too" in meeting.explain(asked, "s8").reading


def test_a_judge_that_is_no_reader_of_passages_is_left_as_it_is() -> None:
    index = build_index(load_text(MEETING.encode(), "meeting.txt"))

    def own(query: Query, segments: Sequence[Segment]) -> list[float]:
        return [0.5] * len(segments)

    assert Searcher(index, preset=PRESETS["general"], judge=own).judge is own
    given = Searcher(index, preset=PRESETS["general"], judge=default_judge())
    assert isinstance(given.judge, NeighbourJudge)  # as the server gives it
    prose = build_index(load_text(b"Nobody speaks here. It is prose.", "prose.txt"))
    assert Searcher(prose, preset=PRESETS["general"]).judge is not None
    assert not isinstance(Searcher(prose, preset=PRESETS["general"]).judge, NeighbourJudge)


class Counting(SegmentJudge):
    """A judge who says 0.5 of everything, and keeps what it has read."""

    fingerprint = "counting"

    def __init__(self) -> None:
        self.read: set[str] = set()

    def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.read.update(passages)
        return [0.5] * len(passages)


def test_of_a_long_contract_the_judge_reads_as_much_as_of_anything_else_company_included() -> None:
    clause = (
        "The receiving party shall keep the confidential information number {} secret hereunder."
    )
    text = "\n\n".join(clause.format(1000 + i) for i in range(400))
    index = replace(build_index(load_text(text.encode(), "nda.txt")), genre=Genre.LEGAL)
    judge = Counting()
    found = Searcher(index, preset=PRESETS["general"], judge=judge).search(
        "information number 1200"
    )
    assert PRESETS["general"].judged is not None
    effort = len(judge.read) * 0.25  # of a paragraph: a clause is shorter than that
    assert PRESETS["general"].judged - 1 < effort <= PRESETS["general"].judged
    assert found.judgements < len(judge.read)
    assert all(hit.judgement == pytest.approx(0.5) for hit in found.hits)
    assert "who has read the clauses beside it too" in found.hits[0].reading
