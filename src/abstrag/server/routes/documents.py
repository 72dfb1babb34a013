"""Documents: listed, taken in, indexed in the background, shown, forgotten."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import StringConstraints
from starlette.responses import Response, StreamingResponse

from abstrag.collection.filters import Filters
from abstrag.collection.listing import ListedDocument, Sort, listing
from abstrag.collection.listing import listed as listed_document
from abstrag.model.document import Genre
from abstrag.model.record import to_data
from abstrag.server.access import received
from abstrag.server.answers import EVENTS, NotThere, TooBusy, WrongType, answer, event
from abstrag.server.jobs import IndexingJob
from abstrag.server.pdf_pages import NARROWEST, WIDEST, Places, WordPlaces
from abstrag.server.routes.shared import StudioDep, without_folder
from abstrag.server.studio import Studio
from abstrag.server.views import document_view
from abstrag.stores.protocol import DocumentInfo

UPLOAD = "/api/documents"
_POLL_S = 0.05
_HEARTBEAT_S = 10.0  # so that a connection nobody listens to any more is found out

Span = Annotated[str, StringConstraints(pattern=r"^\d{1,6}-\d{1,6}$")]
Filter = Annotated[str | None, Query(min_length=1, max_length=500)]

router = APIRouter(prefix="/api", tags=["documents"])


@router.get("/documents", summary="List the documents of the store")
async def listed(
    studio: StudioDep,
    title: Filter = None,
    source: Filter = None,
    folder: Filter = None,
    since: Filter = None,
    until: Filter = None,
    genre: Genre | None = None,
    sort: Sort = Sort.TITLE,
    descending: bool | None = None,
    limit: Annotated[int | None, Query(ge=1)] = None,
    offset: Annotated[int, Query(ge=0)] = 0,
) -> Response:
    """Every document that passes the filters, with its file's name and size, its date and pages.

    The header `X-Total-Count` says how many pass, whatever the limit is.
    """
    wanted = Filters(since, until, source, genre, folder, title)

    def work() -> tuple[list[dict[str, Any]], int]:
        passed = listing(studio.workspace.documents(), wanted, sort=sort, descending=descending)
        some = passed[offset : None if limit is None else offset + limit]
        return [_listed(studio, info, one) for info, one in some], len(passed)

    found, total = await studio.searching(work)
    made = answer(found)
    made.headers["X-Total-Count"] = str(total)
    return made


def _listed(studio: Studio, info: DocumentInfo, one: ListedDocument) -> dict[str, Any]:
    pages = studio.sources.pages(info)
    said = {**without_folder(to_data(info)), **to_data(one)}
    return {**said, "pages": pages, "has_pdf": pages is not None}


@router.post(
    "/documents",
    status_code=202,
    summary="Take a file in and index it in the background",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"format": "binary"}}},
        }
    },
)
async def uploaded(
    request: Request,
    studio: StudioDep,
    name: Annotated[str, Query(min_length=1, max_length=500)],
    retry: bool = False,
) -> Response:
    """Take the bytes of a file; the name says what it is called and is no path.

    A content that once took more time or memory than a document may is set aside, and tried again
    only with `retry`.
    """
    if request.headers.get("content-type", "").split(";")[0].strip() != "application/octet-stream":
        raise WrongType(
            "a file is sent as application/octet-stream", hint="set the header Content-Type"
        )
    pieces = received(
        request.headers,
        request.receive,
        most=studio.settings.max_upload_bytes,
        idle_s=studio.settings.idle_limit_s,
        whole_s=studio.settings.upload_limit_s,
    )
    studio.jobs.require_room()  # before a byte is read for nothing
    path, is_new = await studio.uploads.keep(name, pieces)
    try:
        job = studio.jobs.submit(path.resolve(), retry=retry)
    except TooBusy:
        if is_new:
            studio.uploads.discard(path)
        raise
    return answer(to_data(job), 202)


@router.get("/documents/{document}", summary="Show a document as it reads")
async def shown(document: str, studio: StudioDep) -> Response:
    """The document's blocks and segments, each with its span in the source text."""

    def work() -> dict[str, Any]:
        info = studio.workspace.store.find(document)
        view = document_view(info, studio.workspace.index(info))
        return {**view, "info": _listed(studio, info, listed_document(info))}

    return answer(await studio.searching(work))


