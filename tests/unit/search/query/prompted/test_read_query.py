"""NormQuery and Expand_τ in one call: the same reading, the same edges, half the calls."""

from datetime import date
from typing import Any

from abstrag.config import TAU
from abstrag.engine.prompting import PromptedReader
from abstrag.engine.searcher import Searcher
from abstrag.llm.model import CallRole
from abstrag.llm.prompt import Prompt
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.query import Query
from abstrag.policy.load import load_program
from abstrag.search.query.normalize import normalize
from abstrag.search.query.prompted.expand import ExpandQuery
from abstrag.search.query.prompted.normalize import NormalizeQuery
from abstrag.search.query.prompted.read import ReadQuery
from abstrag.search.relevance import DEFAULT_PRESET
from abstrag.workspace.tour import demo_index
from tests.unit.search.query.prompted.test_expand_query import QUERY, Near, vocabulary

TEXT = QUERY.text
DAY = date(2020, 5, 1)
MARKS = {
    "literals": [
        {"kind": "event", "quote": "partnerships", "negated": False, "slots": ["who"]},
        {"kind": "concept", "quote": "weather", "negated": False, "slots": []},
    ],
    "answer_type": "event",
}


def asking(stage: str, reply: dict[str, Any]) -> tuple[Prompt, ScriptedModel]:
    model = ScriptedModel({stage: reply})
    return Prompt(load_program(stage), model, CallRole.INDEX), model


def clauses(own: Query) -> dict[str, Any]:
    label = [one.label.casefold() for one in own.literals].index("antropic")
    said = {"source": "anthropic", "operator": "alias", "confidence": 90}
    free = {"source": "no such term", "operator": "alias", "confidence": 90}
    name = f"q{label + 1}"
    return {"clauses": [{"edges": [{"literal": name, **one}]} for one in (said, free)]}


def test_both_halves_of_a_reply_are_read_as_those_of_two_calls() -> None:
    own = QUERY
    prompt, model = asking("read_query", {**MARKS, **clauses(own)})
    both = ReadQuery(prompt, Near())
    reading = both(own, vocabulary(), today=DAY)
    edges = both.proposed(reading, tau=TAU)
    assert model.calls == 1

    normalizer = NormalizeQuery(asking("normalize_query", MARKS)[0])
    alone = normalizer(own.text, vocabulary(), today=DAY, own=own)
    assert reading.normalized.query == alone.query
    assert reading.normalized.dropped == alone.dropped == 1  # the query says nothing of weather
    expand = ExpandQuery(asking("expand_query", clauses(own))[0], Near())
    apart = expand(own, vocabulary(), tau=TAU)
    assert [(e.source, e.target, e.units) for e in edges.edges] == [
        (e.source, e.target, e.units) for e in apart.edges
    ]
    assert edges.edges
    assert edges.dropped == apart.dropped == 1


def test_a_budget_of_nothing_leaves_no_proposal() -> None:
    own = QUERY
    both = ReadQuery(asking("read_query", {**MARKS, **clauses(own)})[0], Near())
    assert both.proposed(both(own, vocabulary(), today=DAY), tau=0.0).edges == ()


def test_a_search_asks_once_about_a_query_however_often_it_is_put() -> None:
    own = normalize(TEXT, vocabulary(), today=DAY)
    prompt, model = asking("read_query", {**MARKS, **clauses(own)})
    reader = PromptedReader(None, None, together=ReadQuery(prompt, Near()))
    searcher = Searcher(demo_index(), preset=DEFAULT_PRESET, reader=reader)
    first = searcher.search(TEXT)
    assert searcher.search(TEXT, tau=0.5).query == first.query
    assert model.calls == 1
    assert "1 of the model's conditions" in searcher.notes[0]


def test_a_question_about_the_whole_document_stays_as_the_rules_read_it() -> None:
    text = "What is this document about?"
    nothing = {"literals": [], "answer_type": "", "clauses": []}
    prompt, _ = asking("read_query", nothing)
    reader = PromptedReader(None, None, together=ReadQuery(prompt, Near()))
    read = Searcher(demo_index(), preset=DEFAULT_PRESET, reader=reader).normalize(text, today=DAY)
    local = Searcher(demo_index(), preset=DEFAULT_PRESET).normalize(text, today=DAY)
    assert read == local
    assert read.topic  # what the title names
