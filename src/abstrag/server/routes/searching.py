"""Questions to a document: search, explain, why-not, budget, sweep, compare."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from abstrag.model.ranking import BudgetCurve, Hit, Ranking, WhyNot
from abstrag.model.record import to_data
from abstrag.server.answers import answer
from abstrag.server.routes.shared import StudioDep
from abstrag.server.shelf import Asking
from abstrag.server.studio import Studio
from abstrag.server.sweep import sweep
from abstrag.server.wire import (
    CompareIn,
    EdgeIn,
    ExplainIn,
    QueryIn,
    SearchIn,
    SweepIn,
    WhyNotIn,
)
from abstrag.workspace.edits import Edits, hand_made

router = APIRouter(prefix="/api/documents/{document}", tags=["searching"])


@router.post("/search", summary="Find the evidence for a question", response_model=Ranking)
async def search(document: str, body: SearchIn, studio: StudioDep) -> Response:
    """The best segments with exact quotes, factors, traces and a reading; `ms` is what it took."""

    def work() -> dict[str, Any]:
        started = perf_counter()
        asking = Asking(body.preset, body.judge, _trial(studio, document, body))
        searcher = studio.shelf.searcher(document, asking)
        found = to_data(searcher.search(body.query, k=body.k, tau=body.tau))
        return {**found, "ms": round(1000 * (perf_counter() - started), 1)}

    lane = studio.judging if body.judge else studio.searching
    return answer(await lane(work))


def _trial(studio: Studio, document: str, body: SearchIn) -> Edits:
    if not body.edges and not body.removed:
        return Edits()
    index = studio.shelf.index(document)
    edges = tuple(hand_made(index, **_fields(edge)) for edge in body.edges)
    return Edits(edges, tuple(sorted(set(body.removed))))


def _fields(edge: EdgeIn) -> dict[str, Any]:
    return {name: getattr(edge, name) for name in EdgeIn.model_fields}


@router.post("/explain", summary="Explain one segment", response_model=Hit)
async def explain(document: str, body: ExplainIn, studio: StudioDep) -> Response:
    """The full trace of a segment, whether it is found or not."""

    def work() -> Any:
        searcher = studio.shelf.searcher(document)
        return to_data(searcher.explain(body.query, body.segment, tau=body.tau))

    return answer(await studio.searching(work))


@router.post("/why-not", summary="Say why a passage is not found", response_model=WhyNot)
async def why_not(document: str, body: WhyNotIn, studio: StudioDep) -> Response:
    """The one first cause, and the least change that would lift the passage."""

    def work() -> Any:
        searcher = studio.shelf.searcher(document)
        return to_data(
            searcher.why_not(
                body.query, passage=body.passage, segment=body.segment, k=body.k, tau=body.tau
            )
        )

    return answer(await studio.searching(work))


@router.post("/budget", summary="Say at which τ each segment enters", response_model=BudgetCurve)
async def budget(document: str, body: QueryIn, studio: StudioDep) -> Response:
    """The τ curve of a question."""
    return answer(
        await studio.searching(lambda: to_data(studio.shelf.searcher(document).budget(body.query)))
    )


@router.post("/sweep", summary="Rank under many budgets at once")
async def swept(document: str, body: SweepIn, studio: StudioDep) -> Response:
    """A ranking for each τ, without the judge and without traces."""
    return answer(
        await studio.searching(
            lambda: sweep(studio.shelf.searcher(document), body.query, k=body.k, taus=body.taus)
        )
    )


@router.post("/compare", summary="Ask BM25 and a dense retriever too")
async def compare(document: str, body: CompareIn, studio: StudioDep) -> Response:
    """The first hits of each, over the same segments."""

    def work() -> dict[str, Any]:
        from abstrag.server.compare import compared, rivals_of

        info = studio.shelf.info(document)
        index = studio.shelf.index(info.id)
        rivals = studio.rivals.get((info.id, info.content_hash), lambda: rivals_of(index))
        return compared(studio.shelf.searcher(info.id), rivals, body.query, k=body.k)

    return answer(await studio.comparing(work))
