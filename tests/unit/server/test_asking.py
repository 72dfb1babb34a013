"""Answers in words over HTTP: written by a model where there is one, and its failures told."""

import json
import re
from pathlib import Path
from typing import Any

from abstrag.errors import ModelUnreachable
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.llm.scripted import ScriptedModel
from abstrag.model.record import to_data
from abstrag.server.routes.shared import asked_options
from abstrag.server.settings import ServerSettings
from abstrag.server.studio import Studio
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.tour import DEMO_SENTENCE
from abstrag.workspace.workspace import Workspace
from tests.unit.cli.model_server import QUERY_SIDE
from tests.unit.server.running import Client, running, store_with_demo

ASK = "/api/documents/chips/ask"
WRITTEN = "Anthropic's CTO went to see TSMC."


def models(reply: Any) -> Models:
    return Models.of(ScriptedModel({**QUERY_SIDE, "answer": reply, "entailment": judged}))


def judged(request: ModelRequest) -> Any:
    """Say of every segment that it meets all conditions, as a model would."""
    asked = request.user
    names = sorted(set(re.findall(r"\bs\d+\b", asked)))
    labels = sorted(set(re.findall(r"\bq\d+\b", asked)))
    literals = [{"literal": label, "met": "yes"} for label in labels]
    return {"judgements": [{"segment": n, "literals": literals} for n in names]}


def events(client: Client) -> list[dict[str, Any]]:
    answer = client.post(ASK, {"question": "Who visited TSMC?"})
    assert answer.status == 200, answer.body
    return [json.loads(e.removeprefix(b"data: ")) for e in answer.body.split(b"\n\n") if e]


def test_a_model_writes_and_its_quotations_are_checked(tmp_path: Path) -> None:
    cited = [{"number": 1, "quote": DEMO_SENTENCE}]
    reply = {
        "status": "answered",
        "sentences": [
            {"text": WRITTEN, "citations": cited},
            {"text": "They signed.", "citations": [{"number": 1, "quote": "They signed a deal."}]},
        ],
        "missing": [],
    }
    with running(store_with_demo(tmp_path / "store.db"), models=models(reply)) as client:
        assert client.get("/api/health").data["model"] == "scripted"
        told = events(client)
    texts = [event for event in told if event["type"] == "text"]
    assert [event["text"] for event in texts] == [WRITTEN, "They signed."]
    assert "doubt" not in texts[0]
    assert texts[1]["doubt"]  # nobody finds those words in the document
    (citation,) = [event["citation"] for event in told if event["type"] == "citation"]
    assert citation["quote"] == DEMO_SENTENCE
    assert told[-1]["type"] == "done"
    assert told[-1]["answer"]["mode"] == "generated"


def test_a_model_that_cannot_be_reached_is_said_to_be(tmp_path: Path) -> None:
    failure = ModelUnreachable("the endpoint does not answer", hint="start it")
    with running(store_with_demo(tmp_path / "store.db"), models=models(failure)) as client:
        refused = client.post(ASK, {"question": "Who visited TSMC?"})
        assert (refused.status, refused.data["kind"]) == (503, "ModelUnreachable")
        assert refused.data["hint"] == "start it"
        assert client.alive()


def test_a_model_reads_and_judges_as_it_does_on_the_command_line(tmp_path: Path) -> None:
    store, said = store_with_demo(tmp_path / "store.db"), models({})
    asked = {"query": "Who visited TSMC?", "k": 3}
    with running(store, models=said) as client:
        assert client.get("/api/health").data["judge"] is True
        found = client.post("/api/documents/chips/search", asked).data
        client.post("/api/documents/chips/budget", {"query": asked["query"]})
    found.pop("ms")
    found.pop("weighing")
    assert found["preset"] == "general"
    assert found["hits"][0]["judgement"] == 1.0
    reader = said[CallRole.INDEX]
    assert isinstance(reader, ScriptedModel)
    assert {r.stage for r in reader.requests} == {"normalize_query", "expand_query", "entailment"}
    with Workspace(WorkspaceConfig(store), models=models({})) as workspace:
        direct = workspace.document("chips").search("Who visited TSMC?", k=3)
    assert found == to_data(direct)


def test_what_a_language_model_reads_waits_in_the_line_of_the_judge(tmp_path: Path) -> None:
    with Workspace(WorkspaceConfig(tmp_path / "store.db"), models=models({})) as workspace:
        studio = Studio(ServerSettings(), workspace)
        unjudged = asked_options(workspace, judge=False)
        assert studio.reading is studio.ranking(unjudged) is studio.judging
        studio.close()
    with Workspace(WorkspaceConfig(tmp_path / "store.db")) as workspace:
        studio = Studio(ServerSettings(), workspace)
        assert studio.reading is studio.ranking(asked_options(workspace, judge=False))
        assert studio.reading is studio.searching
        assert studio.ranking(asked_options(workspace)) is studio.judging
        studio.close()
