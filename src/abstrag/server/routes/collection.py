"""Questions to all documents of the store at once: search, ask, explain, why-not, refine, find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from abstrag.collection.results import CollectionWhyNot, DocumentFound
from abstrag.model.ranking import Hit, SupportSet
from abstrag.model.record import to_data
from abstrag.server.answers import EVENTS, answer
from abstrag.server.requests import (
    AskAllIn,
    CollectionIn,
    ExplainOneOfManyIn,
    ManyIn,
    SearchAllIn,
    TimedCollectionRanking,
    WhyNotOfManyIn,
)
from abstrag.server.routes.shared import StudioDep, asked_options, timed, told, without_folder
from abstrag.server.studio import Studio
from abstrag.workspace.collection import SearchableCollection
from abstrag.workspace.options import SearchOptions
from abstrag.workspace.refining import CollectionRefinement

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


@router.post(
    "/support", summary="Find the fewest hits of all that meet all", response_model=SupportSet
)
async def support(body: SearchAllIn, studio: StudioDep) -> Response:
    """For questions whose evidence is in several documents: hits that together meet them."""
    return await _asked(studio, body, lambda many: many.support(body.query, k=body.k))


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


@router.post(
    "/ask",
    summary="Answer a question in words from all documents",
    responses={200: {"content": {EVENTS: {}}}},
)
async def ask(body: AskAllIn, studio: StudioDep) -> Response:
    """Events as of one document; each citation names its document.

    What other documents answer instead is in the whole answer, under `others`.
    """
    options = _options(studio, body)
    return await told(studio, lambda: _opened(studio, body, options).ask(body.question))


@router.post(
    "/refine", summary="Learn from a question that fails", response_model=CollectionRefinement
)
async def refine(body: CollectionIn, studio: StudioDep) -> Response:
    """Every step with its reasons in each document that the search opens.

    What is accepted holds for later searches until it is reverted.
    """
    options = _options(studio, body)

    def work() -> dict[str, Any]:
        made: dict[str, Any] = to_data(_opened(studio, body, options).refine(body.query))
        for ranking in (made["before"], made["after"]):
            ranking["documents"] = [without_folder(one) for one in ranking["documents"]]
        return made

    return answer(await studio.judging(work))


def _options(studio: Studio, body: ManyIn) -> SearchOptions:
    return asked_options(studio.workspace, preset=body.preset, judge=body.judge, tau=body.tau)


async def _asked(
    studio: Studio, body: CollectionIn, question: Callable[[SearchableCollection], Any]
) -> Response:
    options = _options(studio, body)
    return answer(
        await studio.ranking(options)(lambda: to_data(question(_opened(studio, body, options))))
    )


def _opened(studio: Studio, body: ManyIn, options: SearchOptions) -> SearchableCollection:
    return studio.workspace.collection(body.filters, options)
