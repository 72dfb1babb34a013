"""The abstraction map of a document: read, and edited by hand."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from abstrag.server.answers import answer
from abstrag.server.requests import EdgeIn
from abstrag.server.routes.shared import StudioDep, edge_of
from abstrag.server.studio import Studio
from abstrag.server.views import edge_views, map_view, term_view
from abstrag.workspace.options import edge_id

router = APIRouter(prefix="/api/documents/{document}", tags=["map"])


@router.get("/map", summary="Show the map, or the part of it around a term")
async def mapped(
    document: str,
    studio: StudioDep,
    term: Annotated[str | None, Query(max_length=500)] = None,
    limit: Annotated[int, Query(ge=1, le=5000)] = 300,
) -> Response:
    """Terms and edges as edited; `edges_total` says how many there are beyond the limit."""
    wanted = term or None
    return answer(
        await studio.searching(
            lambda: map_view(studio.workspace.edited(document), term=wanted, limit=limit)
        )
    )


@router.get("/terms/{term:path}", summary="Show one term")
async def one_term(document: str, term: str, studio: StudioDep) -> Response:
    """How the document calls it, its edges with their licences, and where it is spoken of."""
    return answer(
        await studio.searching(lambda: term_view(studio.workspace.edited(document), term))
    )


@router.post("/edges", status_code=201, summary="Add an edge by hand")
async def added(document: str, body: EdgeIn, studio: StudioDep) -> Response:
    """Add an edge to the document's map; searches use it from now on."""

    def work() -> dict[str, Any]:
        index = studio.workspace.index(document)
        edge = edge_of(index, body)
        studio.workspace.edits.add(index.document.id, edge)
        return edge_views([edge])[0]

    return answer(await studio.searching(work), 201)


@router.delete("/edges/{edge}", status_code=204, summary="Hide an edge")
async def hidden(document: str, edge: str, studio: StudioDep) -> Response:
    """Leave an edge out of the document's map; one that was added by hand is gone."""

    def work() -> None:
        index = studio.workspace.index(document)
        studio.workspace.edits.hide(index.document.id, edge, map(edge_id, index.map.edges))

    await studio.searching(work)
    return Response(status_code=204)


@router.get("/edits", summary="List what was edited")
async def edits_listed(document: str, studio: StudioDep) -> Response:
    """The edges added and the edges hidden."""
    return answer(await studio.searching(lambda: _edits(studio, document)))


def _edits(studio: Studio, document: str) -> dict[str, Any]:
    index = studio.workspace.index(document)
    edits = studio.workspace.edits.read(index.document.id)
    gone = set(edits.removed)
    return {
        "edges": edge_views(edits.edges),
        "removed": edge_views(e for e in index.map.edges if edge_id(e) in gone),
    }


@router.delete("/edits", status_code=204, summary="Take every edit back")
async def edits_undone(document: str, studio: StudioDep) -> Response:
    """Give the document its own map again."""
    await studio.searching(
        lambda: studio.workspace.edits.forget(studio.workspace.store.find(document).id)
    )
    return Response(status_code=204)
