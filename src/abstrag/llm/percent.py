"""How sure a model is: asked for as a whole number of 0 to 100, kept as a share of 1.

Servers that enforce a schema keep an integer in its range, but many of them not a fraction: a small
model asked for one of 0 to 1 may say 10, or write digits without end. An integer is shorter, too.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator

from abstrag.model.record import Unit


def _share(said: Any) -> Any:
    """Divide a number of percent by 100; what is none is left for the type to refuse."""
    return said / 100 if isinstance(said, int | float) and not isinstance(said, bool) else said


Percent = Annotated[Unit, BeforeValidator(_share)]
