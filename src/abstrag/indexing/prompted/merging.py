"""Merging: pairs of expressions that look alike, and a model's word on whether they are one.

An embedding proposes (cosine 0.75), a model confirms (0.85). Nothing is merged on looks alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np

from abstrag.config import MERGE_CANDIDATE, MERGE_CONFIRM
from abstrag.indexing.operator import ReplyFault
from abstrag.indexing.prompted.reader import StageReader
from abstrag.llm.budget import room
from abstrag.llm.prompt import Prompt
from abstrag.llm.shape import Percent
from abstrag.model.record import record
from abstrag.neural.encoder import TextEncoder

EACH: Final = 40  # tokens of a reply for a pair
_PAIRS: Final = 40  # in one call, where the program sets no limit of its own

Pair = tuple[str, str]


@record
class PairVerdict:
    """Whether two names are one."""

    pair: str
    verdict: Literal["same", "different", "unsure"]
    confidence: Percent


@record
class PairVerdicts:
    """The reply of the program `confirm_merge`."""

    verdicts: tuple[PairVerdict, ...]


class Confirmed(NamedTuple):
    """What was said about a pair: whether it is believed to be one thing, how surely, by whom."""

    same: bool
    confidence: float
    call: str


def alike(labels: Mapping[str, str], encoder: TextEncoder, most: int) -> list[Pair]:
    """Return the pairs of terms whose labels are close in meaning, the closest first."""
    terms = sorted(labels)
    if len(terms) < 2:
        return []
    vectors = encoder.embed([labels[term] for term in terms])
    close = np.triu(np.round(vectors @ vectors.T, 4), k=1)
    rows, columns = np.nonzero(close >= MERGE_CANDIDATE)
    ranked = sorted(
        zip((-close[rows, columns]).tolist(), rows.tolist(), columns.tolist(), strict=True)
    )
    return [(terms[a], terms[b]) for _, a, b in ranked[:most]]


def pair_inputs(
    pairs: Sequence[Pair], labels: Mapping[str, str], contexts: Mapping[str, str], most: int
) -> list[dict[str, Any]]:
    """Put pairs to `confirm_merge`, so many in a call."""
    entries = [
        {
            "id": f"p{n}",
            "left": labels[a],
            "left_context": contexts.get(a, ""),
            "right": labels[b],
            "right_context": contexts.get(b, ""),
        }
        for n, (a, b) in enumerate(pairs, 1)
    ]
    return [{"pairs": entries[i : i + most]} for i in range(0, len(entries), most)]


def confirm(
    prompt: Prompt,
    reader: StageReader,
    pairs: Sequence[Pair],
    labels: Mapping[str, str],
    contexts: Mapping[str, str],
    first_at: Mapping[str, int],
) -> dict[Pair, Confirmed]:
    """Ask about pairs; one that no reply mentions is not in the result."""
    most = prompt.limit("verdicts", _PAIRS)
    inputs = pair_inputs(pairs, labels, contexts, most)
    replies = prompt.ask_many(PairVerdicts, inputs, max_tokens=room(inputs, EACH))
    said: dict[Pair, Confirmed] = {}
    for start, reply in zip(range(0, len(pairs), most), replies, strict=True):
        asked = {f"p{n}": pair for n, pair in enumerate(pairs[start : start + most], start + 1)}
        if isinstance(reply, Exception):
            reader.miss({first_at[one] for pair in asked.values() for one in pair}, reply)
            continue
        for verdict in reply.value.verdicts:
            pair = asked.get(verdict.pair.strip())
            if pair is None:
                reader.drop(ReplyFault.UNKNOWN_ID)
                continue
            same = verdict.verdict == "same" and verdict.confidence >= MERGE_CONFIRM
            said.setdefault(pair, Confirmed(same, verdict.confidence, reply.call))
    return said
