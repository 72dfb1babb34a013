"""With a language model beside it, what people and refinement have settled still holds.

Under a Background, under a patch that was kept, after an edit by hand. Where the models only write
answers, a search must be the local one to the last digit. Where they extend the index, read the
query and judge, the settled step must still be the one that leads to its segment.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from abstrag.config import Settings
from abstrag.errors import OverBudget
from abstrag.llm.budget import CallBudget, Spending
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole
from abstrag.llm.scripted import ScriptedModel
from abstrag.llm.settings import Limits
from abstrag.model.answer import AnswerMode
from abstrag.model.record import to_data
from abstrag.model.segment import Granularity
from abstrag.model.term import LicenceKind
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.parity.library import QUESTIONS, TEXTS, Circumstance, K, circumstances
from tests.unit.cli.model_server import QUERY_SIDE
from tests.unit.indexing.prompted.models import diligent


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Circumstance]:
    return circumstances(tmp_path_factory.mktemp("models"))


@pytest.mark.parametrize("name", ["background", "patched", "edited"])
def test_a_search_beside_a_model_is_the_local_one(
    library: dict[str, Circumstance], name: str
) -> None:
    one = library[name]
    config = WorkspaceConfig(one.store, policy=one.policy)
    model = ScriptedModel({"answer": {"status": "not_in_document", "sentences": [], "missing": []}})
    with (
        Workspace(config) as local,
        Workspace(config, models=Models({CallRole.ANSWER: model})) as asked,
    ):
        for document in sorted(TEXTS):
            here, there = local.document(document), asked.document(document)
            assert [kept.id for kept in here.patches] == [kept.id for kept in there.patches]
            for question in QUESTIONS[:4]:
                told = to_data(here.search(question, k=K))
                assert to_data(there.search(question, k=K)) == told
    assert model.calls == 0


@pytest.mark.parametrize("name", ["background", "patched", "edited"])
def test_a_search_of_all_documents_beside_a_model_is_the_local_one(
    library: dict[str, Circumstance], name: str
) -> None:
    one = library[name]
    config = WorkspaceConfig(one.store, policy=one.policy)
    reply = {"status": "not_in_document", "sentences": [], "missing": []}
    model = ScriptedModel({"answer": reply})
    with (
        Workspace(config) as local,
        Workspace(config, models=Models({CallRole.ANSWER: model})) as asked,
    ):
        for question in QUESTIONS:
            here, there = local.collection(), asked.collection()
            told = to_data(here.search(question, k=K))
            assert to_data(there.search(question, k=K)) == told
            assert model.calls == 0
        written = asked.collection().ask(QUESTIONS[0])
        assert (written.mode, written.found, model.calls) == (AnswerMode.GENERATED, False, 1)


SETTLED = {
    "background": ("harbour", QUESTIONS[1], LicenceKind.BACKGROUND, "s2"),
    "patched": ("harbour", QUESTIONS[0], LicenceKind.PATCH, "s7"),
    "edited": ("lease", QUESTIONS[3], LicenceKind.BACKGROUND, "s4"),
}


def settled_steps(
    workspace: Workspace, document: str, question: str, kind: LicenceKind
) -> set[tuple[str, str]]:
    """Return the segments that steps of a kind lead to, each with what licenses the step."""
    return {
        (hit.segment, bridge.licence.reference)
        for hit in workspace.document(document).search(question, k=K).hits
        for found in hit.trace.literals
        for bridge in found.bridges
        if bridge.licence and bridge.licence.kind is kind
    }


@pytest.mark.parametrize("name", list(SETTLED))
def test_what_was_settled_leads_where_it_did_when_models_index_read_and_judge(
    tmp_path: Path, name: str
) -> None:
    one = circumstances(tmp_path)[name]
    config = WorkspaceConfig(
        one.store,
        background=one.background,
        settings=Settings(granularity=Granularity.SENTENCE.value),
        policy=one.policy,
    )
    document, question, kind, segment = SETTLED[name]
    with Workspace(config) as local:
        steps = settled_steps(local, document, question, kind)
    assert {met for met, _ in steps} == {segment}
    model = ScriptedModel({**diligent()._replies, **QUERY_SIDE})
    with Workspace(config, models=Models(dict.fromkeys(CallRole, model))) as asked:
        assert settled_steps(asked, document, question, kind) == steps
        asked_before = model.calls
        outcomes = asked.indexing().index_paths([tmp_path / "files"])
        assert {one.status for one in outcomes} == {"indexed"}  # anew, with what a model adds
        assert model.calls > asked_before > 0
        assert settled_steps(asked, document, question, kind) == steps


def test_a_cap_holds_with_eight_at_once() -> None:
    budget = CallBudget(Limits(max_calls=20))
    one = Spending(calls=1, tokens=10)

    def spend(_: int) -> bool:
        try:
            budget.set_aside(one)
        except OverBudget:
            return False
        budget.settle(one, one)
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(spend, range(100))) == 20
    assert budget.spent.calls == 20
