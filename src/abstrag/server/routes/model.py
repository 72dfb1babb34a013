"""What goes beyond finding: answers in words, refinement, and the policy it teaches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import APIRouter
from starlette.responses import Response, StreamingResponse

from abstrag.errors import NeedsModel
from abstrag.model.record import to_data
from abstrag.server.answers import EVENTS, answer, event
from abstrag.server.routes.shared import StudioDep
from abstrag.server.shelf import Asking
from abstrag.server.wire import AskIn, QueryIn, RevertIn

if TYPE_CHECKING:
    from abstrag.server.studio import Studio

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
    # nothing is told before it is verified, so an error still has a status of its own
    pieces = await studio.judging(lambda: _answered(studio, document, body.question))
    return StreamingResponse(map(event, pieces), media_type=EVENTS)


def _answered(studio: Studio, document: str, question: str) -> list[dict[str, Any]]:
    from abstrag.engine.answer import answer_events

    searcher = studio.shelf.searcher(document)
    aids = studio.aids
    verdicts = aids.verdicts() if aids.generator is None else None
    pieces = answer_events(searcher, question, generator=aids.generator, verdicts=verdicts)
    return [{name: value for name, value in to_data(one).items() if value} for one in pieces]


@router.post("/documents/{document}/refine", summary="Learn from a question that fails")
async def refine(document: str, body: QueryIn, studio: StudioDep) -> Response:
    """Every step with its reasons, and the ranking before and after.

    What is accepted holds for later searches until it is reverted.
    """
    return answer(await studio.judging(lambda: _refined(studio, document, body.query)))


def _refined(studio: Studio, document: str, query: str) -> Any:
    from abstrag.engine.refinement import Refiner, local_judges, packaged_evaluator

    if studio.aids.judge_of is None:
        raise NeedsModel(
            "refinement asks a judge what is evidence, and there is none on this server",
            hint="install the judge's weights, or add an edge by hand",
        )
    searcher = studio.shelf.searcher(document, Asking(patched=False))
    judge = studio.aids.judge_of(searcher.index)
    judges = local_judges(searcher, packaged_evaluator(judge))
    with studio.refining:  # one after the other: each has to see what the one before left
        return to_data(Refiner(searcher, judges, ledger=studio.patches.ledger).refine(query))


@router.get("/policy/log", summary="List what was tried")
async def policy_log(studio: StudioDep) -> Response:
    """Accepted and refused changes alike, oldest first."""
    return answer(await studio.searching(lambda: [to_data(one) for one in studio.patches.log()]))


@router.post("/policy/revert", summary="Take a change back")
async def policy_revert(body: RevertIn, studio: StudioDep) -> Response:
    """Take back a patch, or a promoted edit of a program; the log's new entry says so."""
    return answer(await studio.searching(lambda: to_data(studio.patches.revert(body.id))))
