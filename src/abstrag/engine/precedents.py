"""What a document shows where a question is asked of it: by gold, or where the critic is sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from abstrag.engine.searcher import Searcher
from abstrag.model.patch import Precedent
from abstrag.refine.evaluator import EVIDENCE, reach_of
from abstrag.refine.ledger import text_hash
from abstrag.refine.sufficiency import sufficiency
from abstrag.search.precedents import RIVALS, direction, opened, packed, together, wording

SURE: Final = 0.5  # the critic's doubt below which the first hit is taken for evidence


def precedent_of(searcher: Searcher, query: str, good: Sequence[str]) -> Precedent | None:
    """Return what evidence shows; without any, what withdraws whatever was shown before.

    None where the preset compares no vectors, or where all of the document is evidence.
    """
    alignment = searcher.scoring(query).alignment
    if alignment is None:
        return None
    names, segments = set(good), searcher.index.segments
    at = [p for p, segment in enumerate(segments) if names & {segment.id, segment.text}]
    rivals = _rivals(searcher, query, at) if at else []
    told = direction(np.asarray(alignment.words.gists, np.float32), at, rivals)
    if told is None and at:
        return None
    words: list[list[str]] = [[] for _ in segments]
    bases, owners, numbers = alignment.words.bases
    for owner, number in zip(owners.tolist(), numbers.tolist(), strict=True):
        words[owner].append(bases[number])
    return Precedent(
        query,
        text_hash(searcher.index),
        tuple(segments[p].id for p in at),
        alignment.words.model,
        packed(alignment.asked.gist),
        "" if told is None else packed(told),
        wording(words, at, rivals),
        round(together(at), 3),
        opened(at, alignment.words.openings),
    )


def _rivals(searcher: Searcher, query: str, evidence: Sequence[int]) -> list[int]:
    """Return what ranks best and is no evidence; without the judge and what was learned before."""
    scoring = searcher.scoring(query, preset=searcher.preset.unjudged)
    assert scoring.alignment is not None
    plain = replace(scoring.alignment, steps=(), precedents=())
    known = frozenset(evidence)
    order = replace(scoring, alignment=plain).order
    return [position for position in order if position not in known][:RIVALS]


def presumed(searcher: Searcher, query: str) -> Precedent | None:
    """Return what the first hits show where the critic is sure of the ranking; else None.

    The first is taken for evidence, and of the others what the judge takes for it.
    """
    ranking = searcher.search(query, k=reach_of(len(searcher.index.segments)))
    expected = sufficiency(ranking, searcher.index.genre.value)
    if expected is None or expected.missed >= SURE:
        return None
    first, *others = ranking.hits
    taken = [hit.segment for hit in others if (hit.judgement or 0.0) >= EVIDENCE]
    return precedent_of(searcher, query, [first.segment, *taken])
