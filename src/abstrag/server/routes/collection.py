"""Questions to all documents of the store at once: search, explain, why-not, find documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from abstrag.collection.results import CollectionWhyNot, DocumentFound
from abstrag.model.ranking import Hit
from abstrag.model.record import to_data
from abstrag.server.answers import answer
from abstrag.server.requests import (
    CollectionIn,
    ExplainOneOfManyIn,
    SearchAllIn,
    TimedCollectionRanking,
    WhyNotOfManyIn,
)
from abstrag.server.routes.shared import StudioDep, asked_options, timed, without_folder
from abstrag.server.studio import Studio
from abstrag.workspace.collection import SearchableCollection
from abstrag.workspace.options import SearchOptions

router = APIRouter(prefix="/api", tags=["collection"])


@router.post(
    "/search", summary="Find the evidence in all documents", response_model=TimedCollectionRanking
)
async def search(body: SearchAllIn, studio: StudioDep) -> Response:
    """The best segments of all documents that pass the filters; `groups` has them by document."""
    options = _options(studio, body)

    def work() -> dict[str, Any]:
        ranking = _opened(studio, body, options).search(body.query, k=body.k)
        found = to_data(ranking)
        found["documents"] = [without_folder(one) for one in found["documents"]]
        return {**found, "groups": [to_data(one) for one in ranking.by_document()]}

    return answer(await studio.ranking(options)(lambda: timed(options, work)))


@router.post("/explain", summary="Explain one segment among all", response_model=Hit)
async def explain(body: ExplainOneOfManyIn, studio: StudioDep) -> Response:
    """The full trace of a segment, named DOCUMENT:SEGMENT; a hit is explained as it was."""
    return await _asked(studio, body, lambda many: many.explain(body.query, body.segment))


@router.post(
    "/why-not", summary="Say why a passage is not found among all", response_model=CollectionWhyNot
)
async def why_not(body: WhyNotOfManyIn, studio: StudioDep) -> Response:
    """Where it gets lost: in no document, filtered, not shortlisted, within its own, outranked."""

    def work(many: SearchableCollection) -> Any:
        return many.why_not(
            body.query,
            k=body.k,
            passage=body.passage,
            segment=body.segment,
            document=body.document,
        )

    return await _asked(studio, body, work)


@router.post(
    "/documents/find",
    summary="Find documents by what they are about",
    response_model=list[DocumentFound],
)
async def found(body: SearchAllIn, studio: StudioDep) -> Response:
    """The documents that a query is about, best first; none of them is opened."""
    options = _options(studio, body)

    def work() -> Any:
        many = _opened(studio, body, options)
        return [to_data(one) for one in many.find_documents(body.query, k=body.k)]

    return answer(await studio.searching(work))


def _options(studio: Studio, body: CollectionIn) -> SearchOptions:
    return asked_options(studio.workspace, preset=body.preset, judge=body.judge, tau=body.tau)


async def _asked(
    studio: Studio, body: CollectionIn, question: Callable[[SearchableCollection], Any]
) -> Response:
    options = _options(studio, body)
    return answer(
        await studio.ranking(options)(lambda: to_data(question(_opened(studio, body, options))))
    )


def _opened(studio: Studio, body: CollectionIn, options: SearchOptions) -> SearchableCollection:
    return studio.workspace.collection(body.filters, options)
