"""The application: routes over a studio, behind the guard."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from abstrag.server import answers
from abstrag.server.access import BodyLimits, Guard
from abstrag.server.answers import NotThere
from abstrag.server.metrics import CONTENT_TYPE, Metrics, RequestMetrics
from abstrag.server.routes import collection, documents, mapping, model, searching
from abstrag.server.routes.shared import StudioDep
from abstrag.server.settings import ServerSettings
from abstrag.server.studio import Studio
from abstrag.telemetry import watch
from abstrag.workspace.workspace import Workspace


def create_app(settings: ServerSettings, workspace: Workspace) -> ASGIApp:
    """Make the application over a workspace; its studio starts and ends with the server."""
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        studio = Studio(settings, workspace, metrics)
        studio.start()
        app.state.studio = studio
        unwatch = watch(lambda work, seconds, failed: metrics.work(work, seconds, failed=failed))
        try:
            yield
        finally:
            unwatch()
            studio.close()

    app = FastAPI(
        title="abstrag",
        version=version("abstrag"),
        description="Find the evidence in a document, quote it exactly, and show why it counts.",
        lifespan=lifespan,
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
    )
    answers.install(app)
    for routes in (documents, searching, collection, mapping, model):
        app.include_router(routes.router)
    _add_health(app, settings, workspace)
    _add_metrics(app, metrics)
    _add_page(app, Path(str(files("abstrag.server"))) / "page")
    guarded = Guard(BodyLimits(app, settings, upload=documents.UPLOAD), settings)
    return RequestMetrics(guarded, metrics)


def _add_health(app: FastAPI, settings: ServerSettings, workspace: Workspace) -> None:
    @app.get("/api/health", summary="Say what is running", tags=["server"])
    async def health(studio: StudioDep) -> Response:
        """The version, how many documents there are, and whether a judge or a model is at hand.

        `preparing` tells how many documents are ready to be searched together, of how many that
        were not, while that is being done; `ready` that the first question waits for nothing.
        """
        documents_there = await studio.searching(lambda: len(studio.workspace.documents()))
        return answers.answer(
            {
                "version": app.version,
                "documents": documents_there,
                "max_upload_bytes": settings.max_upload_bytes,
                "judge": studio.has_judge,
                "model": studio.writer,
                "collection": workspace.models is None,
                "preparing": studio.preloader.made,
                "ready": studio.preloader.ready,
            }
        )


def _add_metrics(app: FastAPI, metrics: Metrics) -> None:
    @app.get("/metrics", summary="Tell what was done so far, for Prometheus", tags=["server"])
    async def told(studio: StudioDep) -> Response:
        """Counters and timings as text; a token is needed where the server has one."""
        now = await studio.searching(studio.now)
        return Response(metrics.text(now), media_type=CONTENT_TYPE)


def _add_page(app: FastAPI, folder: Path) -> None:
    """Serve the page and its files; nothing else of the disk can be reached."""

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        try:
            body = (folder / "index.html").read_bytes()
        except FileNotFoundError:
            raise NotThere(
                "this installation has no page", hint="use /api, see /openapi.json"
            ) from None
        return Response(body, media_type="text/html", headers={"Cache-Control": "no-cache"})

    if folder.is_dir():
        app.mount("/static", StaticFiles(directory=folder), name="static")
