"""The state that patches leave an index in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from abstrag.model.index import DocumentIndex
from abstrag.model.patch import Patch

if TYPE_CHECKING:
    from abstrag.refine.state import State


def state_under(index: DocumentIndex, patches: Sequence[Patch]) -> State | None:
    """Return the state that patches leave an index in; None without any."""
    if not patches:
        return None
    from abstrag.refine.router import replayed
    from abstrag.refine.state import State

    return replayed(State(operators=index.fingerprint), patches)
