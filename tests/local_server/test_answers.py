"""Asking, and the baselines that ask, against a real model: shapes, counts and error paths."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from abstrag.answers.answer import answer
from abstrag.answers.generator import Generator
from abstrag.engine.searcher import Searcher
from abstrag.errors import ModelUnreachable
from abstrag.llm.connect import Models, connect
from abstrag.llm.model import CallRole
from abstrag.llm.prompt import Program
from abstrag.llm.settings import Endpoint, LlmSettings, Timeouts
from abstrag.model.answer import AnswerMode, Label
from abstrag.search.relevance import DEFAULT_PRESET
from abstrag.workspace.tour import demo_index
from abstrag_bench.baselines.backing import Backing
from abstrag_bench.case import Case, Dataset
from abstrag_bench.generation import ModelWriter
from abstrag_bench.record import CaseRecord
from abstrag_bench.run_folder import RunFolder
from abstrag_bench.runner import run, worst_requests
from abstrag_bench.systems import SystemSpec
from tests.local_server.brevity import brief_programs
from tests.local_server.server import LocalServer
from tests.unit.bench.makers import make_pool

NAMES = ("bm25", "hyde", "ircot", "self-rag", "crag")


@pytest.fixture
def programs() -> Mapping[str, Program]:
    return brief_programs()


@pytest.fixture
def models(local_server: LocalServer, tmp_path: Path) -> Iterator[Models]:
    endpoint = Endpoint(local_server.model, local_server.base_url)
    settings = LlmSettings(dict.fromkeys(CallRole, endpoint), {})
    with connect(settings, calls=tmp_path / "calls.db") as made:
        yield made


@pytest.fixture
def searcher() -> Searcher:
    return Searcher(demo_index(), preset=DEFAULT_PRESET)


def test_a_question_and_a_claim_are_answered_over_http(
    models: Models, programs: Mapping[str, Program], searcher: Searcher
) -> None:
    generator = Generator(models[CallRole.ANSWER], programs)
    told = answer(searcher, "Who visited TSMC?", generator=generator)
    assert told.mode is AnswerMode.GENERATED
    assert all(one.citations or one.doubt for one in told.sentences)
    for citation in told.citations:
        assert citation.quote == searcher.index.document.quote(citation.span)
    judged = answer(searcher, "Prices for used accelerators rose.", generator=generator)
    assert judged.verdict is not None
    takes_a_side = judged.verdict.label is not Label.NOT_ENOUGH_INFO
    assert judged.found == takes_a_side
    assert judged.verdict.grounded == (bool(judged.citations) or not takes_a_side)
    spent = models.ledger()
    again = answer(searcher, "Who visited TSMC?", generator=generator)
    assert again.sentences == told.sentences
    assert models.ledger().total.calls == spent.total.calls
    assert (again.usage.calls, again.usage.cached) == (0, 1)


def test_every_baseline_ranks_and_answers_within_its_budget(
    models: Models, local_server: LocalServer, programs: Mapping[str, Program], tmp_path: Path
) -> None:
    pool = make_pool()
    data = Dataset(
        "plain",
        "dev",
        (Case("plain", "dev", "q", pool, "When do lions sleep?", gold=("0",), answers=("days",)),),
    )
    specs = [SystemSpec.of(name) for name in NAMES]
    backing = Backing(models, programs)
    writer = ModelWriter(backing)
    most = worst_requests(data, specs, tmp_path / "run", backing=backing, writer=writer)
    run(data, specs, tmp_path / "run", backing=backing, writer=writer)
    found: dict[str, CaseRecord] = {
        one.system: one for one in RunFolder(tmp_path / "run").records()
    }
    for name in NAMES:
        one = found[name]
        assert 1 <= (one.llm_calls or 1) <= len(most[name]), name
        if one.error is None:
            assert (sorted(one.ranked), bool(one.answer)) == (list(pool.ids), True), name
        else:  # so small a model may miss the schema, and then that is what the record says
            assert local_server.model in one.error, name
    assert found["bm25"].ranked[0] == "0"
    total = models.ledger().total
    asked = sum(one.llm_calls or 0 for one in found.values())
    assert total.calls + total.cached >= asked


def test_a_server_that_is_gone_is_an_error_and_the_log_still_answers(
    models: Models,
    local_server: LocalServer,
    programs: Mapping[str, Program],
    searcher: Searcher,
    tmp_path: Path,
) -> None:
    known = Generator(models[CallRole.ANSWER], programs)
    first = answer(searcher, "Who visited TSMC?", generator=known)
    endpoint = Endpoint(local_server.model, "http://127.0.0.1:9/v1")  # nobody listens there
    settings = LlmSettings(
        dict.fromkeys(CallRole, endpoint), {}, patience=Timeouts(timeout_s=2.0, retries=0)
    )
    with connect(settings, calls=tmp_path / "calls.db") as gone:
        generator = Generator(gone[CallRole.ANSWER], programs)
        assert answer(searcher, "Who visited TSMC?", generator=generator).text == first.text
        with pytest.raises(ModelUnreachable):
            answer(searcher, "When was TSMC founded?", generator=generator)
