"""What goes beyond finding: answers in words, refinement, and the policy it teaches."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from abstrag.model.record import to_data
from abstrag.server.answers import EVENTS, answer, event
from abstrag.server.routes.shared import StudioDep, opened, options_of
from abstrag.server.wire import AskIn, RefineIn, RevertIn

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

    def work() -> list[dict[str, Any]]:
        from abstrag.engine.answer import events_of

        made = opened(studio, document, body, options).ask(body.question)
        told = map(to_data, events_of(made))
        return [{name: value for name, value in one.items() if value} for one in told]

    # nothing is told before it is verified, so an error still has a status of its own
    return StreamingResponse(map(event, await studio.judging(work)), media_type=EVENTS)


@router.post("/documents/{document}/refine", summary="Learn from a question that fails")
async def refine(document: str, body: RefineIn, studio: StudioDep) -> Response:
    """Every step with its reasons, and the ranking before and after.

    What is accepted holds for later searches until it is reverted.
    """
    options = options_of(studio, body)

    def work() -> Any:
        return to_data(opened(studio, document, body, options).refine(body.query))

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