@router.delete("/documents/{document}", status_code=204, summary="Forget a document")
async def forgotten(document: str, studio: StudioDep) -> Response:
    """Take a document out of the store; its upload and its edits go with it."""

    def work() -> None:
        info = studio.workspace.remove(document)
        if info.source_path is not None:
            studio.uploads.discard(Path(info.source_path))

    await studio.searching(work)
    return Response(status_code=204)


@router.get(
    "/documents/{document}/pages/{number}.png",
    summary="Draw a page of a PDF",
    responses={200: {"content": {"image/png": {}}}},
)
async def drawn(
    document: str,
    number: int,
    studio: StudioDep,
    width: Annotated[int, Query(ge=NARROWEST, le=WIDEST)] = 900,
) -> Response:
    """A page, counted from 1, as a picture so many pixels wide."""

    def work() -> tuple[bytes, str]:
        info = studio.workspace.store.find(document)
        return studio.sources.picture(info, number, width=width), info.source_hash

    picture, version = await studio.drawing(work)
    headers = {
        "Cache-Control": "private, max-age=600",
        "ETag": f'"{version[:16]}-{number}-{width}"',
    }
    return Response(picture, media_type="image/png", headers=headers)


@router.get(
    "/documents/{document}/pages/{number}/boxes",
    summary="Find a span on a page of a PDF",
    response_model=Places,
)
async def placed(
    document: str,
    number: int,
    studio: StudioDep,
    start: Annotated[int, Query(ge=0)],
    end: Annotated[int, Query(ge=0)],
) -> Response:
    """Boxes in fractions of the page, from its top left corner; none when it is not there."""

    def work() -> Any:
        info = studio.workspace.store.find(document)
        source = studio.workspace.index(info).document
        return to_data(studio.sources.places(info, source, number, start=start, end=end))

    return answer(await studio.drawing(work))


@router.get(
    "/documents/{document}/pages/{number}/words",
    summary="Find words of a segment on a page of a PDF",
    response_model=WordPlaces,
)
async def words_placed(
    document: str,
    number: int,
    studio: StudioDep,
    segment: Annotated[str, Query(min_length=1, max_length=100)],
    at: Annotated[list[Span], Query(min_length=1, max_length=100)],
) -> Response:
    """For each stretch of the segment's text, such as 4-12, its boxes on the page."""

    def work() -> Any:
        info = studio.workspace.store.find(document)
        index = studio.workspace.index(info)
        held = next((one for one in index.segments if one.id == segment), None)
        if held is None:
            raise NotThere(f"{info.id!r} has no segment {segment!r}")
        parts = [(int(start), int(end)) for start, end in (each.split("-") for each in at)]
        return to_data(studio.sources.words(info, index.document, held, number, parts))

    return answer(await studio.drawing(work))


@router.get("/jobs/{job}", summary="Ask how far a job is", response_model=IndexingJob)
async def job_shown(job: str, studio: StudioDep) -> Response:
    """A job as it stands now."""
    return answer(to_data(studio.jobs.get(job)))


@router.delete("/jobs/{job}", summary="Cancel a job", response_model=IndexingJob)
async def job_cancelled(job: str, studio: StudioDep) -> Response:
    """The job, which ends as cancelled; one that is over already stays as it is."""
    return answer(to_data(studio.jobs.cancel(job)))


@router.get(
    "/jobs/{job}/events",
    summary="Watch a job",
    responses={200: {"content": {EVENTS: {}}}},
)
async def job_watched(job: str, studio: StudioDep) -> Response:
    """The job each time it changes, until it is done, has failed or is cancelled."""
    studio.jobs.get(job)

    async def told() -> AsyncIterator[bytes]:
        last: IndexingJob | None = None
        silent = 0.0
        while True:
            now = studio.jobs.get(job)
            if now != last:
                last, silent = now, 0.0
                yield event(to_data(now))
            if now.state.over:
                return
            if silent >= _HEARTBEAT_S:
                silent = 0.0
                yield b": still here\n\n"
            await asyncio.sleep(_POLL_S)
            silent += _POLL_S

    return StreamingResponse(told(), media_type=EVENTS)
