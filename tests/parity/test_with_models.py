"""With a language model beside it, what people and refinement have settled still holds.

The models here only write answers or say nothing, so a search must be the local one to the last
digit: under a Background, under a patch that was kept, after an edit by hand.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from abstrag.errors import OverBudget
from abstrag.llm.budget import CallBudget, Spending
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole
from abstrag.llm.scripted import ScriptedModel
from abstrag.llm.settings import Limits
from abstrag.model.answer import AnswerMode
from abstrag.model.record import to_data
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.parity.library import QUESTIONS, TEXTS, Circumstance, K, circumstances


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
