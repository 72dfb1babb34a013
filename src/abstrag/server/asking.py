"""What a client asks for, as the options of a search: the same for HTTP and for tools."""

from __future__ import annotations

from dataclasses import replace

from abstrag.search.relevance import judged_preset
from abstrag.workspace.options import SearchOptions, chosen_preset
from abstrag.workspace.workspace import Workspace


def asked_options(
    workspace: Workspace,
    *,
    preset: str | None = None,
    judge: bool | None = None,
    tau: float | None = None,
) -> SearchOptions:
    """Return how a client wants to search; what it does not say is as the workspace has it.

    Args:
        workspace: What is asked.
        preset: The name of a preset.
        judge: False is without the judge, True gives it a say in any preset, None is as the
            preset says.
        tau: The budget for bridges.
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
