"""What routes and tools share: documents opened as a client asks, under the options it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

from fastapi import Depends, Request
from starlette.responses import Response, StreamingResponse

from abstrag.model.answer import Answer
from abstrag.model.index import DocumentIndex
from abstrag.model.record import to_data
from abstrag.model.term import Edge
from abstrag.search.relevance import judged_preset
from abstrag.server.answers import EVENTS, answer, event
from abstrag.server.requests import BudgetedIn, EdgeIn, RankedIn, Weighing
from abstrag.server.studio import RequestQueue, Studio
from abstrag.workspace.document import SearchableDocument
from abstrag.workspace.options import Edits, SearchOptions, chosen_preset, hand_made
from abstrag.workspace.workspace import Workspace


def asked_options(
    workspace: Workspace,
    *,
    preset: str | None = None,
    judge: bool | None = None,
    tau: float | None = None,
) -> SearchOptions:
    """Return a client's search options, with the workspace's defaults.

    With `judge` False the judge has no say, with True it has one in any preset.
    """
    defaults = workspace.defaults
    chosen = defaults.preset
    if preset is not None or judge is False:
        chosen = chosen_preset(preset, judge=judge)
    elif judge:
        chosen = judged_preset(chosen)
    return replace(
        defaults,
        preset=chosen,
        judge=defaults.judge if judge is None else judge,
        tau=defaults.tau if tau is None else tau,
    )


def studio_of(request: Request) -> Studio:
    """Return the studio of the application a request came to."""
    studio: Studio = request.app.state.studio
    return studio


StudioDep = Annotated[Studio, Depends(studio_of)]


def options_of(studio: Studio, body: RankedIn) -> SearchOptions:
    """Return how a body wants to search, without the edges it tries out."""
    tau = body.tau if isinstance(body, BudgetedIn) else None
    return asked_options(studio.workspace, preset=body.preset, judge=body.judge, tau=tau)


def opened(
    studio: Studio, document: str, body: RankedIn, options: SearchOptions
) -> SearchableDocument:
    """Open a document of the store under options, with the edges that a body tries out."""
    workspace = studio.workspace
    if body.edges or body.removed:
        index = workspace.index(document)
        tried = tuple(edge_of(index, edge) for edge in body.edges)
        options = replace(options, edits=Edits(tried, tuple(sorted(set(body.removed)))))
    return workspace.stored(document, options)


async def asked(
    studio: Studio,
    document: str,
    body: RankedIn,
    question: Callable[[SearchableDocument], Any],
    *,
    queue: RequestQueue | None = None,
) -> Response:
    """Answer what a document says to a question, searched as a body wants.

    It waits in the queue given, or in that of what ranks.
    """
    options = options_of(studio, body)
    waiting = queue or studio.ranking(options)
    return answer(await waiting(lambda: to_data(question(opened(studio, document, body, options)))))


async def told(studio: Studio, question: Callable[[], Answer]) -> Response:
    """Answer in words, piece by piece.

    Nothing is told before it is verified, so an error still has a status of its own.
    """

    def work() -> list[dict[str, Any]]:
        from abstrag.answers.answer import events_of

        events = map(to_data, events_of(question()))
        return [{name: value for name, value in one.items() if value} for one in events]

    return StreamingResponse(map(event, await studio.judging(work)), media_type=EVENTS)


def timed(options: SearchOptions, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a ranking with how its factors were weighed, and what it took."""
    started = perf_counter()
    return {
        **work(),
        "weighing": to_data(Weighing.of(options.preset)),
        "ms": round(1000 * (perf_counter() - started), 1),
    }


def edge_of(index: DocumentIndex, edge: EdgeIn) -> Edge:
    """Return the edge that a client means."""
    return hand_made(index, **{name: getattr(edge, name) for name in EdgeIn.model_fields})


def without_folder(said: dict[str, Any]) -> dict[str, Any]:
    """Return the description of a document with only the name of its file, not the folder."""
    path = said["source_path"]
    return {**said, "source_path": None if path is None else Path(path).name}
