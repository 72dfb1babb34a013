"""Asking over HTTP: the same answers as the engine gives, in the shapes the page expects."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache

from abstrag.engine.searcher import Searcher
from abstrag.model.record import to_data
from abstrag.search.relevance import DEFAULT_PRESET
from abstrag.workspace.tour import DEMO_QUERY, DEMO_SENTENCE, demo_index
from tests.unit.server.running import Client

AT = "/api/documents/chips"


@cache
def searcher() -> Searcher:
    return Searcher(demo_index(), preset=DEFAULT_PRESET)


def sentence_id() -> str:
    return next(s.id for s in searcher().index.segments if s.text == DEMO_SENTENCE)


def test_health_says_what_is_there(studio: Client) -> None:
    said = studio.get("/api/health").data
    assert said["documents"] == 1
    assert (said["judge"], said["model"]) == (True, None)


def test_documents_are_listed_with_what_can_be_shown(studio: Client) -> None:
    (info,) = studio.get("/api/documents").data
    assert (info["id"], info["pages"], info["has_pdf"]) == ("chips", None, False)


def test_a_document_is_shown_with_spans_that_fit(studio: Client) -> None:
    shown = studio.get(AT).data
    text = searcher().index.document.text
    segment = next(s for s in shown["segments"] if s["text"] == DEMO_SENTENCE)
    assert text[segment["span"]["start"] : segment["span"]["end"]] == DEMO_SENTENCE
    assert shown["blocks"][segment["block"]]["kind"] == "paragraph"


def test_search_gives_what_the_engine_gives(studio: Client) -> None:
    found = studio.post(f"{AT}/search", {"query": DEMO_QUERY, "k": 3}).data
    assert found.pop("ms") >= 0
    assert found.pop("weighing") == {"match_power": 1.0, "utility_power": 0.3, "gap_rate": 0.6}
    assert 0 < found.pop("absent") < 0.5  # what a critic says of the whole; a searcher asks none
    ranked = to_data(searcher().search(DEMO_QUERY, k=3))
    assert ranked.pop("absent") is None
    assert found == ranked


def test_explain_why_not_and_budget_give_what_the_engine_gives(studio: Client) -> None:
    segment = sentence_id()
    asked = {"query": DEMO_QUERY, "segment": segment}
    explained = studio.post(f"{AT}/explain", asked).data
    assert explained == to_data(searcher().explain(DEMO_QUERY, segment))
    missed = studio.post(f"{AT}/why-not", {**asked, "k": 1}).data
    assert missed == to_data(searcher().why_not(DEMO_QUERY, segment=segment, k=1))
    curve = studio.post(f"{AT}/budget", {"query": DEMO_QUERY}).data
    assert curve == to_data(searcher().budget(DEMO_QUERY))


def test_a_sweep_has_the_ranking_of_every_budget(studio: Client) -> None:
    swept = studio.post(f"{AT}/sweep", {"query": DEMO_QUERY, "k": 5}).data
    assert (swept["taus"][0], swept["taus"][-1], len(swept["taus"])) == (0.0, 4.0, 41)
    for tau, rows in zip(swept["taus"], swept["rankings"], strict=True):
        hits = searcher().search(DEMO_QUERY, k=5, tau=tau).hits
        assert [(row["segment"], row["relevance"]) for row in rows] == [
            (hit.segment, hit.relevance) for hit in hits
        ]
    assert len({tuple(row["segment"] for row in rows) for rows in swept["rankings"]}) > 1


def test_everybody_is_compared_over_the_same_segments(studio: Client) -> None:
    systems = studio.post(f"{AT}/compare", {"query": DEMO_QUERY, "k": 4}).data["systems"]
    assert list(systems) == ["abstrag", "bm25", "dense"]
    known = {segment.id for segment in searcher().index.segments}
    for hits in systems.values():
        assert 0 < len(hits) <= 4
        assert {hit["segment"] for hit in hits} <= known
        assert hits == sorted(hits, key=lambda hit: -hit["score"])


def test_threads_that_ask_at_once_get_what_one_gets_alone(studio: Client) -> None:
    queries = [DEMO_QUERY, "Who visited TSMC?", "chip shortage in 2023", "What did Anthropic say?"]
    alone = {q: to_data(searcher().search(q, k=4)) for q in queries}

    def ask(query: str) -> object:
        found = studio.post(f"{AT}/search", {"query": query, "k": 4}).data
        found.pop("ms")
        found.pop("weighing")
        found["absent"] = None  # what a critic says of the whole, which a searcher does not ask
        return found

    with ThreadPoolExecutor(8) as pool:
        for query, found in zip(queries * 8, pool.map(ask, queries * 8), strict=True):
            assert found == alone[query]


def test_an_answer_comes_as_events_with_verified_quotes(studio: Client) -> None:
    answer = studio.post(f"{AT}/ask", {"question": "Who visited TSMC?"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = [line for line in answer.body.split(b"\n\n") if line]
    assert all(event.startswith(b"data: {") for event in events)
    assert b'"type":"done"' in events[-1]
    assert studio.post("/api/documents/nothing/ask", {"question": "Who?"}).status == 404


def test_errors_have_one_form(studio: Client) -> None:
    unknown = studio.post("/api/documents/nothing/search", {"query": "x"})
    assert unknown.status == 404
    assert unknown.data == {
        "error": "the store holds no document 'nothing'",
        "hint": "the store holds 'chips'",
        "kind": "UnknownDocument",
    }
    for body, field in [
        ({}, "query"),
        ({"query": ""}, "query"),
        ({"query": "x", "k": 0}, "k"),
        ({"query": "x", "tau": 4.5}, "tau"),
        ({"query": "x", "surprise": 1}, "surprise"),
    ]:
        refused = studio.post(f"{AT}/search", body)
        assert (refused.status, refused.data["kind"]) == (422, "InputError")
        assert refused.data["error"].startswith(f"{field}: ")
    assert studio.post(f"{AT}/search", {"query": "x", "preset": "no"}).status == 422
    assert studio.post(f"{AT}/explain", {"query": "chip", "segment": "s999"}).status == 422
    nowhere = studio.get("/api/nowhere")
    assert (nowhere.status, set(nowhere.data)) == (404, {"error", "hint", "kind"})
    text = studio.call(
        "POST", f"{AT}/search", body=b'{"query": "x"}', headers={"Content-Type": "text/plain"}
    )
    assert (text.status, text.data["kind"]) == (415, "WrongType")


def test_the_api_is_described_without_loading_anything_from_elsewhere(studio: Client) -> None:
    described = studio.get("/openapi.json").data
    assert "/api/documents/{document}/search" in described["paths"]
    assert "TimedRanking" in described["components"]["schemas"]
    assert studio.get("/docs").status == 404
