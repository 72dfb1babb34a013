"""What experiments may choose when they open documents, and users need not know of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from abstrag.collection.card_table import CardTable
from abstrag.collection.cards import all_cards
from abstrag.config import PRIOR_POWER
from abstrag.documents.load import load_bytes
from abstrag.model.answer import Asked, Label
from abstrag.refine.gate import Controls
from abstrag.refine.propose import LocalProposer
from abstrag.search.relevance import FAST
from abstrag.workspace.lessons import gold_evaluator
from abstrag.workspace.options import SearchOptions, WorkspaceConfig
from abstrag.workspace.refining import RefineOptions, refiner_of
from abstrag.workspace.workspace import Workspace

TEXTS = {
    "lyon": "# Lyon\n\nThe factory in Lyon closed in 2019.\n\nThe council bought the factory.\n",
    "graz": "# Graz\n\nA factory opened in Graz.\n\nNobody visited the factory of the town.\n",
}
QUERY = "Who bought the factory?"


@pytest.fixture(scope="module")
def workspace() -> Iterator[Workspace]:
    config = WorkspaceConfig(store=":memory:", options=SearchOptions(preset=FAST, patched=False))
    with Workspace(config) as opened:
        for name, text in TEXTS.items():
            opened.document(load_bytes(text.encode(), name=f"{name}.md"))
        yield opened


def test_a_collection_may_be_searched_on_some_of_its_cards(workspace: Workspace) -> None:
    cards = all_cards(workspace.store, encoder=None)
    first = replace(cards, documents=cards.documents[:1], parts=tuple(cards.parts)[:1])
    every = workspace.collection(embeddings=False).search(QUERY)
    some = workspace.collection(embeddings=False, card_table=CardTable.of(first)).search(QUERY)
    assert {found.hit.document for found in every.hits} == {"graz", "lyon"}
    assert {found.hit.document for found in some.hits} == {"graz"}


def test_without_power_a_document_does_not_lend_its_score_to_its_hits(
    workspace: Workspace,
) -> None:
    usual, level = (
        [
            found.hit.document
            for found in workspace.collection(embeddings=False, prior_power=power)
            .search(QUERY)
            .hits
        ]
        for power in (PRIOR_POWER, 0.0)
    )
    alone = {
        name: [hit.relevance for hit in workspace.document(name).search(QUERY).hits]
        for name in TEXTS
    }
    by_relevance = sorted(((-r, name) for name, some in alone.items() for r in some))
    assert level == [name for _, name in by_relevance]
    assert usual != level


def test_a_refiner_takes_evaluator_proposer_and_controls_as_they_are_given(
    workspace: Workspace,
) -> None:
    document = workspace.document("lyon")
    evaluator, proposer = gold_evaluator(k=2), LocalProposer()
    controls = Controls(progress=False)
    options = RefineOptions(keep=False, evaluator=evaluator, proposer=proposer, controls=controls)
    refiner = refiner_of(document, options)
    assert refiner.judges.evaluator is evaluator
    assert refiner.judges.proposer is proposer
    assert refiner.judges.enforce == controls
    assert refiner.searcher is document.searcher  # nothing lies over it, so none is built


def test_claims_are_judged_by_the_verdicts_that_are_given(workspace: Workspace) -> None:
    claim = "The council bought the factory."
    asked: list[str] = []

    class Refuting:
        threshold = 0.5

        def __call__(self, claim: str, evidence: Sequence[str]) -> tuple[float, float, float]:
            asked.extend([claim, *evidence])
            return 0.0, 1.0, 0.0

    made = workspace.document("lyon").ask(claim, asked=Asked.CLAIM, verdicts=Refuting())
    assert asked[0] == claim
    assert len(asked) > 1
    assert made.verdict is not None
    assert made.verdict.label is Label.REFUTES
