"""Questions to a document: search, support, explain, why-not, budget, sweep, compare."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from abstrag.model.ranking import BudgetCurve, Hit, Ranking, SupportSet, WhyNot
from abstrag.model.record import to_data
from abstrag.server.answers import answer
from abstrag.server.requests import (
    CompareIn,
    ExplainIn,
    QueryIn,
    SearchIn,
    SweepIn,
    TimedRanking,
    WhyNotIn,
)
from abstrag.server.routes.shared import StudioDep, asked, opened, options_of, timed
from abstrag.server.views import sweep
from abstrag.workspace.document import SearchableDocument

router = APIRouter(prefix="/api/documents/{document}", tags=["searching"])


@router.post("/search", summary="Find the evidence for a question", response_model=TimedRanking)
async def search(document: str, body: SearchIn, studio: StudioDep) -> Response:
    """The best segments with exact quotes, factors, traces and a reading; `ms` is what it took."""
    options = options_of(studio, body)

    def work() -> dict[str, Any]:
        found: dict[str, Any] = to_data(
            opened(studio, document, body, options).search(body.query, k=body.k)
        )
        return found

    return answer(await studio.ranking(options)(lambda: timed(options, work)))


@router.post("/support", summary="Find the fewest hits that meet all", response_model=SupportSet)
async def support(document: str, body: SearchIn, studio: StudioDep) -> Response:
    """For questions that need more than one place: hits that together meet the question."""
    return await asked(studio, document, body, lambda one: one.support(body.query, k=body.k))


@router.post("/explain", summary="Explain one segment", response_model=Hit)
async def explain(document: str, body: ExplainIn, studio: StudioDep) -> Response:
    """The full trace of a segment, whether it is found or not; a hit is explained as it was."""
    return await asked(studio, document, body, lambda one: one.explain(body.query, body.segment))


@router.post("/why-not", summary="Say why a passage is not found", response_model=WhyNot)
async def why_not(document: str, body: WhyNotIn, studio: StudioDep) -> Response:
    """The one first cause, and the least change that would lift the passage."""

    def question(one: SearchableDocument) -> WhyNot:
        return one.why_not(body.query, passage=body.passage, segment=body.segment, k=body.k)

    return await asked(studio, document, body, question)


@router.post("/budget", summary="Say at which τ each segment enters", response_model=BudgetCurve)
async def budget(document: str, body: QueryIn, studio: StudioDep) -> Response:
    """The τ curve of a question."""
    return await asked(
        studio, document, body, lambda one: one.budget(body.query), queue=studio.reading
    )


@router.post("/sweep", summary="Rank under many budgets at once")
async def swept(document: str, body: SweepIn, studio: StudioDep) -> Response:
    """A ranking for each τ, as a search under it gives, without traces."""
    options = options_of(studio, body)

    def work() -> dict[str, Any]:
        return sweep(opened(studio, document, body, options), body.query, k=body.k, taus=body.taus)

    return answer(await studio.ranking(options)(work))


@router.post("/compare", summary="Ask BM25 and a dense retriever too")
async def compare(document: str, body: CompareIn, studio: StudioDep) -> Response:
    """The first hits of each, over the same segments."""
    options = options_of(studio, body)

    def ours() -> Ranking:
        return opened(studio, document, body, options).search(body.query, k=body.k)

    ranking = await studio.ranking(options)(ours)

    def work() -> dict[str, Any]:
        from abstrag.server.compare import compared, rivals_of

        info = studio.workspace.store.find(document)
        index = studio.workspace.index(info)
        rivals = studio.rivals.get((info.id, info.content_hash), lambda: rivals_of(index))
        return compared(ranking, rivals, index, body.query, k=body.k)

    return answer(await studio.comparing(work))
