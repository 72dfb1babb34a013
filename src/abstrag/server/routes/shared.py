"""What every route needs: the studio behind the application."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from abstrag.server.studio import Studio


def studio_of(request: Request) -> Studio:
    """Return the studio of the application a request came to."""
    studio: Studio = request.app.state.studio
    return studio


StudioDep = Annotated[Studio, Depends(studio_of)]
