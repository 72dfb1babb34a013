"""The chain with a model behind it: each local operator wrapped by the one that extends it."""

from __future__ import annotations

from abstrag.config import Settings
from abstrag.indexing.concepts import AbstractConcepts
from abstrag.indexing.coref import ResolveCoreference
from abstrag.indexing.entities import NormalizeEntities
from abstrag.indexing.events import AbstractEvents
from abstrag.indexing.lift import LiftContext
from abstrag.indexing.operator import Chain, Operator
from abstrag.indexing.pipeline import LayerCache, OnStep, run_chain, standard_chain
from abstrag.indexing.prompted.concepts import PromptedConcepts
from abstrag.indexing.prompted.coreference import PromptedCoreference
from abstrag.indexing.prompted.entities import PromptedEntities
from abstrag.indexing.prompted.events import PromptedEvents
from abstrag.indexing.prompted.lift import PromptedLift
from abstrag.indexing.prompted.prompts import IndexPrompts, Plan, Planner
from abstrag.indexing.prompted.truth import world_model
from abstrag.model.background import EMPTY, Background
from abstrag.model.document import Document

# What indexing a document with a model will take, said before anything is spent.


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


def prompted(local: Chain, prompts: IndexPrompts, background: Background) -> Chain:
    """Wrap every operator of a local chain that a model can extend; the others stay."""
    return Chain(
        *(
            op if op.name in prompts.local else _extended(op, prompts, background)
            for op in local.operators
        )
    )


def _extended(op: Operator, prompts: IndexPrompts, background: Background) -> Operator:
    batching = prompts.batching
    match op:
        case ResolveCoreference():
            return PromptedCoreference(prompts["coreference"], op, batching)
        case NormalizeEntities():
            return PromptedEntities(
                prompts["normalize_entities"],
                prompts["confirm_merge"],
                prompts.encoder,
                op,
                batching,
            )
        case LiftContext():
            return PromptedLift(
                prompts["extract_statements"],
                prompts["lift_context"],
                prompts["truth_eval"],
                world_model(background),
                op,
                batching,
            )
        case AbstractConcepts():
            return PromptedConcepts(
                prompts["extract_concepts"],
                prompts["align_concepts"],
                prompts["role_probability"],
                prompts.encoder,
                op,
                batching,
            )
        case AbstractEvents():
            return PromptedEvents(prompts["extract_events"], prompts["align_events"], op, batching)
        case _:
            return op
