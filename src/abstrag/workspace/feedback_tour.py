"""The tour of feedback: the bundled report under the default preset, and nobody knows the answers.

A question is asked that the report does not answer; another is mended without gold, or the loop
says what it tried; a person says that a step is right, and the next question profits; it is undone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from abstrag.model.ranking import Ranking
from abstrag.model.record import record
from abstrag.refine.feedback import Noted, SaidStep
from abstrag.refine.outcome import Refinement
from abstrag.stores.location import MEMORY
from abstrag.workspace.options import WorkspaceConfig
from abstrag.workspace.tour import tour_document
from abstrag.workspace.workspace import Workspace

UNANSWERED: Final = "Which airline lost the most luggage?"
FAILING: Final = "How much sewage was spilled in March?"
ASKED: Final = "Which employee raised the alarm?"
STEP: Final = SaidStep("employee", "worker")
NEXT: Final = "Which employee repairs the clocks?"


@record
class FeedbackTour:
    """Everything the tour shows, in order."""

    unanswered: Ranking  # of a question that the report has no answer to
    refined: Refinement  # what the loop tries where nobody says what is evidence
    noted: Noted  # a person calls a step right
    before: Ranking  # another question, as it would have gone
    after: Ranking  # and as it goes now
    exact: bool  # once it is taken back, state and ranking are what they were


def feedback_workspace(folder: Path) -> Workspace:
    """Open a workspace with the shipped models and a policy folder of its own."""
    return Workspace(WorkspaceConfig(store=MEMORY, policy=folder, family="tour"))


def feedback_tour(workspace: Workspace) -> FeedbackTour:
    """Go through it, step by step."""
    name = workspace.document(tour_document()).index.document.id
    unanswered = workspace.document(name).search(UNANSWERED)
    refined = workspace.document(name).refine(FAILING)
    before = workspace.document(name).search(NEXT)
    noted = workspace.document(name).feedback(ASKED, right=[STEP])
    after = workspace.document(name).search(NEXT)
    for patch in noted.patches:
        workspace.patches.revert(patch.id)
    last = workspace.document(name).search(NEXT)
    return FeedbackTour(unanswered, refined, noted, before, after, exact=last == before)
