"""Whatever door you come in by, the same answer: segments, order, scores, factors and traces.

Ten questions are put to three documents and to all of them together, with the judge and without,
plainly, with a Background, under a patch that refinement kept and after an edit by hand. The
command line, HTTP, the tools for agents and the benchmark are compared with Python, digit by digit.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import anyio
import pytest
from click.testing import CliRunner
from mcp import Client as AgentClient

from abstrag.cli.main import cli
from abstrag.model.ranking import Hit, Ranking
from abstrag.model.record import to_data
from abstrag.search.relevance import DEFAULT_PRESET
from abstrag.server.mcp.server import mcp_server
from abstrag.server.mcp.toolbox import (
    Toolbox,
    collection_result,
    factors,
    search_result,
    set_result,
)
from abstrag.server.routes.shared import without_folder
from abstrag.workspace.asynchronous import AsyncAbstRAG
from abstrag.workspace.facade import AbstRAG
from abstrag.workspace.options import WorkspaceConfig, chosen_preset
from abstrag.workspace.workspace import Workspace
from abstrag_bench.abstrag_system import AbstragSystem, SharedIndexer
from tests.parity.library import (
    QUESTIONS,
    TEXTS,
    Circumstance,
    K,
    circumstances,
    known,
    pool,
)
from tests.unit.server.running import Client, serving

EXPLAINED = 2  # hits of each question that are also explained
TOLD_BESIDE = ("patches", "ms", "weighing", "groups")  # what a front end says besides the ranking


@dataclass(frozen=True)
class Doors:
    """One circumstance, asked through every front end, with the judge or without."""

    circumstance: Circumstance
    judge: bool
    rag: AbstRAG
    client: Client
    workspace: Workspace  # of the tools

    @property
    def wish(self) -> dict[str, Any]:
        """How a request says it: by default everything is judged, and nothing need be said."""
        return {} if self.judge else {"judge": False}

    def run(self, *arguments: str) -> Any:
        """Call the command line, and return the JSON it prints."""
        place = ("--store", str(self.circumstance.store), "--policy", str(self.circumstance.policy))
        wish = () if self.judge else ("--no-judge",)
        result = CliRunner().invoke(cli, [*arguments, *place, *wish, "--json"])
        assert result.exit_code == 0, result.output
        return less(json.loads(result.stdout))

    def post(self, path: str, **body: Any) -> Any:
        """Send a request, and return what it answers."""
        answer = self.client.post(path, {**body, **self.wish})
        assert answer.status == 200, answer.body
        return less(answer.data)

    def tools(self, calls: list[tuple[str, dict[str, Any]]]) -> list[Any]:
        """Call tools as an agent does, with the official client."""

        async def main() -> list[Any]:
            async with AgentClient(mcp_server(Toolbox(self.workspace))) as agent:
                told = [await agent.call_tool(name, {**a, **self.wish}) for name, a in calls]
            assert not any(one.is_error for one in told)
            return [one.structured_content for one in told]

        return anyio.run(main)


def less(told: Any) -> Any:
    return {name: value for name, value in told.items() if name not in TOLD_BESIDE}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Circumstance]:
    return circumstances(tmp_path_factory.mktemp("parity"))


@pytest.fixture(
    scope="module",
    params=[
        (name, judge)
        for name in ("plain", "background", "patched", "edited")
        for judge in (True, False)
    ],
    ids=lambda given: f"{given[0]}-{'judged' if given[1] else 'unjudged'}",
)
def doors(request: pytest.FixtureRequest, library: dict[str, Circumstance]) -> Iterator[Doors]:
    name, judge = request.param
    one = library[name]
    preset = chosen_preset(judge=None if judge else False)
    config = WorkspaceConfig(one.store, policy=one.policy)
    with (
        AbstRAG(one.store, policy=one.policy, preset=preset) as rag,
        Workspace(config) as workspace,
        serving(workspace) as client,
        Workspace(config) as tools,
    ):
        yield Doors(one, judge, rag, client, tools)


def expected(doors: Doors, document: str) -> list[Ranking]:
    return [doors.rag.search(question, k=K, document=document) for question in QUESTIONS]


def explained(rankings: list[Ranking]) -> list[tuple[str, Hit]]:
    return [(r.query.text, hit) for r in rankings for hit in r.hits[:EXPLAINED]]


def test_the_circumstances_differ_where_they_should(library: dict[str, Circumstance]) -> None:
    def found(name: str, document: str, question: str) -> Any:
        one = library[name]
        with AbstRAG(one.store, policy=one.policy) as rag:
            return [(h.segment, h.relevance) for h in rag.search(question, document=document).hits]

    for name, document, question in (
        ("background", "harbour", QUESTIONS[1]),
        ("patched", "harbour", QUESTIONS[0]),
        ("edited", "lease", QUESTIONS[3]),
    ):
        assert found(name, document, question) != found("plain", document, question), name


@pytest.mark.parametrize("document", TEXTS)
def test_the_command_line_answers_as_python_does(doors: Doors, document: str) -> None:
    for ranking in expected(doors, document):
        question = ranking.query.text
        assert doors.run("search", document, question, "-k", str(K)) == to_data(ranking)
        for rank, hit in enumerate(ranking.hits[:EXPLAINED], 1):
            for name in (hit.segment, str(rank)):
                told = doors.run("explain", document, question, name)
                assert told["hit"] == to_data(hit)


@pytest.mark.parametrize("document", TEXTS)
def test_http_answers_as_python_does(doors: Doors, document: str) -> None:
    place = f"/api/documents/{document}"
    rankings = expected(doors, document)
    for ranking in rankings:
        question = ranking.query.text
        assert doors.post(f"{place}/search", query=question, k=K) == to_data(ranking)
    for question, hit in explained(rankings):
        told = doors.post(f"{place}/explain", query=question, segment=hit.segment)
        assert told == to_data(hit)


@pytest.mark.parametrize("document", TEXTS)
def test_tools_answer_as_python_does(doors: Doors, document: str) -> None:
    rankings = expected(doors, document)
    asked = [{"document": document, "query": r.query.text, "k": K} for r in rankings]
    told = doors.tools([("search", one) for one in asked])
    assert told == [to_data(search_result(ranking)) for ranking in rankings]
    hits = explained(rankings)
    wanted = [{"document": document, "query": q, "segment": hit.segment} for q, hit in hits]
    told = doors.tools([("explain", one) for one in wanted])
    assert told == [to_data(factors(hit)) for _, hit in hits]


@pytest.mark.parametrize("document", TEXTS)
def test_python_explains_a_hit_as_it_found_it(doors: Doors, document: str) -> None:
    for ranking in expected(doors, document):
        for rank, hit in enumerate(ranking.hits, 1):
            question = ranking.query.text
            assert doors.rag.explain(question, hit.segment, document=document) == hit
            found = doors.rag.why_not(question, segment=hit.segment, document=document)
            assert (found.rank, found.hit) == (rank, hit)


@pytest.mark.parametrize("document", TEXTS)
def test_the_benchmark_measures_what_python_answers(doors: Doors, document: str) -> None:
    one = doors.circumstance
    system = AbstragSystem(
        preset=chosen_preset(judge=None if doors.judge else False),
        patched=True,
        indexer=SharedIndexer(background=known(one)),
    )
    with Workspace(WorkspaceConfig(one.store, policy=one.policy)) as workspace:
        system.indexer.workspace = workspace  # its patches and its edits
        system.index(pool(document))
        for ranking in expected(doors, document):
            ranked, told = system.search_explained(ranking.query.text, K)
            shown = [(f"e{hit.position + 1}", hit.relevance) for hit in ranking.hits]
            assert told["hits"] == tuple(name for name, _ in shown)
            assert [one for one in ranked if one[0] in told["hits"]] == shown
            hits = system.document.search(ranking.query.text, k=K).hits
            assert to_data(hits) == to_data(ranking.hits)


def test_all_documents_together_answer_the_same_by_every_door(doors: Doors) -> None:
    rankings = [doors.rag.search_all(question, k=K) for question in QUESTIONS]
    asked = [("search_all", {"query": question, "k": K}) for question in QUESTIONS]
    assert doors.tools(asked) == [to_data(collection_result(one)) for one in rankings]
    for question, ranking in zip(QUESTIONS, rankings, strict=True):
        wanted = to_data(ranking)
        assert doors.run("search", "--all", question, "-k", str(K)) == wanted
        named = [without_folder(one) for one in wanted["documents"]]  # to others, no folders
        assert doors.post("/api/search", query=question, k=K) == {**wanted, "documents": named}
        for found in ranking.hits[:EXPLAINED]:
            hit = to_data(found.hit)
            name = f"{found.hit.document}:{found.hit.segment}"
            assert doors.run("explain", "--all", question, name)["hit"] == hit
            assert doors.post("/api/explain", query=question, segment=name) == hit
            assert to_data(doors.rag.collection().explain(question, name)) == hit


def test_hits_of_several_documents_that_belong_together_are_the_same_by_every_door(
    doors: Doors,
) -> None:
    sets = [doors.rag.support_all(question, k=K) for question in QUESTIONS]
    asked = [("search_set_all", {"query": question, "k": K}) for question in QUESTIONS]
    told = [to_data(set_result(q, one)) for q, one in zip(QUESTIONS, sets, strict=True)]
    assert doors.tools(asked) == told
    for question, one in zip(QUESTIONS, sets, strict=True):
        assert doors.run("search", "--all", question, "--set", "-k", str(K)) == to_data(one)
        assert doors.post("/api/support", query=question, k=K) == to_data(one)


def test_an_answer_from_all_documents_is_the_same_by_every_door(
    library: dict[str, Circumstance],
) -> None:
    """The defaults hold for answers by every door, so there is one way of asking."""
    for one in library.values():
        config = WorkspaceConfig(one.store, policy=one.policy)
        with (
            AbstRAG(one.store, policy=one.policy) as rag,
            Workspace(config) as workspace,
            serving(workspace) as client,
            Workspace(config) as tools,
        ):
            doors = Doors(one, True, rag, client, tools)
            for question in QUESTIONS[3:6]:
                wanted = to_data(rag.ask_all(question))
                assert {**doors.run("ask", "--all", question), "ledger": None} == {
                    **wanted,
                    "ledger": None,
                }
                assert doors.tools([("ask_all", {"question": question})]) == [wanted]
                events = client.post("/api/ask", {"question": question}).body.decode()
                last = json.loads(events.strip().rpartition("data: ")[2])["answer"]
                assert last == wanted


def test_eight_threads_and_an_event_loop_at_once_get_the_same_answers(
    library: dict[str, Circumstance],
) -> None:
    one = library["patched"]
    with AbstRAG(one.store, policy=one.policy) as rag:
        asked = [(document, question) for document in TEXTS for question in QUESTIONS]
        wanted = [rag.search(question, k=K, document=document) for document, question in asked]
        together = [rag.search_all(question, k=K) for question in QUESTIONS]

    async def looping(shared: AsyncAbstRAG) -> tuple[list[Ranking], int]:
        beats = 0

        async def heart() -> None:
            nonlocal beats
            while True:
                beats += 1
                await asyncio.sleep(0.001)

        beating = asyncio.create_task(heart())
        found = await asyncio.gather(*(shared.search(q, k=K, document=d) for d, q in asked))
        beating.cancel()
        return found, beats

    with AbstRAG(one.store, policy=one.policy) as rag, ThreadPoolExecutor(8) as threads:
        singly = [threads.submit(rag.search, q, k=K, document=d) for d, q in asked]
        joined = [threads.submit(rag.search_all, question, k=K) for question in QUESTIONS]
        found, beats = asyncio.run(looping(AsyncAbstRAG(rag)))
        assert [future.result() for future in singly] == wanted
        assert [future.result() for future in joined] == together
        assert found == wanted
        assert beats > len(asked)  # the loop went on meanwhile


def test_the_default_is_judged_by_every_door(library: dict[str, Circumstance]) -> None:
    one = library["plain"]
    with AbstRAG(one.store, policy=one.policy) as rag:
        ranking = rag.search(QUESTIONS[0], document="harbour")
    assert ranking.preset == DEFAULT_PRESET.name
    assert ranking.judgements > 0
