"""What indexing a document with a model will take, said before anything is spent."""

from __future__ import annotations

from abstrag.config import Settings
from abstrag.indexing.pipeline import LayerCache, OnStep, run_chain, standard_chain
from abstrag.indexing.prompted.plan import Plan, Planner
from abstrag.indexing.prompted.prompts import IndexPrompts
from abstrag.model.background import EMPTY, Background
from abstrag.model.document import Document


def estimate(
    document: Document,
    prompts: IndexPrompts,
    *,
    background: Background = EMPTY,
    settings: Settings | None = None,
    cache: LayerCache | None = None,
    on_step: OnStep = lambda _name: None,
) -> tuple[Plan, ...]:
    """Return the calls of every stage.

    Local mode, which costs nothing, runs to the end; each operator then cuts the batches that it
    would ask about. What is asked because of an earlier answer (pairs to align, values to prune)
    is planned for a model that answers usefully: one that has nothing to say costs less.
    """
    local = run_chain(standard_chain(background, settings), document, cache, on_step)
    chain = standard_chain(background, settings, prompts)
    return tuple(
        plan
        for op in chain.operators
        if isinstance(op, Planner)
        for plan in op.plan(local)
        if plan.calls
    )
