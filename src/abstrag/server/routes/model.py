"""What goes beyond finding: answers in words, refinement, and the policy it teaches."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from abstrag.model.record import to_data
from abstrag.refine.feedback import Noted
from abstrag.server.answers import EVENTS, answer
from abstrag.server.requests import AskIn, FeedbackIn, RefineIn, RevertIn, StepIn
from abstrag.server.routes.shared import StudioDep, asked, opened, options_of, told

router = APIRouter(prefix="/api", tags=["model"])


@router.post(
    "/documents/{document}/ask",
    summary="Answer a question in words",
    responses={200: {"content": {EVENTS: {}}}},
)
async def ask(document: str, body: AskIn, studio: StudioDep) -> Response:
    """Events: citations and sentences, a verdict on a claim, and at the end the whole answer.

    Without a language model the answer is quoted, not written.
    """
    options = options_of(studio, body)
    return await told(studio, lambda: opened(studio, document, body, options).ask(body.question))


@router.post("/documents/{document}/refine", summary="Learn from a question that fails")
async def refine(document: str, body: RefineIn, studio: StudioDep) -> Response:
    """Every step with its reasons, and the ranking before and after.

    What is accepted holds for later searches until it is reverted.
    """
    return await asked(
        studio, document, body, lambda one: one.refine(body.query), queue=studio.judging
    )


@router.post("/documents/{document}/feedback", summary="Say what is evidence", response_model=Noted)
async def feedback(document: str, body: FeedbackIn, studio: StudioDep) -> Response:
    """Note which segments are evidence or not and which steps are right.

    Steps are priced from then on, until the patch is reverted; good segments are gold for
    refinement.
    """

    def work() -> Any:
        from abstrag.refine.feedback import SaidStep

        def steps(given: list[StepIn]) -> list[SaidStep]:
            return [SaidStep(one.asked, one.said, one.family) for one in given]

        right, wrong = steps(body.right), steps(body.wrong)
        one = studio.workspace.stored(document)
        return to_data(
            one.feedback(body.query, good=body.good, bad=body.bad, right=right, wrong=wrong)
        )

    return answer(await studio.judging(work))


@router.get("/policy/log", summary="List what was tried")
async def policy_log(studio: StudioDep) -> Response:
    """Accepted and refused changes alike, oldest first."""
    patches = studio.workspace.patches
    return answer(await studio.searching(lambda: [to_data(one) for one in patches.log()]))


@router.post("/policy/revert", summary="Take a change back")
async def policy_revert(body: RevertIn, studio: StudioDep) -> Response:
    """Take back a patch, or a promoted edit of a program; the log's new entry says so."""
    patches = studio.workspace.patches
    return answer(await studio.searching(lambda: to_data(patches.revert(body.id))))
