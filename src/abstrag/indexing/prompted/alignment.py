"""Alignment: how two expressions relate, by a model's word, priced by us.

Extraction proposes pairs, alignment decides them: equivalent (believed from 0.85 on), implies (from
0.5 on) or nothing. The model's confidence opens or shuts the door; the price is ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from abstrag.config import MERGE_CONFIRM
from abstrag.errors import ModelError
from abstrag.indexing.operator import ReplyFault
from abstrag.indexing.prompted.prompts import Plan, planned
from abstrag.indexing.prompted.reader import StageReader
from abstrag.llm.budget import room
from abstrag.llm.prompt import Prompt
from abstrag.llm.shape import Percent
from abstrag.model.record import record

_EACH: Final = 40  # tokens of a reply for a pair
PAIRS: Final = 40  # in one call, where the program sets no limit of its own
LIKELY: Final = 0.5

Pair = tuple[str, str]  # terms: the left one is told, the right one may be asked for


@record
class ModelAlignment:
    """How the left of a pair relates to the right."""

    pair: str
    relation: Literal["equivalent", "implies", "none"]
    confidence: Percent


@record
class Alignments:
    """The reply of the programs `align_concepts` and `align_events`."""

    alignments: tuple[ModelAlignment, ...]


class Aligned(NamedTuple):
    """A directed step that a model believes in; `mutual` when it holds both ways."""

    source: str
    target: str
    mutual: bool
    confidence: float
    call: str


def chunks(pairs: Iterable[Pair], prompt: Prompt) -> list[tuple[Pair, ...]]:
    """Cut pairs into calls; a pair is asked about once, in whichever direction came first."""
    kept: dict[Pair, None] = {}
    for pair in pairs:
        if pair[0] != pair[1] and pair[::-1] not in kept:
            kept[pair] = None
    ordered, most = list(kept), prompt.limit("alignments", PAIRS)
    return [tuple(ordered[i : i + most]) for i in range(0, len(ordered), most)]


def align_inputs(pairs: Sequence[Pair], labels: Mapping[str, str]) -> dict[str, Any]:
    """Put some pairs to an alignment program."""
    return {
        "pairs": [
            {"id": f"p{n}", "left": labels[a], "right": labels[b]}
            for n, (a, b) in enumerate(pairs, 1)
        ]
    }


def plan_alignment(
    prompt: Prompt, known: Sequence[Pair], labels: Mapping[str, str], expected: int
) -> Plan:
    """Plan the pairs that are known already and so many more that a model will propose."""
    guess = [("a word of the text", f"its broader class {n}") for n in range(expected)]
    named = {**labels, **{word: word for pair in guess for word in pair}}
    inputs = [align_inputs(chunk, named) for chunk in chunks([*guess, *known], prompt)]
    return planned(prompt, inputs, each=_EACH, exact=False)


def align(
    prompt: Prompt,
    reader: StageReader,
    pairs: Mapping[Pair, int],
    labels: Mapping[str, str],
) -> list[Aligned]:
    """Ask about pairs, each with the segment it comes from, and return the steps believed."""
    asked = chunks(pairs, prompt)
    inputs = [align_inputs(chunk, labels) for chunk in asked]
    replies = prompt.ask_many(Alignments, inputs, max_tokens=room(inputs, _EACH))
    steps: dict[Pair, Aligned] = {}
    for chunk, reply in zip(asked, replies, strict=True):
        if isinstance(reply, ModelError):
            reader.miss({pairs[pair] for pair in chunk}, reply)
            continue
        by_id = {f"p{n}": pair for n, pair in enumerate(chunk, 1)}
        for said in reply.value.alignments:
            pair = by_id.get(said.pair.strip())
            if pair is None:
                reader.drop(ReplyFault.UNKNOWN_ID)
                continue
            mutual = said.relation == "equivalent"
            least = MERGE_CONFIRM if mutual else LIKELY
            if said.relation == "none" or said.confidence < least:
                continue
            for source, target in (pair, pair[::-1]) if mutual else (pair,):
                step = Aligned(source, target, mutual, said.confidence, reply.call)
                steps.setdefault((source, target), step)
    return [steps[pair] for pair in sorted(steps)]
