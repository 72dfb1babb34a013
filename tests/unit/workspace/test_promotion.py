"""Promotion: an edit with its votes meets every solved query before it is written down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from abstrag.engine.prompting import Prompting
from abstrag.llm.connect import Models
from abstrag.llm.model import CallRole, ModelRequest
from abstrag.model.patch import EditOp, PromptEdit
from abstrag.policy.audit import PromotionStatus
from abstrag.policy.edit import CaseText
from abstrag.policy.load import load_programs
from abstrag.policy.store import PolicyStore
from abstrag.refine.evaluator import Evaluator
from abstrag.refine.feedback import Episode
from abstrag.refine.patch_log import PatchLog
from abstrag.search.relevance import SMOOTH
from abstrag.workspace.lessons import Promoter
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.workspace import Workspace
from tests.unit.indexing.prompted.encoders import Letters
from tests.unit.indexing.prompted.models import silent
from tests.unit.refine.harbour import Labels, searcher

FISHING = "Which workers fish from the pier?"
HARMFUL = "Keep persons only."
HARMLESS = "Keep compound nouns whole."


def _literals(request: ModelRequest) -> dict[str, Any]:
    """Read the query well, unless the harmful rule tells to drop what it is about."""
    quotes = ["workers"] if HARMFUL in request.system else ["workers", "fish", "pier"]
    literals = [
        {"kind": "concept", "quote": quote, "negated": False, "slots": []} for quote in quotes
    ]
    return {"literals": literals, "answer_type": ""}


@pytest.fixture
def promoter(tmp_path: Path) -> Promoter:
    policy = PolicyStore.open(tmp_path / "policy")
    options = SearchOptions(preset=SMOOTH)
    workspace = Workspace(WorkspaceConfig(tmp_path / "store.db", options=options))
    made = searcher().index
    workspace.store.put(made, source_path=None, source_hash="x")
    PatchLog(policy).note_solved(Episode(made.document.id, FISHING), made)
    model = silent(normalize_query=_literals, expand_query={"clauses": []})
    programs = load_programs(root=policy.root)
    prompting = Prompting.of(Models({CallRole.INDEX: model}), programs=programs, encoder=Letters())
    judge = Evaluator(Labels({FISHING: "Children fish from the north pier in summer."}), k=1)
    return Promoter(policy, workspace, prompting, judge)


def vote(policy: PolicyStore, rule: str, *, cases: int = 3) -> None:
    edit = PromptEdit("normalize_query", EditOp.ADD_RULE, rule)
    for number in range(cases):
        text = CaseText(f"question {number}")
        policy.propose(edit, case=f"case {number}", patch=f"p{number}", text=text)


def test_an_edit_that_harms_no_solved_query_becomes_a_rule(promoter: Promoter) -> None:
    vote(promoter.policy, HARMLESS)
    (entry,) = promoter.promote()
    assert entry.promotion_status is PromotionStatus.PROMOTED
    assert HARMLESS in promoter.policy.program("normalize_query").rules


def test_an_edit_that_costs_a_solved_query_its_evidence_is_refused(promoter: Promoter) -> None:
    vote(promoter.policy, HARMFUL)
    (entry,) = promoter.promote()
    assert entry.promotion_status is PromotionStatus.REGRESSION
    assert not entry.accepted
    assert HARMFUL not in promoter.policy.program("normalize_query").rules


def test_without_three_votes_nothing_is_replayed(promoter: Promoter) -> None:
    vote(promoter.policy, HARMLESS, cases=2)
    assert promoter.promote() == ()


def test_a_document_that_left_the_store_is_not_replayed(promoter: Promoter) -> None:
    program = promoter.policy.program("normalize_query")
    (info,) = promoter.workspace.store.documents()
    promoter.workspace.store.remove(info.id)
    assert promoter.worse(program) == ()
