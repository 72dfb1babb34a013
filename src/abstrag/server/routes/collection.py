"""Questions to all documents of the store at once: search, explain."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from abstrag.collection.filters import Filters
from abstrag.model.ranking import Hit
from abstrag.model.record import to_data
from abstrag.server.answers import answer
from abstrag.server.asking import asked_options
from abstrag.server.routes.shared import StudioDep, without_folder
from abstrag.server.studio import Studio
from abstrag.server.wire import (
    CollectionIn,
    ExplainOneOfManyIn,
    SearchAllIn,
    TimedCollectionRanking,
)
from abstrag.workspace.collection import SearchableCollection
from abstrag.workspace.options import SearchOptions

router = APIRouter(prefix="/api", tags=["collection"])


@router.post(
    "/search", summary="Find the evidence in all documents", response_model=TimedCollectionRanking
)
async def search(body: SearchAllIn, studio: StudioDep) -> Response:
    """The best segments of all documents that pass the filters; `ms` is what it took."""
    options = _options(studio, body)

    def work() -> dict[str, Any]:
        started = perf_counter()
        found = to_data(_opened(studio, body, options).search(body.query, k=body.k))
        found["documents"] = [without_folder(one) for one in found["documents"]]
        return {**found, "ms": round(1000 * (perf_counter() - started), 1)}

    return answer(await studio.ranking(options)(work))


@router.post("/explain", summary="Explain one segment among all", response_model=Hit)
async def explain(body: ExplainOneOfManyIn, studio: StudioDep) -> Response:
    """The full trace of a segment, named DOCUMENT:SEGMENT; a hit is explained as it was."""
    options = _options(studio, body)
    return answer(
        await studio.ranking(options)(
            lambda: to_data(_opened(studio, body, options).explain(body.query, body.segment))
        )
    )


def _options(studio: Studio, body: CollectionIn) -> SearchOptions:
    return asked_options(studio.workspace, preset=body.preset, judge=body.judge, tau=body.tau)


def _opened(studio: Studio, body: CollectionIn, options: SearchOptions) -> SearchableCollection:
    filters = Filters(body.since, body.until, body.source, body.genre)
    return studio.workspace.collection(filters, options)
