"""The map over HTTP: looked at, edited by hand, and the ranking that follows."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstrag.engine.library import Library
from abstrag.stores.sqlite import SqliteStore
from abstrag.workspace.tour import DEMO_SENTENCE, demo_document
from tests.unit.server.running import Client, running

AT = "/api/documents/chips"
QUERY = "chip suppliers"
EDGE = {
    "source": "entity:tsmc",
    "target": "concept:chip supplier",
    "relation": "implies",
    "family": "concept",
}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with SqliteStore.open(tmp_path / "store.db") as store:
        Library(store).index_document(demo_document())  # no Background: nothing knows TSMC's class
    with running(tmp_path / "store.db") as made:
        yield made


def relevance(client: Client, **more: Any) -> float:
    """Return what the sentence about the visit scores."""
    shown = client.get(AT).data["segments"]
    segment = next(s["id"] for s in shown if s["text"] == DEMO_SENTENCE)
    found = client.post(f"{AT}/search", {"query": QUERY, "k": 50, "judge": False, **more}).data
    return next((h["relevance"] for h in found["hits"] if h["segment"] == segment), 0.0)


def test_the_map_is_shown_around_a_term(client: Client) -> None:
    shown = client.get(f"{AT}/map?term=anthropic&limit=50").data
    names = {term["id"] for term in shown["terms"]}
    assert "entity:anthropic" in names
    assert all({edge["source"], edge["target"]} <= names for edge in shown["edges"])
    assert shown["edges"]
    named = {term["id"] for term in shown["terms"] if "anthropic" in term["label"].casefold()}
    assert all(named & {edge["source"], edge["target"]} for edge in shown["edges"])
    whole = client.get(f"{AT}/map?limit=7").data
    assert len(whole["edges"]) == 7 < whole["edges_total"]
    anthropic = client.get(f"{AT}/terms/entity:anthropic").data
    assert "Anthropic PBC" in anthropic["aliases"]
    assert anthropic["mentions"]
    assert client.get(f"{AT}/terms/entity:nobody").status == 404


def test_an_added_edge_lifts_what_it_reaches_and_taking_it_back_lowers_it(client: Client) -> None:
    before = relevance(client)
    added = client.post(f"{AT}/edges", EDGE)
    assert added.status == 201
    assert added.data["licence"] == {
        "kind": "background",
        "reference": "added by hand",
        "span": None,
    }
    assert added.data["cost"] == 0.65
    assert relevance(client) > before
    edits = client.get(f"{AT}/edits").data
    assert [edge["id"] for edge in edits["edges"]] == [added.data["id"]]
    assert client.call("DELETE", f"{AT}/edges/{added.data['id']}").status == 204
    assert client.get(f"{AT}/edits").data == {"edges": [], "removed": []}
    assert relevance(client) == before


def test_an_edge_can_be_tried_out_without_adding_it(client: Client) -> None:
    before = relevance(client)
    assert relevance(client, edges=[{**EDGE, "weight": 0, "distance": 0}]) > before
    assert relevance(client) == before
    assert client.get(f"{AT}/edits").data["edges"] == []


def test_a_hidden_edge_is_gone_from_map_and_search_until_all_is_undone(client: Client) -> None:
    edges = client.get(f"{AT}/map?term=anthropic").data["edges"]
    alias = next(e for e in edges if e["family"] == "expression")
    assert client.call("DELETE", f"{AT}/edges/{alias['id']}").status == 204
    left = client.get(f"{AT}/map?term=anthropic").data["edges"]
    assert alias["id"] not in {edge["id"] for edge in left}
    (removed,) = client.get(f"{AT}/edits").data["removed"]
    assert removed["id"] == alias["id"]
    assert client.call("DELETE", f"{AT}/edits").status == 204
    assert client.get(f"{AT}/map?term=anthropic").data["edges"] == edges


def test_edits_outlive_the_server(tmp_path: Path, client: Client) -> None:
    client.post(f"{AT}/edges", EDGE)
    with running(tmp_path / "store.db") as other:
        assert len(other.get(f"{AT}/edits").data["edges"]) == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"source": "no such thing"}, "'chips' has no terms called 'no such thing'"),
        ({"target": "entity:tsmc"}, "an edge from 'entity:tsmc' to itself says nothing"),
        ({"family": "context"}, "an edge of the family 'context' cannot be added"),
        ({"family": "friendship"}, "family: "),
        ({"weight": -1}, "weight: "),
        ({"truth_preserving": True}, "truth_preserving: "),
    ],
)
def test_an_edge_that_cannot_be_is_refused(
    client: Client, change: dict[str, Any], says: str
) -> None:
    refused = client.post(f"{AT}/edges", {**EDGE, **change})
    assert refused.status == 422
    assert refused.data["error"].startswith(says)


def test_an_edge_nobody_knows_cannot_be_hidden(client: Client) -> None:
    assert client.call("DELETE", f"{AT}/edges/0123456789ab").status == 422
    assert client.get(f"{AT}/edits").data == {"edges": [], "removed": []}
